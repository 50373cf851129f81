#pragma once
/*
 * start_board: which attempts run, from one look to the next, and who was told of which.
 *
 * An attempt that a look finds and the one before did not has started. Each has a number; a
 * listener remembers up to which it was told, so that it hears of an attempt once, also of one that
 * runs already when it comes, and never of one that is over. Where a look cannot see all that
 * runs, nobody is told which: only that there is more.
 *
 * Threads    One.
 * Tests      tests/unit/serve/test_start_board.c
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "base/strbuf.h"
#include "service/event_filter.h"

#define START_EVENT "task.started"

struct start_board;

/* Of one listener; zero: nothing was told so far. */
struct start_place {
    bool is_set;
    uint64_t told;
    uint64_t gaps;
};

NODISCARD struct start_board *start_board_new(void);
void start_board_free(struct start_board *board); /* NULL is allowed */
/* As if it were new, but numbers go on. */
void start_board_clear(struct start_board *board);

/* What runs, as `task.running` tells it. */
void start_board_look(struct start_board *board, const json_t *response);
/*
 * What started and passes, at most `most`, and a word that there is more where some are left out.
 * True: something was added.
 */
bool start_board_tell(const struct start_board *board, const struct event_filter *filter,
                      size_t most, struct start_place *place, struct strbuf *out);
