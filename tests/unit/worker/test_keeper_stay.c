#include "expect.h"
#include "worker/keeper_stay.h"

enum { SECOND = 1000 * 1000, NOW = 5 * SECOND };

static struct keeper_stay stay;

static void set_up(void)
{
    keeper_stay_init(&stay, NOW);
    keeper_stay_greeted(&stay, 10 * 1000, 100 * 1000);
}

TestSuite(keeper_stay, .init = set_up);

static int64_t until(size_t tasks, size_t ends, int64_t now_us)
{
    struct keeper_stay_load load = {.tasks = tasks, .ends = ends};
    return keeper_stay_until_us(&stay, &load, now_us);
}

Test(keeper_stay, with_a_daemon_it_never_leaves)
{
    keeper_stay_served(&stay);
    cr_assert_eq(until(0, 0, NOW + 999 * (int64_t)SECOND), INT64_MAX);
}

Test(keeper_stay, with_nothing_to_do_it_lingers_from_when_that_began)
{
    cr_assert_eq(until(0, 0, NOW), NOW + 10 * SECOND);
    cr_assert_eq(until(0, 0, NOW + SECOND), NOW + 10 * SECOND);
    keeper_stay_served(&stay);
    keeper_stay_alone(&stay, NOW + 20 * SECOND);
    cr_assert_eq(until(1, 0, NOW + 20 * SECOND), NOW + 120 * SECOND);
    cr_assert_eq(until(0, 1, NOW + 21 * SECOND), NOW + 120 * SECOND);
    cr_assert_eq(until(0, 0, NOW + 30 * SECOND), NOW + 40 * SECOND);
    cr_assert_eq(until(0, 0, NOW + 31 * SECOND), NOW + 40 * SECOND);
}

Test(keeper_stay, the_bound_holds_whatever_there_is)
{
    cr_assert_eq(until(1, 1, NOW), NOW + 100 * SECOND);
    cr_assert_eq(until(0, 0, NOW + 95 * SECOND), NOW + 100 * SECOND);
}

Test(keeper_stay, after_another_version_only_running_tasks_keep_it)
{
    stay.outdated = true;
    cr_assert_eq(until(1, 1, NOW), NOW + 100 * SECOND);
    cr_assert_eq(until(0, 1, NOW), NOW);
    keeper_stay_greeted(&stay, 0, 0);
    cr_assert_eq(until(0, 1, NOW), NOW + KEEPER_STAY_ALONE_MS_MAX * 1000LL);
    cr_assert_eq(until(0, 0, NOW), NOW + KEEPER_STAY_LINGER_MS * 1000LL);
}
