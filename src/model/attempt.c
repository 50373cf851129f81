#include "model/attempt.h"

#include <string.h>

#include "base/check.h"
#include "model/dag.h"
#include "model/sensor.h"

static const char *const NAMES[] = {
#define X(name, text) [REASON_##name] = text,
    REASON_MAP(X)
#undef X
};
_Static_assert(ARRAY_LEN(NAMES) == REASON_COUNT, "every reason has a name");

const char *reason_name(enum reason reason)
{
    CHECK(reason < REASON_COUNT);
    return NAMES[reason];
}

bool reason_parse(const char *name, enum reason *out)
{
    for (enum reason reason = 0; reason < REASON_COUNT; reason++) {
        if (strcmp(NAMES[reason], name) == 0) {
            *out = reason;
            return true;
        }
    }
    return false;
}

static bool has_code(const struct exit_codes *codes, int code)
{
    for (size_t i = 0; i < codes->count; i++)
        if (codes->items[i] == code)
            return true;
    return false;
}

/* Whether the policy wants another try after this failure, given that budget is left. */
static bool is_worth_retrying(const struct task_def *task, const struct attempt_end *end)
{
    bool would_fail_again = end->reason == REASON_TEMPLATE_ERROR || end->reason == REASON_LIMIT ||
                            end->reason == REASON_INTERNAL || end->for_good;
    if (would_fail_again)
        return false;
    if (end->reason == REASON_RESULT && end->result == TASK_UP_FOR_RETRY)
        return true; /* the task itself asks for it */
    const struct retry_causes *wanted = &task->retry_on;
    if (wanted->codes.count == 0 && wanted->reasons == 0)
        return true;
    if (wanted->reasons & 1u << end->reason)
        return true;
    return end->reason == REASON_EXIT && (has_code(&wanted->codes, end->exit_code) ||
                                          has_code(&task->exit_retry, end->exit_code));
}

static struct attempt_verdict after_failure(const struct task_def *task, int64_t failures,
                                            const struct attempt_end *end, double chance)
{
    if (failures >= task->retry.retries || !is_worth_retrying(task, end))
        return (struct attempt_verdict){.state = TASK_FAILED};
    return (struct attempt_verdict){
        .state = TASK_UP_FOR_RETRY,
        .delay_ms = retry_delay_ms(&task->retry, failures + 1, chance),
    };
}

/* States that an end asks for without being a failure; TASK_FAILED when it is one. */
static enum task_state state_asked_for(const struct task_def *task, const struct attempt_end *end)
{
    if (end->reason == REASON_CANCELLED)
        return TASK_CANCELLED;
    if (end->reason == REASON_EXIT && end->exit_code == 0)
        return TASK_SUCCESS;
    if (end->reason == REASON_EXIT && has_code(&task->exit_skip, end->exit_code))
        return TASK_SKIPPED;
    bool states_its_result = end->reason == REASON_RESULT || end->reason == REASON_CONDITION ||
                             end->reason == REASON_EMPTY;
    return states_its_result && task_state_is_final(end->result) ? end->result : TASK_FAILED;
}

/* Trying again would only wait once more. */
static struct attempt_verdict after_waiting(const struct task_def *task)
{
    struct sensor sensor;
    sensor_load(task->settings, &sensor);
    return (struct attempt_verdict){.state = sensor.soft_fail ? TASK_SKIPPED : TASK_FAILED};
}

struct attempt_verdict attempt_decide(const struct task_def *task, int64_t failures,
                                      const struct attempt_end *end, double chance)
{
    if (sensor_is_timeout(task, end))
        return after_waiting(task);
    enum task_state state = state_asked_for(task, end);
    if (state == TASK_FAILED)
        return after_failure(task, failures, end, chance);
    return (struct attempt_verdict){.state = state};
}
