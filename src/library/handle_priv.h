#pragma once
/*
 * handle: what is behind a struct eider, and how statuses of the layers below become those of the
 * library.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "eider.h"
#include "store/store.h"

/* A claim that was given to the caller and has not ended. */
struct outstanding {
    int64_t task;
    int64_t attempt;
};

struct eider {
    struct store *store; /* NULL: it could not be opened */
    struct err err;      /* of the last call that failed */
    bool is_embedded;    /* nothing is heard there: waits are short */
    /* Of a worker. */
    bool is_worker;
    bool is_lost; /* a sweep has taken it */
    bool is_draining;
    bool is_listening;
    bool must_read_back; /* there may be claims that the caller does not know of */
    int64_t host;
    char *labels;
    char *queues;
    int64_t lease_ms;
    int64_t next_beat_us; /* by the steady clock */
    int64_t healthy_us;   /* since when every heartbeat was answered; 0: the last one was not */
    int64_t next_due_us;  /* when the next retry may be claimed, by the store's clock; 0: none */
    struct outstanding *held;
    size_t held_count;
    size_t held_capacity;
};

/* The failure is kept for eider_error; returns what it is called outside. */
NODISCARD enum eider_status handle_failed(struct eider *e, const struct err *err);
NODISCARD enum eider_status handle_refuse(struct eider *e, enum eider_status status,
                                          const char *text);
/* EIDER_OK when calls on the handle make sense; the second also when it is a worker. */
NODISCARD enum eider_status handle_check_open(struct eider *e);
NODISCARD enum eider_status handle_check_worker(struct eider *e);
void handle_forget_worker(struct eider *e);
