#pragma once
/*
 * dag_read_priv: what the parts of dag_read share.
 *
 * Reading has three passes. The tree is walked once: every task becomes a draft, every
 * name in `needs` a reference, every template a use (dag_read.c, dag_read_value.c,
 * dag_read_kind.c). Then references become edges and drafts become the sorted tasks of the DAG
 * (dag_read_refs.c). Then templates are parsed and their names checked
 * (dag_read_template.c).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/json.h"
#include "base/strmap.h"
#include "model/dag.h"
#include "model/dag_fields.h"
#include "model/dag_read.h"
#include "model/diag.h"
#include "model/hook.h"
#include "model/sla.h"
#include "model/timetable.h"
#include "model/trigger_expr.h"
#include "model/zone.h"

/* The address of a value in the tree. */
struct spot {
    const json_t *container;
    size_t index;
};

/* A value and its address; value NULL: it is not there. */
struct placed {
    struct spot spot;
    const json_t *value;
};

/* The keys of a DAG that make its timetable. */
struct schedule_source {
    struct placed schedule, start, end, catchup;
};

#define REF_NONE INT64_MIN

enum ref_kind { REF_NEEDS, REF_TEARDOWN };

struct ref {
    const char *name;
    int64_t target; /* as in reader.names; REF_NONE after a problem */
    struct spot spot;
    enum ref_kind kind;
};

struct draft {
    struct task_def def;
    struct spot spot; /* in the map of tasks: its key is the id */
    int64_t group;    /* or -1 */
    size_t refs_first;
    size_t refs_count;
    struct spot settings;    /* the kind key */
    struct spot interpreter; /* siblings of `script`; container NULL: not there */
    struct spot args;
    struct spot teardown;
    bool rule_given;
    uint32_t node; /* number in the DAG, after sorting */
};

struct group_draft {
    const char *name; /* full */
    int64_t parent;   /* or -1 */
    struct spot spot;
    size_t drafts_first; /* its drafts and those of its groups are neighbours */
    size_t drafts_end;
    size_t groups_end; /* the groups in it follow it */
    size_t refs_first; /* the group's own needs */
    size_t refs_count;
    struct task_def defaults;
    uint32_t *leaves; /* draft numbers, arena */
    size_t leaves_count;
    size_t marked_for; /* group number + 1 for which its leaves were marked last */
};

struct template_use {
    const char *text;
    struct spot spot;
    int64_t draft; /* or -1: in defaults */
    bool in_hook;  /* it is rendered when something has happened: other names */
    bool takes_secrets;
};

struct reader {
    struct dag *dag;
    const struct dag_locator *locator;
    struct source_span place;
    struct diag_list *diags;
    size_t errors_before; /* in diags, when reading began */
    struct draft *drafts;
    size_t drafts_count;
    size_t drafts_capacity;
    struct group_draft *groups;
    size_t groups_count;
    size_t groups_capacity;
    struct ref *refs;
    size_t refs_count;
    size_t refs_capacity;
    struct template_use *uses;
    size_t uses_count;
    size_t uses_capacity;
    struct source_place *places;
    size_t places_count;
    size_t places_capacity;
    struct strmap *names; /* full id to draft number, or -1 - group number */
    struct task_def defaults;
    uint64_t warned[2];    /* rows of TASK_FIELDS, of DAG_FIELDS */
    int64_t current;       /* draft that is being read, or one of CURRENT_* */
    const char *hook_path; /* of the hook that is being read, "on_failure.0"; else NULL */
    struct schedule_source schedule;
    const json_t *params; /* their map in the tree; NULL: there are none */
    zone_reader zones;    /* for the zone of a schedule */
};

enum { CURRENT_DEFAULTS = -1, CURRENT_DAG = -2 };

/* ---- dag_read_value.c ---- */

/* Add a problem at a value, or at its key. */
void reader_problem(struct reader *r, struct spot spot, const char *fmt, ...) PRINTF(3, 4);
void reader_problem_at_key(struct reader *r, struct spot spot, const char *fmt, ...) PRINTF(3, 4);
void reader_problem_at(struct reader *r, enum diag_severity severity, struct source_span span,
                       const char *fmt, ...) PRINTF(4, 5);
struct source_span reader_span(const struct reader *r, struct spot spot, bool of_key);
/* "expected X, found Y" */
void reader_mismatch(struct reader *r, struct spot spot, const char *key, const char *expected,
                     const json_t *value);

/* Read the value of a row into `base`; rows of FIELD_OWN are not for here. */
void reader_field(struct reader *r, const struct dag_field *field, struct spot spot,
                  const json_t *value, void *base);
