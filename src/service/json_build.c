#include "service/json_build.h"

#include "base/check.h"

json_t *json_build_object(void)
{
    json_t *object = json_object();
    CHECK(object != NULL);
    return object;
}

json_t *json_build_array(void)
{
    json_t *array = json_array();
    CHECK(array != NULL);
    return array;
}

void json_build_append(json_t *array, json_t *taken)
{
    CHECK(taken != NULL);
    CHECK(json_array_append_new(array, taken) == 0);
}
