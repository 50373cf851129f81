#pragma once
/*
 * home_hours: a day of runs by the hour: how many waited, ran and ended in each. Pure.
 *
 * A run that waits or runs over several hours counts in each of them.
 *
 * Tests  tests/unit/service/test_home_hours.c
 */
#include <stdint.h>

#include "base/json.h"
#include "model/run_state.h"

enum { HOME_HOURS = 24 };

struct home_hours {
    int64_t begin_us; /* of the first hour; the last one ends HOME_HOURS later */
    int64_t waited[HOME_HOURS];
    int64_t ran[HOME_HOURS];
    int64_t ended[RUN_STATE_COUNT][HOME_HOURS];
    int64_t late[HOME_HOURS];
};

struct home_hours_run {
    enum run_state state;
    int64_t created_at_us;
    int64_t started_at_us; /* 0: not yet */
    int64_t ended_at_us;   /* the same */
};

/* The hours that end now. */
struct home_hours home_hours_until(int64_t now_us);
void home_hours_add_run(struct home_hours *hours, const struct home_hours_run *run);
void home_hours_add_miss(struct home_hours *hours, int64_t due_at_us);
/* A new reference. */
NODISCARD json_t *home_hours_json(const struct home_hours *hours);
