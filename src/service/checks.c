#include "service/checks.h"

#include "service/json_build.h"

/* States of tasks, because they have colours. */
static const char *const RESULTS[] = {
    [CHECK_PASSED] = "success",
    [CHECK_FAILED] = "failed",
    [CHECK_LEFT_OUT] = "skipped",
    [CHECK_ADVISED] = "success",
};

struct checks checks_new(void)
{
    return (struct checks){.list = json_build_array(), .ok = true};
}

void checks_add(struct checks *checks, const char *name, enum check_result result,
                const char *detail, const char *advice)
{
    json_t *check = json_build_object();
    json_put_string(check, "name", name);
    json_put_string(check, "state", RESULTS[result]);
    json_put_bool(check, "ok", result != CHECK_FAILED);
    json_put_string(check, "detail", detail);
    json_put_string(check, "advice", advice);
    json_build_append(checks->list, check);
    checks->ok = checks->ok && result != CHECK_FAILED;
}

json_t *checks_take(struct checks *checks)
{
    json_t *object = json_build_object();
    json_put_bool(object, "ok", checks->ok);
    json_put(object, "checks", checks->list);
    checks->list = NULL;
    return object;
}
