#pragma once
/*
 * trigger_rule: when a task may run, given what became of its parents.
 *
 * Pure: counts in, decision out. Early decisions are part of the rule, so the
 * function is called whenever a parent ends, and decides once.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/attrs.h"
#include "model/task_state.h"

#define TRIGGER_RULE_MAP(X)                                                                        \
    X(ALL_SUCCESS, "all_success")                                                                  \
    X(ALL_FAILED, "all_failed")                                                                    \
    X(ALL_DONE, "all_done")                                                                        \
    X(ALL_SKIPPED, "all_skipped")                                                                  \
    X(ONE_SUCCESS, "one_success")                                                                  \
    X(ONE_FAILED, "one_failed")                                                                    \
    X(ONE_DONE, "one_done")                                                                        \
    X(NONE_FAILED, "none_failed")                                                                  \
    X(NONE_FAILED_MIN_ONE_SUCCESS, "none_failed_min_one_success")                                  \
    X(NONE_SKIPPED, "none_skipped")                                                                \
    X(ALWAYS, "always")                                                                            \
    X(ALL_DONE_MIN_ONE_SUCCESS, "all_done_min_one_success")                                        \
    X(ALL_DONE_SETUP_SUCCESS, "all_done_setup_success")

enum trigger_rule {
#define X(name, text) RULE_##name,
    TRIGGER_RULE_MAP(X)
#undef X
        RULE_COUNT
};

/* What became of the parents of one task. `cancelled` is counted as failed. */
struct parent_counts {
    int64_t total; /* parents, mapped instances one by one */
    int64_t success;
    int64_t failed;
    int64_t upstream_failed;
    int64_t skipped;
    int64_t removed;
    /* The setups among them, for RULE_ALL_DONE_SETUP_SUCCESS. */
    int64_t setups;
    int64_t setups_success;
    int64_t setups_skipped;
};

enum rule_decision { RULE_WAIT, RULE_RUN, RULE_SKIP, RULE_UPSTREAM_FAILED };

const char *trigger_rule_name(enum trigger_rule rule);
/* True and *out if `name` is a rule's name or the alias `dummy`. */
NODISCARD bool trigger_rule_parse(const char *name, enum trigger_rule *out);

enum rule_decision trigger_rule_decide(enum trigger_rule rule, const struct parent_counts *parents);

/* Count one parent that ended in `state`, which must be final. */
void parent_counts_add(struct parent_counts *counts, enum task_state state, bool is_setup,
                       int64_t times);
