#pragma once
/*
 * pool_set_priv: the pools and limits that one transaction looked at, as they are for it: what it
 * took and left is counted, though nothing of it is written yet.
 */
#include "store/pool_priv.h"

/* The first of those that still wait in a lane. Who comes after it does not overtake it. */
struct pool_line {
    int64_t lane;
    struct ready_key head;
};

struct pool_state {
    int64_t id;
    enum pool_kind kind;
    const char *name;
    int64_t slots;
    bool is_there; /* else it is only named */
    bool is_ours;  /* else others have it just now, and the rest is not known */
    int64_t held;
    int64_t *numbers; /* of held slots when it was looked at, ascending */
    size_t numbers_count;
    size_t numbers_passed;
    int64_t next_number;
    struct pool_line *lines;
    size_t lines_count;
};

struct pool_set {
    struct pool_state **items;
    size_t count;
    size_t capacity;
    struct pool_state *limits; /* there are; as they were before they were locked */
    size_t limits_count;
    struct pool_state *full; /* which the last task did not fit into */
    bool were_left;
};

struct pool_set *pool_set_of(struct work *work);

enum pool_lock { POOL_TRY_LOCK, POOL_LOCK };

/* Lock those of these that are not there yet, in the order of their ids, and see what is held. */
NODISCARD enum status pool_set_bind(struct work *work, const int64_t *ids, size_t count,
                                    enum pool_lock lock, struct err *err);
struct pool_state *pool_set_find(struct work *work, int64_t id); /* NULL: not bound */

/* Whether a limit is one of this task's. */
bool pool_state_counts(const struct pool_state *pool, const struct run_row *run,
                       const struct task_row *task);
/* How many slots are free; as many as one likes where a limit was lifted. */
int64_t pool_state_room(const struct pool_state *pool);
/* The number of a free slot, which is taken with that; 0: there is none. */
int64_t pool_state_take(struct pool_state *pool);

/* Somebody waits there from now on. */
void pool_state_note_waiter(struct work *work, struct pool_state *pool,
                            const struct ready_key *key);
bool ready_key_comes_before(const struct ready_key *x, const struct ready_key *y);

/* Let in what fits, at most `most` of each lane. */
NODISCARD enum status pool_state_open(struct work *work, struct pool_state *pool, int64_t most,
                                      struct err *err);
