#include "cli/engine.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"

static const char *const VERDICTS[] = {
    [ENGINE_SUCCESS] = "success",
    [ENGINE_FAILED] = "failed",
    [ENGINE_CANCELLED] = "cancelled",
};

const char *engine_verdict_name(enum engine_verdict verdict)
{
    CHECK(verdict < ARRAY_LEN(VERDICTS));
    return VERDICTS[verdict];
}

static char *copy(const char *text)
{
    return text == NULL ? NULL : mem_strdup(text);
}

void engine_result_add_failure(struct engine_result *result, const struct engine_failure *failure)
{
    result->failures_total++;
    if (result->failures_count >= ENGINE_FAILURES_MAX)
        return;
    result->failures = mem_grow(result->failures, &result->failures_capacity,
                                result->failures_count, sizeof *result->failures);
    struct engine_failure *mine = &result->failures[result->failures_count++];
    *mine = *failure;
    mine->task_id = mem_strdup(failure->task_id);
    mine->label = copy(failure->label);
    mine->reason = copy(failure->reason);
    mine->message = copy(failure->message);
}

/* The result owns the texts that it shows as constant. */
static void release(const char *text)
{
    free((void *)(uintptr_t)text);
}

void engine_result_fini(struct engine_result *result)
{
    for (size_t i = 0; i < result->failures_count; i++) {
        release(result->failures[i].task_id);
        release(result->failures[i].label);
        release(result->failures[i].reason);
        release(result->failures[i].message);
    }
    free(result->failures);
    free(result->dag_id);
    free(result->run_id);
    *result = (struct engine_result){0};
}

static json_t *describe_failure(const struct engine_failure *failure)
{
    json_t *object = json_object();
    CHECK(object != NULL);
    json_put_string(object, "task_id", failure->task_id);
    json_put_int(object, "map_index", failure->map_index);
    if (failure->label != NULL)
        json_put_string(object, "label", failure->label);
    json_put_string(object, "state", task_state_name(failure->state));
    json_put_int(object, "try_number", failure->attempt);
    json_put_string(object, "reason", failure->reason);
    json_put_string(object, "message", failure->message);
    if (failure->exit_code >= 0)
        json_put_int(object, "exit_code", failure->exit_code);
    if (failure->signal > 0)
        json_put_int(object, "signal", failure->signal);
    return object;
}

json_t *engine_result_describe(const struct engine_result *result)
{
    json_t *object = json_object();
    json_t *counts = json_object();
    json_t *failures = json_array();
    CHECK(object != NULL && counts != NULL && failures != NULL);
    for (enum task_state state = 0; state < TASK_STATE_COUNT; state++)
        if (result->counts[state] > 0)
            json_put_int(counts, task_state_name(state), result->counts[state]);
    for (size_t i = 0; i < result->failures_count; i++)
        CHECK(json_array_append_new(failures, describe_failure(&result->failures[i])) == 0);
    json_put_string(object, "dag_id", result->dag_id);
    json_put_string(object, "dag_run_id", result->run_id);
    json_put_id(object, "number", result->number);
    json_put_string(object, "state", engine_verdict_name(result->verdict));
    json_put(object, "duration", json_real((double)result->duration_ms / 1000));
    json_put(object, "counts", counts);
    json_put_int(object, "failures_total", (int64_t)result->failures_total);
    json_put(object, "failures", failures);
    return object;
}
