#include "expect.h"
#include "model/attempt.h"
#include "model/dag.h"
#include "model/dag_fields.h"
#include "model/run_state.h"

enum { MINUTE_MS = 60000 };

Test(retry, the_default_doubles_from_two_minutes_to_an_hour)
{
    static const int64_t MINUTES[] = {2, 4, 8, 16, 32, 60, 60, 60};
    for (size_t i = 0; i < ARRAY_LEN(MINUTES); i++) {
        int64_t k = (int64_t)i + 1;
        int64_t least = retry_delay_ms(&RETRY_POLICY_DEFAULT, k, 0.0);
        int64_t most = retry_delay_ms(&RETRY_POLICY_DEFAULT, k, 0.999999);
        cr_assert_eq(least, MINUTES[i] * MINUTE_MS, "retry %zu", i + 1);
        cr_assert_gt(most, least);
        cr_assert_leq(most, least + least / 10);
    }
    const struct retry_policy *unsaid = &task_def_default()->retry;
    cr_assert_eq(unsaid->delay_ms, RETRY_POLICY_DEFAULT.delay_ms);
    cr_assert_eq(unsaid->max_delay_ms, RETRY_POLICY_DEFAULT.max_delay_ms);
    cr_assert_eq(unsaid->retries, RETRY_POLICY_DEFAULT.retries);
    cr_assert(unsaid->backoff == RETRY_POLICY_DEFAULT.backoff);
    cr_assert(unsaid->jitter == RETRY_POLICY_DEFAULT.jitter);
}

Test(retry, delays_stay_sane_at_the_ends)
{
    static const struct {
        struct retry_policy policy;
        int64_t k;
        int64_t least, most;
    } CASES[] = {
        {{.delay_ms = 0, .backoff = 2, .max_delay_ms = 5}, 1000, 0, 0},
        {{.delay_ms = 10, .backoff = 1, .max_delay_ms = 0}, 1000, 10, 10},
        {{.delay_ms = 10, .backoff = 2, .max_delay_ms = 35}, 2, 20, 20},
        {{.delay_ms = 10, .backoff = 2, .max_delay_ms = 35}, 3, 35, 35},
        {{.delay_ms = 10, .backoff = 2, .max_delay_ms = 35, .jitter = 1}, 3, 35, 70},
        {{.delay_ms = INT64_MAX, .backoff = 100, .max_delay_ms = INT64_MAX, .jitter = 1},
         1000,
         1,
         1000000000000000},
        {{.delay_ms = 1, .backoff = 100, .max_delay_ms = 0, .jitter = 1},
         1000,
         1,
         1000000000000000},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        for (double chance = 0; chance < 1; chance += 0.499) {
            int64_t delay = retry_delay_ms(&CASES[i].policy, CASES[i].k, chance);
            cr_assert(delay >= CASES[i].least && delay <= CASES[i].most, "case %zu: %lld", i,
                      (long long)delay);
        }
    }
}

/* A policy: what `retry_on` lists, how many retries, how many failures before. */
struct policy {
    int codes[2];
    size_t codes_count;
    unsigned reasons;
    int64_t retries, failures;
};

static struct attempt_verdict decide(const struct policy *policy, struct attempt_end end)
{
    struct task_def task = *task_def_default();
    int codes[2] = {policy->codes[0], policy->codes[1]};
    task.retry.retries = policy->retries;
    task.retry_on.codes = (struct exit_codes){codes, policy->codes_count};
    task.retry_on.reasons = policy->reasons;
    return attempt_decide(&task, policy->failures, &end, 0.0);
}

#define ENDS(why, ...) ((struct attempt_end){.reason = REASON_##why, ##__VA_ARGS__})

