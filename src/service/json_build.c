#include "service/json_build.h"

#include <string.h>

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

void json_build_put_parsed(json_t *object, const char *key, const char *text)
{
    struct err ignored = {0};
    json_t *value = NULL;
    if (text == NULL || json_parse(text, strlen(text), &value, &ignored) != STATUS_OK)
        json_put_string(object, key, text);
    else
        json_put(object, key, value);
}

json_t *json_build_words(const char *words)
{
    json_t *list = json_build_array();
    while (words != NULL && words[0] != '\0') {
        size_t length = strcspn(words, " ");
        if (length > 0)
            json_build_append(list, json_text(words, length));
        words += length + (words[length] == ' ');
    }
    return list;
}

json_t *json_build_list(const char *name, json_t *taken)
{
    json_t *object = json_build_object();
    json_put_int(object, "total_entries", (int64_t)json_array_size(taken));
    json_put(object, name, taken);
    return object;
}
