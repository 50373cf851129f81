#pragma once
/*
 * clock_watch: notices that the clock which due times go by was set. What is due follows from the
 * clock as it is; but people are told, because runs that come late or all at once have no other
 * cause that they could find.
 */
#include <stdbool.h>
#include <stdint.h>

/*
 * A step is at least that long. A clock that is a little wrong is put right slowly, and that of a
 * database is only known up to half the time that its slowest answer took.
 */
#define CLOCK_STEP_US INT64_C(10000000)

struct clock_look {
    int64_t shown_us;  /* what the clock shows */
    int64_t before_us; /* by the steady clock, before it was read and after that */
    int64_t after_us;
};

/* All zero before the first look. */
struct clock_watch {
    int64_t ahead_us; /* of the steady clock */
    bool has_looked;
};

/* By how much the clock was set since the last look, negative: back; 0: it went on as usual. */
int64_t clock_watch_look(struct clock_watch *watch, const struct clock_look *look);
