#pragma once
/*
 * dag_fields: every key of a DAG file, as tables.
 *
 * Reading, writing, suggestions, documentation and the JSON schema all follow these
 * rows, so a key is added in one place. Kinds (`run`, `branch`, ...) are in kind.h.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"

enum field_type {
    FIELD_TEXT,      /* const char * */
    FIELD_TEMPLATE,  /* const char *, may contain a template */
    FIELD_CONDITION, /* const char *, must be a template; true and false are accepted */
    FIELD_NAME,      /* const char *, an id */
    FIELD_FLAG,      /* bool */
    FIELD_INTEGER,   /* int64_t within least..most */
    FIELD_NUMBER,    /* double within least..most */
    FIELD_DURATION,  /* int64_t in ms, within least..most */
    FIELD_SIZE,      /* int64_t in bytes */
    FIELD_TEXTS,     /* struct string_list; one text is a list of one */
    FIELD_CODES,     /* struct exit_codes */
    FIELD_CAUSES,    /* struct retry_causes: exit codes, and names out of `choices` */
    FIELD_CHOICE,    /* enum, one of `choices` */
    FIELD_ENV,       /* the environment of struct task_def */
    FIELD_GROUP,     /* an object with the rows of `members` */
    FIELD_OWN,       /* read by a function of its own */
    FIELD_KEPT,      /* any of `shapes`; kept as it is, mostly for later versions */
    FIELD_MISSING,   /* not available in this version */
};

/* JSON types that a kept key may have. */
enum field_shape {
    SHAPE_TEXT = 1,
    SHAPE_INTEGER = 2,
    SHAPE_FLAG = 4,
    SHAPE_LIST = 8,
    SHAPE_MAP = 16,
    SHAPE_NULL = 32,
};

struct field_choices {
    size_t count;
    const char *const *names;
};

struct dag_field {
    const char *key;
    const char *alias; /* Airflow's name, or NULL */
    enum field_type type;
    bool own_only;   /* not allowed in `defaults` */
    bool has_effect; /* of a kept key: others act on it as it was written */
    size_t offset;   /* in struct dag, struct task_def or the group's struct */
    int64_t least;
    int64_t most;
    unsigned shapes;
    const struct field_choices *choices;
    const struct field_table *members;
    const char *doc;
};

struct field_table {
    const char *what; /* "DAG", "task", ...: for messages */
    size_t count;
    const struct dag_field *fields;
};

extern const struct field_table DAG_FIELDS;   /* offsets in struct dag */
extern const struct field_table TASK_FIELDS;  /* offsets in struct task_def */
extern const struct field_table GROUP_FIELDS; /* all FIELD_OWN */

/* The row for a key or an alias, or NULL. */
const struct dag_field *dag_field_find(const struct field_table *table, const char *key);

/* What a value must be, in words: "an integer from 0 to 1000". Returns `out`. */
enum { FIELD_WORDS_MAX = 256 };
const char *dag_field_expects(const struct dag_field *field, char out[static FIELD_WORDS_MAX]);

/* A task as it is when its file says nothing. */
struct task_def;
const struct task_def *task_def_default(void);
