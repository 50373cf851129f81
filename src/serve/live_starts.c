/*
 * Starts: no event tells of them, so while somebody wants to hear of them what runs is looked at
 * several times a second, sooner when we are woken. Looks that take long are followed by longer
 * pauses: a small part of the time goes to them, whatever runs.
 */
#include "base/check.h"
#include "base/clock.h"
#include "serve/live_priv.h"

enum {
    LOOK_PAUSE_US = 150000,
    WOKEN_PAUSE_US = 30000, /* for what comes in bursts */
    PAUSE_OF_COST = 25,     /* so many times as long as looks take on average, at least */
    AVERAGE_OF = 8,         /* so that one slow look does not hide what starts after it */
    LOOKED_AT_MAX = 2000,
    TOLD_MAX = 500, /* to one listener, of one look */
};

static bool is_wanted(const struct live *live)
{
    for (const struct live_reader *at = live->readers; at != NULL; at = at->after)
        if (at->wants_starts && at->phase != READER_OVER)
            return true;
    return false;
}

int64_t live_starts_due_us(struct live *live)
{
    if (!is_wanted(live)) {
        start_board_clear(live->board);
        return INT64_MAX;
    }
    int64_t pause_us = live->is_start_near ? WOKEN_PAUSE_US : LOOK_PAUSE_US;
    int64_t due_us = live->starts_us + MAX(pause_us, live->starts_cost_us * PAUSE_OF_COST);
    return MAX(due_us, live->not_before_us);
}

void live_starts_look(struct live *live)
{
    CLEANUP(json_decrefp) json_t *response = NULL;
    struct err err = {0};
    json_t *request = json_object();
    CHECK(request != NULL);
    json_put_int(request, "limit", LOOKED_AT_MAX);
    live->is_start_near = false;
    live_unlock(live);
    int64_t began_us = clock_wait_us();
    enum status status = live_call(live, "task.running", request, &response, &err);
    if (status == STATUS_OK)
        start_board_look(live->board, response);
    live->starts_us = clock_wait_us();
    live->starts_cost_us += (live->starts_us - began_us - live->starts_cost_us) / AVERAGE_OF;
    live_lock(live);
    if (status != STATUS_OK) {
        live_note_failure(live, &err);
        return;
    }
    live->is_failing = false;
    for (struct live_reader *at = live->readers; at != NULL; at = at->after)
        live_reader_tell_starts(at, live->board, TOLD_MAX);
}
