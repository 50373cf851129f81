#pragma once
/*
 * claim_room: how much more may be claimed. Pure.
 */
#include <stdbool.h>
#include <stdint.h>

struct claim_room {
    int64_t slots;   /* processes that may run at once now */
    int64_t percent; /* of them that are claimed; the rest is kept free */
    int64_t held;    /* claimed already, running or not */
    int64_t pace_us; /* how long processes take here; 0: not known yet */
};

/* Slots that may be used at all: rounded up, at least one. */
int64_t claim_room_slots(const struct claim_room *room);
int64_t claim_room_left(const struct claim_room *room);
