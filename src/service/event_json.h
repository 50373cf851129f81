#pragma once
/*
 * event_json: events for people and programs: what each is about, by name.
 */
#include "base/arena.h"
#include "base/json.h"
#include "store/event_page.h"

/* Where names are looked up, and kept. */
struct event_names {
    struct store *store;
    struct arena *arena;
};

/* What the event tells beside its kind; a new reference to an object. */
NODISCARD json_t *event_json_data(const struct event_row *row);
/* *out is borrowed from the store; NULL: about no task, or about one that is gone. */
NODISCARD enum status event_json_task_id(struct store *store, const struct event_row *row,
                                         const char **out, struct err *err);
/* *out is NULL: about no DAG, or about one that is gone. */
NODISCARD enum status event_json_dag_id(const struct event_names *names,
                                        const struct event_row *row, const json_t *data,
                                        const char **out, struct err *err);

/*
 * Whether it is about something that whoever asks sees (store/sight.h): a DAG or job of a namespace
 * that is seen, or something else there. What is about everybody is for those who see everything.
 */
NODISCARD enum status event_json_is_seen(const struct event_names *names,
                                         const struct event_row *row, bool *out, struct err *err);

/* An event as `event.list` tells it; a new reference. */
NODISCARD enum status event_json(const struct event_names *names, const struct event_row *row,
                                 json_t **out, struct err *err);