/* One text or a list of texts; `what` names it in problems. */
void reader_texts(struct reader *r, const char *what, struct spot spot, const json_t *value,
                  struct string_list *out);
/* The problem of a key that no row has. `also_kinds`: kinds are suggested too. */
void reader_unknown_key(struct reader *r, const struct field_table *table, struct spot spot,
                        const char *key, bool also_kinds);
/* Keep a value for other parts in *rest, and say once that nothing acts on it. */
void reader_keep(struct reader *r, const struct field_table *table, const struct dag_field *field,
                 struct spot spot, const json_t *value, json_t **rest);
/* Remember where a value stood that only later can turn out wrong, as the path plus `suffix`. */
void reader_place(struct reader *r, struct spot spot, const char *suffix);
/* Remember a text that may be a template, at the current path plus `suffix`. */
void reader_template(struct reader *r, const char *text, struct spot spot, const char *suffix);
/* A text that must be a template, or a boolean; canonical, NULL after a problem. */
const char *reader_condition(struct reader *r, const char *key, struct spot spot,
                             const json_t *value, const char *suffix);

/* Members in order: for (...; spot.index < n; ...) with the iterator. */
#define READER_EACH(object, iter, spot)                                                            \
    void *iter = json_object_iter(reader_mutable(object));                                         \
    iter != NULL;                                                                                  \
    iter = json_object_iter_next(reader_mutable(object), iter), (spot).index++

/* jansson's iterators take no const; nothing is changed through them. */
static inline json_t *reader_mutable(const json_t *value)
{
    return (json_t *)(uintptr_t)value;
}

/* ---- dag_read_kind.c ---- */
void reader_settings(struct reader *r, struct draft *draft, enum task_kind kind, struct spot spot,
                     const json_t *value);
/* Put the siblings of `script` into its settings. */
void reader_finish_settings(struct reader *r, struct draft *draft);

/* ---- dag_read_branch.c ---- */
void reader_branch(struct reader *r, struct draft *draft, struct spot spot, const json_t *value);
/* Once edges are known: targets must be direct dependants; settings get full ids. */
void reader_check_branches(struct reader *r);

/* ---- dag_read_sensor.c ---- */
/* Canonical settings, a new reference; NULL after a problem. */
json_t *reader_sensor(struct reader *r, struct spot spot, const json_t *value);

/* ---- dag_read_refs.c ---- */
/* What `name` means inside a group (or -1): as in reader.names, or REF_NONE. */
int64_t reader_resolve(const struct reader *r, int64_t group, const char *name);
/* The problem of a name that means nothing. */
void reader_unknown_task(struct reader *r, struct spot spot, const char *what, const char *name);
/* References to edges, drafts to tasks; false when there are too many edges for a DAG. */
NODISCARD bool reader_link(struct reader *r, bool *out_has_order);

/* ---- dag_read_template.c ---- */
void reader_check_templates(struct reader *r, bool has_order);

/* ---- dag_read_params.c ---- */
void reader_params(struct reader *r, struct spot spot, const json_t *value);
/* Warn of params that have no value in runs that start by themselves. */
void reader_check_params_given(struct reader *r, const struct timetable *timetable,
                               const struct triggers *triggers);

/* ---- dag_read_files.c ---- */
/* `files` of the canonical form: name to hash. */
void reader_files(struct reader *r, struct spot spot, const json_t *value);

/* ---- dag_read_hook.c ---- */
/* The hooks of a list, or of the one entry; those with problems are left out. */
void reader_hooks(struct reader *r, enum hook_event event, struct spot spot, const json_t *value,
                  struct hook_list *out);
/* The hook that `email: [..]` stands for. */
void reader_email_alias(struct reader *r, enum hook_event event, struct spot spot,
                        const json_t *value, struct hook_list *out);
/* Report the problems of a kept key if it is one of hooks. */
void reader_check_hooks(struct reader *r, const char *key, struct spot spot, const json_t *value);

/* ---- dag_read_sla.c ---- */
/* False after a problem. */
bool reader_sla(struct reader *r, struct spot spot, const json_t *value, struct sla *out);

/* ---- dag_read_schedule.c ---- */
/* Never NULL; of no use when there were problems. The caller frees it. */
NODISCARD struct timetable *reader_timetable(struct reader *r,
                                             const struct schedule_source *source);

/* ---- dag_read_triggers.c ---- */
/* The same of the event keys. */
NODISCARD struct triggers *reader_triggers(struct reader *r, const struct schedule_source *source);
/* Report the problems of a kept key if it is `outputs`. */
void reader_check_outputs(struct reader *r, const char *key, struct spot spot, const json_t *value);
