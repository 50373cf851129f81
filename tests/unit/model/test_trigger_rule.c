/*
 * Every rule against every combination of up to four parents. The oracle looks at
 * parents one by one and says what the manual's table says, in its words.
 */
#include <stdio.h>

#include "expect.h"
#include "model/trigger_rule.h"

enum { PARENTS_MAX = 4, OUTCOMES = 7 };

static const enum task_state STATES[OUTCOMES] = {
    TASK_RUNNING, /* stands for every state that is not final */
    TASK_SUCCESS, TASK_FAILED, TASK_UPSTREAM_FAILED, TASK_SKIPPED, TASK_REMOVED, TASK_CANCELLED,
};

struct parents {
    enum task_state state[PARENTS_MAX];
    bool is_setup[PARENTS_MAX];
    size_t count;
};

/* The words of the table. */
static bool is_final(enum task_state s)
{
    return s != TASK_RUNNING;
}
static bool succeeded(enum task_state s)
{
    return s == TASK_SUCCESS;
}
static bool just_failed(enum task_state s)
{
    return s == TASK_FAILED || s == TASK_CANCELLED;
}
static bool failed_or_upstream(enum task_state s)
{
    return just_failed(s) || s == TASK_UPSTREAM_FAILED;
}
static bool skipped(enum task_state s)
{
    return s == TASK_SKIPPED;
}
static bool succeeded_or_failed(enum task_state s)
{
    return succeeded(s) || just_failed(s);
}
/* A finished parent that says the opposite; removed says nothing. */
static bool not_failed(enum task_state s)
{
    return succeeded(s) || skipped(s);
}
static bool not_skipped(enum task_state s)
{
    return succeeded(s) || failed_or_upstream(s);
}

static bool any(const struct parents *p, bool (*is)(enum task_state))
{
    for (size_t i = 0; i < p->count; i++)
        if (is(p->state[i]))
            return true;
    return false;
}

static bool all(const struct parents *p, bool (*is)(enum task_state))
{
    for (size_t i = 0; i < p->count; i++)
        if (!is(p->state[i]))
            return false;
    return true;
}

static bool some_setup(const struct parents *p, enum task_state state, bool equals)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->is_setup[i] && (p->state[i] == state) == equals)
            return true;
    return false;
}

static enum rule_decision oracle_setups(const struct parents *p)
{
    if (!all(p, is_final))
        return RULE_WAIT;
    if (!some_setup(p, TASK_SUCCESS, false))
        return RULE_RUN;
    return some_setup(p, TASK_SKIPPED, true) ? RULE_SKIP : RULE_UPSTREAM_FAILED;
}

/* What a rule that needs one success says when all are final and there is none. */
static enum rule_decision without_success(const struct parents *p)
{
    return any(p, failed_or_upstream) ? RULE_UPSTREAM_FAILED : RULE_SKIP;
}

static enum rule_decision oracle(enum trigger_rule rule, const struct parents *p)
{
    const bool final = all(p, is_final);
    switch (rule) {
    case RULE_ALL_SUCCESS:
        if (any(p, failed_or_upstream))
            return RULE_UPSTREAM_FAILED;
        return !final ? RULE_WAIT : any(p, skipped) ? RULE_SKIP : RULE_RUN;
    case RULE_ALL_FAILED:
        if (any(p, not_failed))
            return RULE_SKIP;
        return !final ? RULE_WAIT : any(p, failed_or_upstream) ? RULE_RUN : RULE_SKIP;
    case RULE_ALL_DONE:
        return final ? RULE_RUN : RULE_WAIT;
    case RULE_ALL_SKIPPED:
        if (any(p, not_skipped))
            return RULE_SKIP;
        return !final ? RULE_WAIT : any(p, skipped) ? RULE_RUN : RULE_SKIP;
    case RULE_ONE_SUCCESS:
        if (any(p, succeeded))
            return RULE_RUN;
        return final ? without_success(p) : RULE_WAIT;
    case RULE_ONE_FAILED:
        if (any(p, failed_or_upstream))
            return RULE_RUN;
        return final ? RULE_SKIP : RULE_WAIT;
    case RULE_ONE_DONE:
        if (any(p, succeeded_or_failed))
            return RULE_RUN;
        return final ? RULE_SKIP : RULE_WAIT;
    case RULE_NONE_FAILED:
        if (any(p, failed_or_upstream))
            return RULE_UPSTREAM_FAILED;
        return final ? RULE_RUN : RULE_WAIT;
    case RULE_NONE_FAILED_MIN_ONE_SUCCESS:
        if (!final)
            return RULE_WAIT;
        return !any(p, failed_or_upstream) && any(p, succeeded) ? RULE_RUN : without_success(p);
    case RULE_NONE_SKIPPED:
        if (any(p, skipped))
            return RULE_SKIP;
        return final ? RULE_RUN : RULE_WAIT;
    case RULE_ALWAYS:
        return RULE_RUN;
    case RULE_ALL_DONE_MIN_ONE_SUCCESS:
        if (!final)
            return RULE_WAIT;
        return any(p, succeeded) ? RULE_RUN : without_success(p);
    case RULE_ALL_DONE_SETUP_SUCCESS:
        return oracle_setups(p);
    case RULE_COUNT:
        break;
    }
    return RULE_WAIT;
}

