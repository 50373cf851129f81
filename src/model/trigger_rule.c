/*
 * trigger_rule: the table of rules in SEMANTICS, over counts.
 *
 * A removed parent is done and nothing else: it neither contradicts "all" nor
 * satisfies "one". So every "all X" below means all that were not removed, and a rule
 * that asks for at least one X is skipped when only removed parents are left.
 */
#include "model/trigger_rule.h"

#include <string.h>

#include "base/check.h"

static const char *const NAMES[] = {
#define X(name, text) [RULE_##name] = text,
    TRIGGER_RULE_MAP(X)
#undef X
};
_Static_assert(ARRAY_LEN(NAMES) == RULE_COUNT, "every rule has a name");

const char *trigger_rule_name(enum trigger_rule rule)
{
    CHECK(rule < RULE_COUNT);
    return NAMES[rule];
}

bool trigger_rule_parse(const char *name, enum trigger_rule *out)
{
    if (strcmp(name, "dummy") == 0) {
        *out = RULE_ALWAYS;
        return true;
    }
    for (enum trigger_rule rule = 0; rule < RULE_COUNT; rule++) {
        if (strcmp(NAMES[rule], name) == 0) {
            *out = rule;
            return true;
        }
    }
    return false;
}

/* What the rule says as soon as it can be said; RULE_WAIT when it needs every parent. */
static enum rule_decision decide_early(enum trigger_rule rule, const struct parent_counts *parents)
{
    int64_t failures = parents->failed + parents->upstream_failed;
    bool decided = false;
    enum rule_decision decision = RULE_WAIT;
    switch (rule) {
    case RULE_ALL_SUCCESS:
    case RULE_NONE_FAILED:
        decided = failures > 0;
        decision = RULE_UPSTREAM_FAILED;
        break;
    case RULE_ALL_FAILED:
        decided = parents->success > 0 || parents->skipped > 0;
        decision = RULE_SKIP;
        break;
    case RULE_ALL_SKIPPED:
        decided = parents->success > 0 || failures > 0;
        decision = RULE_SKIP;
        break;
    case RULE_NONE_SKIPPED:
        decided = parents->skipped > 0;
        decision = RULE_SKIP;
        break;
    case RULE_ONE_SUCCESS:
        decided = parents->success > 0;
        decision = RULE_RUN;
        break;
    case RULE_ONE_FAILED:
        decided = failures > 0;
        decision = RULE_RUN;
        break;
    case RULE_ONE_DONE:
        decided = parents->success > 0 || parents->failed > 0;
        decision = RULE_RUN;
        break;
    case RULE_ALWAYS:
        decided = true;
        decision = RULE_RUN;
        break;
    case RULE_ALL_DONE:
    case RULE_NONE_FAILED_MIN_ONE_SUCCESS:
    case RULE_ALL_DONE_MIN_ONE_SUCCESS:
    case RULE_ALL_DONE_SETUP_SUCCESS:
    case RULE_COUNT:
        break;
    }
    return decided ? decision : RULE_WAIT;
}

static enum rule_decision decide_setups(const struct parent_counts *parents)
{
    if (parents->setups_success == parents->setups)
        return RULE_RUN;
    return parents->setups_skipped > 0 ? RULE_SKIP : RULE_UPSTREAM_FAILED;
}

/* Every parent is final, and nothing was decided early. */
static enum rule_decision decide_at_end(enum trigger_rule rule, const struct parent_counts *parents)
{
    int64_t failures = parents->failed + parents->upstream_failed;
    enum rule_decision without_success = failures > 0 ? RULE_UPSTREAM_FAILED : RULE_SKIP;
    switch (rule) {
    case RULE_ALL_SUCCESS:
        return parents->skipped > 0 ? RULE_SKIP : RULE_RUN;
    case RULE_ALL_FAILED:
        return failures > 0 ? RULE_RUN : RULE_SKIP;
    case RULE_ALL_SKIPPED:
        return parents->skipped > 0 ? RULE_RUN : RULE_SKIP;
    case RULE_ONE_SUCCESS:
        return without_success;
    case RULE_ONE_FAILED:
    case RULE_ONE_DONE:
        return RULE_SKIP;
    case RULE_NONE_FAILED_MIN_ONE_SUCCESS:
        return failures == 0 && parents->success > 0 ? RULE_RUN : without_success;
    case RULE_ALL_DONE_MIN_ONE_SUCCESS:
        return parents->success > 0 ? RULE_RUN : without_success;
    case RULE_ALL_DONE_SETUP_SUCCESS:
        return decide_setups(parents);
    case RULE_ALL_DONE:
    case RULE_NONE_FAILED:
    case RULE_NONE_SKIPPED:
    case RULE_ALWAYS:
    case RULE_COUNT:
        break;
    }
    return RULE_RUN;
}

enum rule_decision trigger_rule_decide(enum trigger_rule rule, const struct parent_counts *parents)
{
    CHECK(rule < RULE_COUNT);
    int64_t done = parents->success + parents->failed + parents->upstream_failed +
                   parents->skipped + parents->removed;
    CHECK(done <= parents->total);
    if (parents->total == 0)
        return RULE_RUN;
    enum rule_decision early = decide_early(rule, parents);
    if (early != RULE_WAIT)
        return early;
    return done == parents->total ? decide_at_end(rule, parents) : RULE_WAIT;
}

void parent_counts_add(struct parent_counts *counts, enum task_state state, bool is_setup,
                       int64_t times)
{
    CHECK(task_state_is_final(state));
    counts->success += state == TASK_SUCCESS ? times : 0;
    counts->failed += state == TASK_FAILED || state == TASK_CANCELLED ? times : 0;
    counts->upstream_failed += state == TASK_UPSTREAM_FAILED ? times : 0;
    counts->skipped += state == TASK_SKIPPED ? times : 0;
    counts->removed += state == TASK_REMOVED ? times : 0;
    counts->setups_success += is_setup && state == TASK_SUCCESS ? times : 0;
    counts->setups_skipped += is_setup && state == TASK_SKIPPED ? times : 0;
}
