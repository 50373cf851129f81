#pragma once
/*
 * explain_fleet: whether some host would take a task, and if not, what they lack. Pure.
 *
 * Tests  tests/unit/service/test_explain_fleet.c
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A daemon that lives and works. */
struct fleet_host {
    const char *name;
    const char *labels; /* sets as in model/word_set.h */
    const char *queues; /* empty: all */
    int64_t slots;
    int64_t holds;
    int64_t sharing;  /* of these, tasks of queues with a share */
    bool is_draining; /* it claims nothing, for whichever reason */
    bool is_stopping; /* this one: it ends with what it runs */
};

struct fleet_hosts {
    const struct fleet_host *items;
    size_t count;
};

struct fleet_want {
    const char *queue;
    const char *labels;
    int64_t max_share; /* of the queue, in percent; 0: none */
};

/* Each number counts among those of the one before it. */
struct fleet_answer {
    int64_t living;
    int64_t serving; /* its queue */
    int64_t able;    /* they have its labels */
    int64_t taking;  /* and are not draining */
    int64_t slots;   /* of those */
    int64_t holds;
    int64_t share;       /* slots of them that queues with a share may use; 0: it has none */
    int64_t sharing;     /* how many of these are in use */
    bool has_share_room; /* on one host at least */
    const char *drainer; /* name of one that could take it, but was asked to drain; or NULL */
    const char *stopper; /* the same of one that stops */
};

struct fleet_answer fleet_ask(struct fleet_hosts hosts, const struct fleet_want *want);
