/*
 * When a file has arrived: decisions over made-up looks and clocks.
 */
#include "expect.h"
#include "sched/settling.h"

enum { SETTLE_MS = 100 };

/* Steady time begins at 0 where wall time is this. */
static const int64_t WALL_US = 1000000000;

static struct settling_now at(int64_t ms)
{
    return (struct settling_now){.wall_us = WALL_US + ms * 1000, .mono_us = ms * 1000};
}

static struct file_stamp look(int64_t changed_ms, int64_t bytes)
{
    int64_t at_ns = (WALL_US + changed_ms * 1000) * 1000;
    return (struct file_stamp){.mtime_ns = at_ns, .ctime_ns = at_ns, .size = bytes, .inode = 7};
}

static struct settling *make(int64_t since_ms)
{
    const struct settling_rules rules = {SETTLE_MS, WALL_US + since_ms * 1000};
    return settling_new(&rules);
}

static void note(struct settling *settling, const char *name, struct file_stamp seen,
                 int64_t now_ms)
{
    settling_note(settling, name, &seen, at(now_ms));
}

static bool arrives(struct settling *settling, const char *name, struct file_stamp seen,
                    int64_t now_ms)
{
    return settling_arrives(settling, name, &seen, at(now_ms));
}

Test(settling, a_file_arrives_once_when_it_has_not_changed_for_the_time)
{
    struct settling *settling = make(0);
    note(settling, "a", look(10, 1), 10);
    cr_assert_eq(settling_next_us(settling), 110000);
    cr_assert_null(settling_due(settling, 109999));
    cr_assert(!arrives(settling, "a", look(10, 1), 109));
    EXPECT_STR("a", settling_due(settling, 110000));
    cr_assert(arrives(settling, "a", look(10, 1), 110));
    cr_assert(!arrives(settling, "a", look(10, 1), 300));
    cr_assert_null(settling_due(settling, 999999));
    cr_assert_eq(settling_next_us(settling), INT64_MAX);
    note(settling, "a", look(10, 1), 400);
    cr_assert_eq(settling_next_us(settling), INT64_MAX, "it is as it was");
    settling_free(settling);
}

Test(settling, a_file_that_grows_begins_anew)
{
    struct settling *settling = make(0);
    note(settling, "a", look(10, 1), 10);
    cr_assert(!arrives(settling, "a", look(100, 2), 110));
    cr_assert_eq(settling_next_us(settling), 200000, "counted from its last change");
    cr_assert(arrives(settling, "a", look(100, 2), 200));
    note(settling, "a", look(300, 2), 300);
    cr_assert(arrives(settling, "a", look(300, 2), 400), "written anew it arrives again");
    settling_free(settling);
}

Test(settling, what_did_not_change_for_long_arrives_at_once_and_a_clock_ahead_waits_its_time)
{
    struct settling *settling = make(0);
    note(settling, "old", look(5, 1), 1000);
    cr_assert_eq(settling_next_us(settling), 1000000);
    cr_assert(arrives(settling, "old", look(5, 1), 1000));
    note(settling, "ahead", look(5000, 1), 1000);
    cr_assert_eq(settling_next_us(settling), 1100000);
    settling_free(settling);
}

Test(settling, what_was_there_before_does_not_count_until_it_changes)
{
    struct settling *settling = make(500);
    note(settling, "a", look(470, 1), 600);
    cr_assert_eq(settling_next_us(settling), INT64_MAX);
    note(settling, "a", look(700, 1), 700);
    cr_assert(arrives(settling, "a", look(700, 1), 800));
    note(settling, "late clock", look(490, 1), 801);
    cr_assert(arrives(settling, "late clock", look(490, 1), 801));
    settling_free(settling);
}

Test(settling, what_is_gone_is_forgotten)
{
    struct settling *settling = make(0);
    note(settling, "a", look(10, 1), 10);
    note(settling, "b", look(10, 1), 10);
    settling_note(settling, "a", NULL, at(20));
    EXPECT_STR("b", settling_due(settling, 200000));
    settling_begin_scan(settling);
    note(settling, "c", look(30, 1), 30);
    settling_end_scan(settling);
    EXPECT_STR("c", settling_due(settling, 200000));
    cr_assert(arrives(settling, "c", look(30, 1), 200));
    cr_assert_null(settling_due(settling, 999999));
    cr_assert(!arrives(settling, "b", look(10, 1), 300));
    settling_free(settling);
}
