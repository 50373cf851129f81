#pragma once
/*
 * health: whether work moves, decided over plain facts. Pure.
 *
 * That a process answers says little. Healthy is who reaches the store, whose commits become
 * durable, whose scheduler takes its turns, and where nothing waits that a host could take.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct health_facts {
    const char *database_error; /* NULL: the store answers */
    /* Of the fleet. */
    int64_t schedulers;      /* living hosts that schedule */
    int64_t workers;         /* living hosts that work and are not asked to drain */
    int64_t ready;           /* what could be claimed now */
    const char *stuck_queue; /* where something waits although hosts could take it; NULL: nowhere */
    int64_t stuck_ms;        /* for how long */
    const char *lone_queue;  /* where something waits that no living host takes; NULL: nowhere */
    const char *lone_labels;
    /* Of this process, when it is a daemon; 0: all is well, or it does not do that. */
    int64_t scheduler_late_ms;  /* since its scheduler should have ended a turn */
    int64_t commits_failing_ms; /* since its commits fail */
};

enum {
    HEALTH_STUCK_MS = 60000,  /* a claim takes milliseconds; so long is no chance */
    HEALTH_TURN_MS = 60000,   /* beyond the time it may sleep */
    HEALTH_COMMIT_MS = 10000, /* one that failed is made again within it */
    HEALTH_CHECKS = 5,
};

struct health_check {
    const char *name;
    bool is_ok;
    bool is_advice; /* worth a look, but nothing is wrong */
    const char *detail;
    const char *advice; /* what to do; NULL: nothing */
};

/* Texts are static or in the arena. True: healthy. */
bool health_judge(const struct health_facts *facts, struct arena *arena,
                  struct health_check out[static HEALTH_CHECKS]);