static enum rule_decision decide(enum trigger_rule rule, const struct parents *p)
{
    struct parent_counts counts = {.total = (int64_t)p->count};
    for (size_t i = 0; i < p->count; i++) {
        counts.setups += p->is_setup[i];
        if (is_final(p->state[i]))
            parent_counts_add(&counts, p->state[i], p->is_setup[i], 1);
    }
    return trigger_rule_decide(rule, &counts);
}

static const char *describe(const struct parents *p, char text[200])
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < p->count; i++)
        used += (size_t)snprintf(text + used, 200 - used, "%s%s ", task_state_name(p->state[i]),
                                 p->is_setup[i] ? " (setup)" : "");
    return text;
}

/* Fill `p` with combination number `n`; false when there is none. */
static bool combination(size_t count, size_t setups, size_t n, struct parents *p)
{
    *p = (struct parents){.count = count};
    for (size_t i = 0; i < count; i++, n /= OUTCOMES) {
        p->state[i] = STATES[n % OUTCOMES];
        p->is_setup[i] = i < setups;
    }
    return n == 0;
}

Test(trigger_rule, every_rule_over_every_combination_of_parents_is_as_the_manual_says)
{
    size_t compared = 0;
    for (size_t count = 1; count <= PARENTS_MAX; count++) {
        for (size_t setups = 0; setups <= count; setups++) {
            struct parents p;
            for (size_t n = 0; combination(count, setups, n, &p); n++) {
                for (enum trigger_rule rule = 0; rule < RULE_COUNT; rule++, compared++) {
                    char text[200];
                    enum rule_decision got = decide(rule, &p);
                    cr_assert_eq(got, oracle(rule, &p), "%s with %s: %d, not %d",
                                 trigger_rule_name(rule), describe(&p, text), (int)got,
                                 (int)oracle(rule, &p));
                }
            }
        }
    }
    cr_expect_gt(compared, 150000);
}

/* One more parent ends: whatever was decided before must be decided still. */
Test(trigger_rule, a_decision_holds_however_the_unfinished_parents_end)
{
    for (size_t count = 1; count <= PARENTS_MAX; count++) {
        struct parents p;
        for (size_t n = 0; combination(count, 1, n, &p); n++) {
            for (size_t i = 0; i < count; i++) {
                if (is_final(p.state[i]))
                    continue;
                for (size_t outcome = 1; outcome < OUTCOMES; outcome++) {
                    struct parents later = p;
                    later.state[i] = STATES[outcome];
                    for (enum trigger_rule rule = 0; rule < RULE_COUNT; rule++) {
                        enum rule_decision before = decide(rule, &p);
                        cr_assert(before == RULE_WAIT || before == decide(rule, &later), "%s",
                                  trigger_rule_name(rule));
                    }
                }
            }
        }
    }
}

Test(trigger_rule, once_all_are_final_every_rule_decides_and_without_parents_all_run)
{
    for (enum trigger_rule rule = 0; rule < RULE_COUNT; rule++) {
        struct parent_counts none = {0};
        cr_expect_eq(trigger_rule_decide(rule, &none), RULE_RUN);
        struct parents p;
        for (size_t n = 0; combination(3, 1, n, &p); n++)
            if (all(&p, is_final))
                cr_assert_neq(decide(rule, &p), RULE_WAIT, "%s", trigger_rule_name(rule));
    }
}

Test(trigger_rule, names_are_parsed_back_dummy_is_always_and_others_are_refused)
{
    enum trigger_rule rule = RULE_COUNT;
    cr_expect(!trigger_rule_parse("all_succes", &rule));
    cr_expect_eq(rule, RULE_COUNT);
    for (enum trigger_rule each = 0; each < RULE_COUNT; each++) {
        cr_expect(trigger_rule_parse(trigger_rule_name(each), &rule));
        cr_expect_eq(rule, each);
    }
    cr_expect(trigger_rule_parse("dummy", &rule));
    cr_expect_eq(rule, RULE_ALWAYS);
}