Test(attempt, an_end_and_a_policy_make_a_verdict)
{
    static const struct policy NO_RETRIES = {.retries = 0};
    static const struct policy LEFT = {.retries = 2, .failures = 1};
    static const struct policy SPENT = {.retries = 2, .failures = 2};
    static const struct policy CODES = {.codes = {7, 8}, .codes_count = 2, .retries = 1};
    static const struct policy CODES_SPENT = {
        .codes = {7, 8}, .codes_count = 2, .retries = 1, .failures = 1};
    static const struct policy TIMEOUTS = {.reasons = 1u << REASON_TIMEOUT, .retries = 1};
    static const struct policy EXITS = {.reasons = 1u << REASON_EXIT, .retries = 1};
    static const struct policy MIXED = {
        .codes = {7}, .codes_count = 1, .reasons = 1u << REASON_SIGNAL, .retries = 1};
    const struct {
        const struct policy *policy;
        struct attempt_end end;
        enum task_state state;
    } CASES[] = {
        {&LEFT, ENDS(EXIT), TASK_SUCCESS},
        {&LEFT, ENDS(EXIT, .exit_code = 99), TASK_SKIPPED},
        {&LEFT, ENDS(SIGNAL, .exit_code = 99), TASK_UP_FOR_RETRY},
        {&LEFT, ENDS(EXIT, .exit_code = 1), TASK_UP_FOR_RETRY},
        {&SPENT, ENDS(EXIT, .exit_code = 1), TASK_FAILED},
        {&NO_RETRIES, ENDS(EXIT, .exit_code = 75), TASK_FAILED},
        {&LEFT, ENDS(SIGNAL, .exit_code = 9), TASK_UP_FOR_RETRY},
        {&LEFT, ENDS(TIMEOUT), TASK_UP_FOR_RETRY},
        {&LEFT, ENDS(EXEC_ERROR), TASK_UP_FOR_RETRY},
        {&LEFT, ENDS(CANCELLED), TASK_CANCELLED},
        {&LEFT, ENDS(TEMPLATE_ERROR), TASK_FAILED},
        {&LEFT, ENDS(LIMIT), TASK_FAILED},
        {&LEFT, ENDS(INTERNAL), TASK_FAILED},
        {&LEFT, ENDS(RESULT, .result = TASK_SUCCESS), TASK_SUCCESS},
        {&LEFT, ENDS(RESULT, .result = TASK_SKIPPED), TASK_SKIPPED},
        {&LEFT, ENDS(RESULT, .result = TASK_FAILED), TASK_UP_FOR_RETRY},
        {&SPENT, ENDS(RESULT, .result = TASK_FAILED), TASK_FAILED},
        {&LEFT, ENDS(RESULT, .result = TASK_RUNNING), TASK_UP_FOR_RETRY},
        {&LEFT, ENDS(RESULT, .result = TASK_UP_FOR_RETRY), TASK_UP_FOR_RETRY},
        {&SPENT, ENDS(RESULT, .result = TASK_UP_FOR_RETRY), TASK_FAILED},
        {&NO_RETRIES, ENDS(RESULT, .result = TASK_UP_FOR_RETRY), TASK_FAILED},
        {&LEFT, ENDS(CONDITION, .result = TASK_SKIPPED), TASK_SKIPPED},
        {&LEFT, ENDS(EMPTY, .result = TASK_SKIPPED), TASK_SKIPPED},
        {&CODES, ENDS(EXIT, .exit_code = 7), TASK_UP_FOR_RETRY},
        {&CODES, ENDS(EXIT, .exit_code = 8), TASK_UP_FOR_RETRY},
        {&CODES, ENDS(EXIT, .exit_code = 75), TASK_UP_FOR_RETRY},
        {&CODES, ENDS(EXIT, .exit_code = 9), TASK_FAILED},
        {&CODES, ENDS(SIGNAL, .exit_code = 7), TASK_FAILED},
        {&CODES, ENDS(TIMEOUT), TASK_FAILED},
        {&CODES, ENDS(RESULT, .result = TASK_UP_FOR_RETRY), TASK_UP_FOR_RETRY},
        {&CODES, ENDS(RESULT, .result = TASK_FAILED), TASK_FAILED},
        {&CODES_SPENT, ENDS(RESULT, .result = TASK_UP_FOR_RETRY), TASK_FAILED},
        {&TIMEOUTS, ENDS(RESULT, .result = TASK_UP_FOR_RETRY), TASK_UP_FOR_RETRY},
        {&TIMEOUTS, ENDS(TIMEOUT), TASK_UP_FOR_RETRY},
        {&TIMEOUTS, ENDS(EXIT, .exit_code = 1), TASK_FAILED},
        {&TIMEOUTS, ENDS(EXIT, .exit_code = 75), TASK_UP_FOR_RETRY},
        {&TIMEOUTS, ENDS(SIGNAL, .exit_code = 9), TASK_FAILED},
        {&EXITS, ENDS(EXIT, .exit_code = 200), TASK_UP_FOR_RETRY},
        {&EXITS, ENDS(EXEC_ERROR), TASK_FAILED},
        {&MIXED, ENDS(EXIT, .exit_code = 7), TASK_UP_FOR_RETRY},
        {&MIXED, ENDS(SIGNAL, .exit_code = 15), TASK_UP_FOR_RETRY},
        {&MIXED, ENDS(EXIT, .exit_code = 8), TASK_FAILED},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct attempt_verdict verdict = decide(CASES[i].policy, CASES[i].end);
        cr_assert_eq(verdict.state, CASES[i].state, "case %zu: %s", i,
                     task_state_name(verdict.state));
        cr_assert_eq(verdict.delay_ms > 0, verdict.state == TASK_UP_FOR_RETRY, "case %zu", i);
    }
    cr_assert_eq(decide(&LEFT, ENDS(TIMEOUT)).delay_ms, (int64_t)4 * MINUTE_MS);
}

Test(attempt, every_reason_has_its_name)
{
    enum reason found = REASON_COUNT;
    for (enum reason reason = 0; reason < REASON_COUNT; reason++) {
        cr_assert(reason_parse(reason_name(reason), &found));
        cr_assert_eq(found, reason);
    }
    cr_assert(!reason_parse("Exit", &found));
    cr_assert(!reason_parse("nothing", &found));
}

Test(run_state, a_verdict_follows_from_failures_and_cancels)
{
    cr_assert_eq(run_verdict(false, 0), RUN_SUCCESS);
    cr_assert_eq(run_verdict(false, 1), RUN_FAILED);
    cr_assert_eq(run_verdict(true, 0), RUN_CANCELLED);
    cr_assert_eq(run_verdict(true, 5), RUN_CANCELLED);
    enum run_state found = RUN_STATE_COUNT;
    for (enum run_state state = 0; state < RUN_STATE_COUNT; state++) {
        cr_assert(run_state_parse(run_state_name(state), &found));
        cr_assert_eq(found, state);
        cr_assert_eq(run_state_is_final(state), state != RUN_QUEUED && state != RUN_RUNNING);
    }
    cr_assert(!run_state_parse("done", &found));
}
