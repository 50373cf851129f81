#pragma once
/*
 * event_filter: which events somebody wants, and which that one may see. Pure.
 *
 * Ownership  Facts are borrowed from the event; what a filter names is borrowed, too.
 * Tests      tests/unit/service/test_event_filter.c
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/json.h"
#include "model/event_kind.h"

struct principal;

/* What is asked of an event; NULL, 0: it is about none. */
struct event_facts {
    enum event_kind kind;
    const char *dag_id;
    int64_t run;
    const char *task_id;
    const char *host;
    const char *space; /* NULL: of no namespace, "": of one that is not known any more */
};

/* Of an event as `event.list` tells it. */
struct event_facts event_facts_of(const json_t *event);

enum { EVENT_KIND_WORDS = (EVENT_KIND_COUNT + 63) / 64 };

/* All zero: every event. */
struct event_filter {
    bool has_kinds;
    uint64_t kinds[EVENT_KIND_WORDS]; /* as bits */
    const char *dag_id;
    int64_t run;
    const char *task_id;
    const char *host;
    const struct principal *principal; /* only what that one may see; NULL: all */
};

/*
 * The members "kinds", "task", "host" and "dag" of a request; not the run, which has to be looked
 * up. STATUS_INVALID: no such kind. A kind is one of event_kind.h, or the word that several of them
 * begin with: "task" is every task_*.
 */
NODISCARD enum status event_filter_read(const json_t *request, struct event_filter *out,
                                        struct err *err);

bool event_filter_passes(const struct event_filter *filter, const struct event_facts *facts);
