#pragma once
/*
 * cron: cron expressions and the times they name, on clocks without a zone. Pure.
 *
 * Five fields (minute, hour, day of month, month, day of week), or six with seconds first, or a
 * preset such as @daily. Names, lists, steps and ranges, also backwards over the end (FRI-MON,
 * 22-2); `L` the last day of the month, `L-3` three days before it, `15W` the weekday nearest to
 * the 15th, `LW` the last weekday; `5L` or `FRIL` the last Friday, `1#2` or `MON#2` the second
 * Monday; `?` as `*`. When day of month and day of week both leave days out, a day that either
 * names will do, as in every crontab.
 *
 * Times are seconds since 1970-01-01 00:00 as a clock shows them ("shown"), with no gaps and
 * no repeats; model/wall.h lays them over a zone.
 *
 * Tests  tests/unit/model/test_cron.c, tests/fuzz/fuzz_cron.c, tests/oracle
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"

/* Bit n of a set stands for the number n. */
struct cron {
    uint64_t seconds;
    uint64_t minutes;
    uint64_t hours;
    uint64_t months;          /* 1 to 12 */
    uint64_t days;            /* 1 to 31 */
    uint64_t days_from_end;   /* L is 0, L-3 is 3 */
    uint64_t days_near;       /* 15W */
    uint64_t weekdays;        /* Sunday is 0 */
    uint64_t weekdays_last;   /* 5L */
    uint64_t weekdays_nth[5]; /* 1#2 is bit 1 of [1] */
    bool last_weekday;        /* LW */
    bool days_any;            /* all days of the month */
    bool weekdays_any;        /* all days of the week */
};

/*
 * STATUS_INVALID says what is wrong and what to do, and *out_offset the byte where; a day that
 * never comes, such as 30 February, is wrong too.
 */
NODISCARD enum status cron_parse(const char *text, struct cron *out, size_t *out_offset,
                                 struct err *err);

/* Whether it names every hour: its ticks then follow elapsed time rather than the clock. */
bool cron_is_every_hour(const struct cron *cron);

/* The first and the last time in [from_s, to_s). False when there is none. */
NODISCARD bool cron_first(const struct cron *cron, int64_t from_s, int64_t to_s, int64_t *out_s);
NODISCARD bool cron_last(const struct cron *cron, int64_t from_s, int64_t to_s, int64_t *out_s);
