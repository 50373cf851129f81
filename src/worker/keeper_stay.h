#pragma once
/*
 * keeper_stay: how long a keeper that outlives its daemon waits for the next one.
 *
 * With nothing to do and nothing to tell it waits a little, in case the daemon is only being
 * restarted. With tasks, or ends that nobody has acknowledged, it waits up to a bound. After
 * a daemon of another version asked for it, it waits for its running tasks only.
 *
 * Time  Monotonic, passed in.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KEEPER_STAY_LINGER_MS = 60 * 1000, KEEPER_STAY_ALONE_MS_MAX = 24 * 3600 * 1000 };

struct keeper_stay {
    int64_t linger_ms;
    int64_t alone_ms_max;
    int64_t alone_us; /* since when there is no daemon; 0: there is one */
    int64_t idle_us;  /* since when there is nothing to stay for either; 0: there is */
    bool outdated;    /* a daemon of another version was here last */
};

void keeper_stay_init(struct keeper_stay *stay, int64_t now_us);
/* A daemon has greeted, with settings of its own (0: the usual ones). */
void keeper_stay_greeted(struct keeper_stay *stay, int64_t linger_ms, int64_t alone_ms_max);
/* There is a daemon, or none. */
void keeper_stay_served(struct keeper_stay *stay);
void keeper_stay_alone(struct keeper_stay *stay, int64_t now_us);

/* What there is: tasks that are not reported yet, and ends that are not acknowledged. */
struct keeper_stay_load {
    size_t tasks;
    size_t ends;
};

/* When to end, given that load: in the past or now means at once, INT64_MAX never. */
int64_t keeper_stay_until_us(struct keeper_stay *stay, const struct keeper_stay_load *load,
                             int64_t now_us);
