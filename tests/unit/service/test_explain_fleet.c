#include "expect.h"
#include "service/explain_fleet.h"

static struct fleet_answer ask(const struct fleet_host *hosts, size_t count, const char *queue,
                               const char *labels, int64_t max_share)
{
    const struct fleet_want want = {queue, labels, max_share};
    return fleet_ask((struct fleet_hosts){hosts, count}, &want);
}

static const struct fleet_host HOSTS[] = {
    {.name = "all", .labels = "", .queues = "", .slots = 4, .holds = 4, .sharing = 2},
    {.name = "gpu", .labels = "eu gpu", .queues = "default side", .slots = 2, .holds = 1},
    {.name = "old", .labels = "ssd", .queues = "", .slots = 8, .is_draining = true},
};

Test(explain_fleet, each_number_counts_among_those_before_it)
{
    struct fleet_answer any = ask(HOSTS, 3, "default", "", 0);
    cr_assert_eq(any.living, 3);
    cr_assert_eq(any.serving, 3);
    cr_assert_eq(any.able, 3);
    cr_assert_eq(any.taking, 2);
    cr_assert_eq(any.slots, 6);
    cr_assert_eq(any.holds, 5);

    struct fleet_answer other = ask(HOSTS, 3, "other", "gpu", 0);
    cr_assert_eq(other.serving, 2, "one serves only two queues by name");
    cr_assert_eq(other.able, 0);

    struct fleet_answer label = ask(HOSTS, 3, "side", "gpu", 0);
    cr_assert_eq(label.able, 1);
    cr_assert_eq(label.slots, 2);
    cr_assert_eq(ask(HOSTS, 3, "side", "gpu us", 0).able, 0, "every label counts");

    struct fleet_answer drained = ask(HOSTS, 3, "default", "ssd", 0);
    cr_assert_eq(drained.able, 1);
    cr_assert_eq(drained.taking, 0);
    EXPECT_STR("old", drained.drainer);
    cr_assert_null(drained.stopper);
    cr_assert_eq(ask(NULL, 0, "default", "", 0).living, 0);
}

Test(explain_fleet, one_that_stops_is_told_apart)
{
    static const struct fleet_host GOING[] = {
        {.name = "goes", .labels = "", .queues = "", .is_draining = true, .is_stopping = true},
        {.name = "rests", .labels = "ssd", .queues = "", .is_draining = true},
    };
    struct fleet_answer both = ask(GOING, 2, "default", "", 0);
    cr_assert_eq(both.taking, 0);
    EXPECT_STR("goes", both.stopper);
    EXPECT_STR("rests", both.drainer);
    cr_assert_null(ask(GOING, 1, "default", "", 0).drainer);
}

Test(explain_fleet, a_share_has_room_where_one_host_has)
{
    cr_assert(ask(HOSTS, 1, "default", "", 0).has_share_room, "without a share nothing is bound");
    struct fleet_answer full = ask(HOSTS, 1, "default", "", 50);
    cr_assert_not(full.has_share_room);
    cr_assert_eq(full.share, 2);
    cr_assert_eq(full.sharing, 2);
    cr_assert(ask(HOSTS, 1, "default", "", 75).has_share_room);
    cr_assert(ask(HOSTS, 2, "default", "", 50).has_share_room, "the second host has none running");
}

Test(explain_fleet, more_than_a_host_has_slots_for_is_not_counted)
{
    /* After a restart with fewer slots, and of tasks that need none. */
    const struct fleet_host small[] = {
        {.name = "s", .labels = "", .queues = "", .slots = 2, .holds = 5, .sharing = 4},
        {.name = "t", .labels = "", .queues = "", .slots = 2, .holds = 0},
    };
    struct fleet_answer answer = ask(small, 2, "default", "", 50);
    cr_assert_eq(answer.holds, 2);
    cr_assert_eq(answer.sharing, 1);
}
