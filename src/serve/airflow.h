#pragma once
/*
 * airflow: what the routes share that speak as Airflow's stable API does: queries and bodies by
 * their schemas, pages, orders, masks, and the names of states.
 */
#include "base/json.h"
#include "serve/route.h"

enum { AIRFLOW_PAGE_DEFAULT = 100, AIRFLOW_PAGE_MAX = 1000 };

/*
 * The query by the row's schema, lists also as repeated names; a new reference. STATUS_INVALID for
 * what the row does not take.
 */
NODISCARD enum status airflow_query(const struct route_call *call, json_t **out, struct err *err);

/*
 * The body by the row's schema, an object; a new reference. Members that Airflow has but that
 * nobody can set are left out; others that the schema does not have are STATUS_INVALID, as is a
 * member that the path has, too, with another value.
 */
NODISCARD enum status airflow_body(const struct route_call *call, json_t **out, struct err *err);

/* Only what `update_mask` of the query names is left of the body; without one all of it. */
NODISCARD enum status airflow_mask(const json_t *query, json_t *body, struct err *err);

/* Copy a member under another name, when it is there and not null. */
void airflow_copy(const json_t *from, const char *key, json_t *to, const char *as);

/* A word of theirs, and the one of ours that means the same. */
struct airflow_word {
    const char *theirs;
    const char *ours;
};
/* The same for each of the words. */
void airflow_copy_words(const json_t *from, const struct airflow_word *words, size_t count,
                        json_t *to);

/* An id of ours, which is a text, as a number. */
void airflow_put_number(json_t *to, const char *as, const json_t *from, const char *key);

/* limit, offset and with_total of an operation's request. */
NODISCARD enum status airflow_page(const json_t *query, json_t *request, struct err *err);
/* `order_by` in the operation's words; the first of them when there is none. */
NODISCARD enum status airflow_put_order(const json_t *query, const struct airflow_word *orders,
                                        size_t count, json_t *request, struct err *err);

/* The query of a list; its page and its order go to the operation's request. */
NODISCARD enum status airflow_list(const struct route_call *call, const struct airflow_word *orders,
                                   size_t count, json_t *request, json_t **out_query,
                                   struct err *err);
/* A list that is asked for by a form in the body; its page goes to the operation's request. */
NODISCARD enum status airflow_form(const struct route_call *call, json_t *request,
                                   json_t **out_form, struct err *err);

typedef json_t *(*airflow_shape_fn)(const json_t *ours);
/* Each of a list in another shape; a new reference. */
NODISCARD json_t *airflow_shape_all(const json_t *list, airflow_shape_fn shape);
/* A page that an operation gave, {theirs: rows, "total_entries": n}; a new reference. */
NODISCARD json_t *airflow_shape_page(json_t *taken, const struct airflow_word *list,
                                     airflow_shape_fn shape);

/*
 * A page of a list that is at hand as a whole: {name: rows, "total_entries": n}. `keys` are the
 * members that it can be ordered by, the first one by default; NULL ends them.
 */
NODISCARD enum status airflow_slice(const json_t *query, const char *name, json_t *taken_rows,
                                    const char *const *keys, json_t **out, struct err *err);

/* "run" as DAG/RUN_ID of the path. */
NODISCARD enum status airflow_put_run(const struct route_call *call, json_t *request,
                                      struct err *err);
/* "dag" of the path; "~", all of them, is left out where that may be. */
NODISCARD enum status airflow_put_dag(const struct route_call *call, bool may_be_all,
                                      json_t *request, struct err *err);
/* "task", and "map_index" where the path has one. */
NODISCARD enum status airflow_put_task(const struct route_call *call, json_t *request,
                                       struct err *err);
bool airflow_is_all(const char *segment); /* "~" */

/* A number of seconds as they write durations; null of anything else. A new reference. */
NODISCARD json_t *airflow_duration(const json_t *seconds);
/* Whether a list of texts has this one. */
bool airflow_has_text(const json_t *texts, const char *text);

/* Only the members that `fields` of the query names are left; without it all. */
void airflow_choose(const json_t *query, json_t *object);

/* Call an operation; the request is taken. */
NODISCARD enum status airflow_call(const struct route_call *call, const char *operation,
                                   json_t *taken_request, json_t **out, struct err *err);

/* A state of a task in Airflow's words; NULL: none yet. */
const char *airflow_task_state(const char *ours);
/* Our states that one of theirs stands for, appended. */
void airflow_add_task_states(json_t *states, const char *theirs);
void airflow_add_run_states(json_t *states, const char *theirs);
