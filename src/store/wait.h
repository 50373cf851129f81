#pragma once
/*
 * wait: what waits for something outside, for those who look whether it is there.
 *
 * Files and other DAGs are looked at by a host, each wait by the one that its row names; nothing is
 * written for a look. A host that is gone is followed by another that serves the queue. If
 * two look at the same, the second one's OUTCOME_MET is not accepted.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "model/attempt.h"
#include "model/sensor.h"
#include "store/store.h"

struct wait_info {
    int64_t task;
    int64_t run;
    int64_t attempt;
    struct nonce nonce;
    enum sensor_kind kind;
    int64_t host; /* who looks; 0: nobody needs to */
    int64_t looks;
    int64_t since_us;
    struct wait_times times;
    int64_t every_ms;
    int64_t every_max_ms;
    double backoff;
    const char *subject;
    const char *dag; /* or NULL */
    const char *dag_task;
    int64_t date_us; /* 0: the latest */
    unsigned states; /* of it that count, a bit for each */
};

struct wait_list {
    struct wait_info *items;
    size_t count;
};

struct wait_taker {
    int64_t host;
    int64_t scope;      /* as in struct advance_request */
    const char *labels; /* the same */
    const char *queues;
    bool takes; /* also what hosts that are gone looked at; in a scope of one run, all of it */
};

/* Everything that this host is to look at. */
NODISCARD enum status store_waits_take(struct store *store, const struct wait_taker *taker,
                                       struct arena *arena, struct wait_list *out, struct err *err);

/* Whether there is something for another host to take; costs little. */
NODISCARD enum status store_waits_left(struct store *store, bool *out, struct err *err);

/*
 * Which of these waits for other DAGs are met; `out_met` has room for all. Of each only `dag`,
 * `dag_task`, `date_us` and `states` are looked at.
 */
NODISCARD enum status store_waits_look(struct store *store, const struct wait_info *waits,
                                       size_t count, bool *out_met, struct err *err);

/*
 * Do what is due for tasks that wait, at most `most` of them: whoever claims does the same, but
 * there may be nobody with room. *out_next_us: when the next is due; 0: none is known of.
 */
NODISCARD enum status store_waits_wake(struct store *store, int64_t most, int64_t *out_count,
                                       int64_t *out_next_us, struct err *err);

/* STATUS_NOT_FOUND: it does not wait. */
NODISCARD enum status store_wait_find(struct store *store, int64_t task, struct arena *arena,
                                      struct wait_info *out, struct err *err);

/* What there is of the DAG that a task waits for. */
enum wait_target {
    WAIT_TARGET_RUN,    /* the run; or it waits for something else */
    WAIT_TARGET_NO_RUN, /* none of that date, or none at all */
    WAIT_TARGET_NO_DAG,
};

NODISCARD enum status store_wait_target(struct store *store, const struct wait_info *wait,
                                        enum wait_target *out, struct err *err);

/* "file '/in/a.csv'", "12:00 of 2026-01-31", ...; in the arena. */
const char *wait_phrase(const struct wait_info *wait, struct arena *arena);
