#pragma once
/*
 * trigger_expr: what must have happened before a DAG starts by itself. Pure.
 *
 * The event keys of a DAG's `schedule` become a set of triggers: an expression over datasets, one
 * over ends of other DAGs, files, and webhooks. Each starts the DAG by itself, like its
 * timetable (timetable.h), which is read from the same key. Several maps of a list that name
 * datasets are alternatives, and so are several that name DAGs.
 *
 * Whoever keeps the events asks trigger_expr_take how many of those that wait make a run:
 *
 *   datasets  all of them, once the expression holds: what was updated several times is read once
 *   after     the shortest run of oldest ones for which it holds: `after: a` gives a run for every
 *             end of a, `after: [a, b]` one for all ends of a until the next end of b
 *
 * Ownership  A set is one arena and never changes.
 * Tests      tests/unit/model/test_trigger_expr.c, tests/unit/spec/test_spec_triggers.c
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"
#include "model/run_state.h"

struct arena;
struct dag;
struct strbuf;

enum trigger_op { TRIGGER_LEAF, TRIGGER_ALL, TRIGGER_ANY };

struct trigger_expr {
    enum trigger_op op;
    /* Of a leaf. */
    const char *name; /* URI of a dataset, or id of a DAG */
    unsigned states;  /* of a DAG's run: bits 1 << enum run_state; 0: it is a dataset */
    bool passes_conf; /* the run gets the conf of the one that ended */
    size_t leaf;      /* its number, from 0 in the order of writing */
    /* Of the others. */
    struct trigger_expr *items;
    size_t count;
};

/* An expression with the number of its leaves; `root` NULL: there is none. */
struct trigger_rules {
    const struct trigger_expr *root;
    const struct trigger_expr **leaves;
    size_t leaves_count;
};

struct trigger_file {
    const char *path; /* as written; its last part may be a pattern such as *.csv */
    int64_t settle_ms;
};

struct trigger_webhook {
    const char *name;
    bool takes_github; /* calls signed as GitHub does, without their time, count as well */
};

struct triggers {
    struct arena *arena;
    struct trigger_rules datasets;
    struct trigger_rules after;
    struct trigger_file *files;
    size_t files_count;
    struct trigger_webhook *webhooks;
    size_t webhooks_count;
    bool keeps_while_paused; /* `catchup` is not none: what happens meanwhile is made up for */
};

/* The name of a webhook that has none. */
#define TRIGGER_WEBHOOK_DEFAULT "default"

/* Of a DAG that was read without problems. */
NODISCARD enum status triggers_of_dag(const struct dag *dag, struct triggers **out,
                                      struct err *err);
void triggers_free(struct triggers *triggers); /* NULL is allowed */
bool triggers_are_none(const struct triggers *triggers);

/* Whether the text can name a dataset: no blanks, no control characters, at most 2000 bytes. */
bool dataset_uri_is_valid(const char *text);

/* ---- decisions ---- */

/* `happened` has one place per leaf. */
NODISCARD bool trigger_expr_holds(const struct trigger_expr *expr, const bool *happened);
/* Mark the leaves that could still help; none when it holds. `wanted` is set as a whole. */
void trigger_rules_wanted(const struct trigger_rules *rules, const bool *happened, bool *wanted);
/* What is still needed, in words: "a and (b or c)"; nothing when it holds. */
void trigger_rules_describe(const struct trigger_rules *rules, const bool *happened,
                            struct strbuf *out);

/* Something that happened and no run was made of yet. */
struct trigger_event {
    const char *name;
    enum run_state state; /* of the run that ended; of no meaning for a dataset */
};

bool trigger_leaf_matches(const struct trigger_expr *leaf, const struct trigger_event *event);
/* Which leaves have an event among these. */
void trigger_rules_note(const struct trigger_rules *rules, const struct trigger_event *events,
                        size_t count, bool *happened);

enum trigger_taking { TRIGGER_TAKE_ALL, TRIGGER_TAKE_FIRST };

/*
 * How many of the events, oldest first, the next run is made of; 0: it does not hold yet.
 */
NODISCARD size_t trigger_rules_take(const struct trigger_rules *rules,
                                    const struct trigger_event *events, size_t count,
                                    enum trigger_taking taking);

static inline void triggers_freep(struct triggers **triggers)
{
    triggers_free(*triggers);
}
