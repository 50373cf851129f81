/*
 * Events in pages: what is on a page, how many there are, and where looking ends.
 */
#include "base/str.h"
#include "model/event_kind.h"
#include "service_fixture.h"
#include "store/db.h"

/* So many events of which every hundredth is a pool that was deleted. */
static void make_events(struct world *world, int64_t count)
{
    static const char MAKE[] =
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)"
        " INSERT INTO event (id, at_us, kind, actor, data) SELECT i, 1000000 * i,"
        " CASE WHEN i % 100 = 0 THEN $2 ELSE $3 END, 'ann', '{}' FROM n";
    struct err err = {0};
    CLEANUP(mem_freep) char *url = service_store_url(&world->service);
    CLEANUP(db_closep) struct db *db = NULL;
    EXPECT_OK(db_open(url, DB_READ_WRITE, &db, &err), &err);
    EXPECT_OK(db_do(db, &err, "DELETE FROM event", ""), &err);
    EXPECT_OK(
        db_do(db, &err, MAKE, "iii", count, (int64_t)EVENT_POOL_DELETED, (int64_t)EVENT_POOL_SET),
        &err);
}

/* The same events, of a task of a run that are not there. */
static void make_task_events(struct world *world)
{
    struct err err = {0};
    CLEANUP(mem_freep) char *url = service_store_url(&world->service);
    CLEANUP(db_closep) struct db *db = NULL;
    EXPECT_OK(db_open(url, DB_READ_WRITE, &db, &err), &err);
    EXPECT_OK(db_do(db, &err, "UPDATE event SET run = 12345, task = 67890", ""), &err);
}

struct page {
    size_t count;
    int64_t first; /* id of the first event; 0: there is none */
    int64_t total;
    bool is_more;
};

static struct page ask(struct world *world, const char *request)
{
    CLEANUP(json_decrefp) json_t *answer = call_ok(world, "event.log", request);
    const json_t *events = json_object_get(answer, "events");
    struct page page = {
        .count = json_array_size(events),
        .total = json_get_int(answer, "total_entries", -1),
        .is_more = json_get_bool(answer, "total_is_more", false),
    };
    cr_assert(str_parse_i64(json_get_string(json_array_get(events, 0), "id", "0"), 0, INT64_MAX,
                            &page.first));
    return page;
}

static void expect_page(struct world *world, const char *request, struct page wanted)
{
    struct page page = ask(world, request);
    cr_expect_eq(page.count, wanted.count, "%s: %zu events", request, page.count);
    cr_expect_eq(page.first, wanted.first, "%s: first %lld", request, (long long)page.first);
    cr_expect_eq(page.total, wanted.total, "%s: total %lld", request, (long long)page.total);
    cr_expect_eq(page.is_more, wanted.is_more, "%s: more", request);
}

Test(op_event_log, few_events_are_counted_to_the_last)
{
    struct world world;
    world_init(&world);
    make_events(&world, 2500);

    expect_page(&world, "{}", (struct page){100, 2500, 2500, false});
    expect_page(&world, "{\"limit\":0}", (struct page){0, 0, 2500, false});
    expect_page(&world, "{\"limit\":7,\"offset\":2495}", (struct page){5, 5, 2500, false});
    expect_page(&world, "{\"limit\":7,\"offset\":9000}", (struct page){0, 0, 2500, false});
    expect_page(&world, "{\"limit\":3,\"offset\":1000,\"order_by\":\"id\"}",
                (struct page){3, 1001, 2500, false});
    expect_page(&world, "{\"kinds\":[\"pool_deleted\"],\"limit\":3}",
                (struct page){3, 2500, 25, false});
    expect_page(&world, "{\"kinds\":[\"pool_deleted\"],\"limit\":3,\"offset\":23}",
                (struct page){2, 200, 25, false});
    expect_page(&world, "{\"without\":[\"pool_deleted\"],\"limit\":1}",
                (struct page){1, 2499, 2475, false});
    expect_page(&world, "{\"actor\":\"bob\"}", (struct page){0, 0, 0, false});
    expect_page(&world, "{\"try_number\":0}", (struct page){0, 0, 0, false});
    expect_page(&world, "{\"dag\":\"nothing\"}", (struct page){0, 0, 0, false});
    expect_page(&world, "{\"task\":\"nothing\"}", (struct page){0, 0, 0, false});
    expect_page(&world, "{\"id\":\"17\"}", (struct page){1, 17, 1, false});
    world_fini(&world);
}

Test(op_event_log, many_are_counted_up_to_a_bound_behind_the_page)
{
    struct world world;
    world_init(&world);
    make_events(&world, 60000);

    expect_page(&world, "{}", (struct page){100, 60000, 6000, true});
    expect_page(&world, "{\"limit\":1000}", (struct page){1000, 60000, 6000, true});
    expect_page(&world, "{\"limit\":1001}", (struct page){1001, 60000, 7000, true});
    expect_page(&world, "{\"offset\":1000}", (struct page){100, 59000, 7000, true});
    expect_page(&world, "{\"offset\":12345,\"order_by\":\"id\"}",
                (struct page){100, 12346, 18000, true});
    expect_page(&world, "{\"kinds\":[\"pool_deleted\"],\"limit\":10}",
                (struct page){10, 60000, 60, true});
    /* The page is full in the middle of a longer stretch; what is behind it counts no further. */
    expect_page(&world, "{\"kinds\":[\"pool_deleted\"],\"limit\":71,\"order_by\":\"id\"}",
                (struct page){71, 100, 130, true});
    world_fini(&world);
}

Test(op_event_log, looking_ends_somewhere)
{
    struct world world;
    world_init(&world);
    make_events(&world, 60000);

    expect_page(&world, "{\"actor\":\"bob\"}", (struct page){0, 0, 0, true});
    expect_page(&world, "{\"dag\":\"nothing\"}", (struct page){0, 0, 0, true});
    expect_page(&world, "{\"kinds\":[\"pool_deleted\"],\"limit\":1000}",
                (struct page){500, 60000, 500, true});
    expect_page(&world, "{\"offset\":49990}", (struct page){10, 10010, 50000, true});
    expect_page(&world, "{\"limit\":5,\"offset\":70000}", (struct page){0, 0, 50000, true});
    world_fini(&world);
}

/* How many events there are on all pages, and on how many pages. */
static size_t walk(struct world *world, const char *more, size_t *out_pages)
{
    CLEANUP(mem_freep) char *cursor = NULL;
    size_t count = 0;
    for (*out_pages = 1; *out_pages < 1000; ++*out_pages) {
        CLEANUP(mem_freep)
        char *request = cursor != NULL ? mem_format("{%s,\"cursor\":\"%s\"}", more, cursor)
                                       : mem_format("{%s}", more);
        CLEANUP(json_decrefp) json_t *answer = call_ok(world, "event.log", request);
        count += json_array_size(json_object_get(answer, "events"));
        free(cursor);
        cursor = NULL;
        if (json_is_null(json_object_get(answer, "cursor")))
            return count;
        cursor = mem_strdup(json_get_string(answer, "cursor", ""));
    }
    cr_assert(false, "pages without an end");
    return count;
}

Test(op_event_log, a_cursor_goes_on_where_the_page_or_the_search_ended)
{
    struct world world;
    size_t pages = 0;
    world_init(&world);
    make_events(&world, 60000);

    cr_expect_eq(walk(&world, "\"limit\":20000", &pages), 60000);
    cr_expect_eq(pages, 3);
    cr_expect_eq(walk(&world, "\"kinds\":[\"pool_deleted\"],\"limit\":90", &pages), 600);
    cr_expect_eq(
        walk(&world, "\"kinds\":[\"pool_deleted\"],\"limit\":90,\"order_by\":\"id\"", &pages), 600);
    cr_expect_eq(walk(&world, "\"kinds\":[\"pool_deleted\"],\"limit\":1000", &pages), 600);
    cr_expect_eq(pages, 2, "it ends after so many events, and goes on");
    cr_expect_eq(walk(&world, "\"task\":\"nothing\"", &pages), 0);
    cr_expect_eq(pages, 2, "none is of a task");
    make_task_events(&world);
    cr_expect_eq(walk(&world, "\"map_index\":7,\"limit\":20000", &pages), 0);
    cr_expect_gt(pages, 5, "what has to be read costs more, so it ends sooner");
    call_fails(&world, "event.log", "{\"cursor\":\"x\"}", STATUS_INVALID, "no cursor");
    world_fini(&world);
}

Test(op_event_log, the_newest_up_to_a_time_are_found_behind_many_that_are_newer)
{
    struct world world;
    world_init(&world);
    make_events(&world, 90000);

    /* Event i happened i seconds after the beginning of 1970. */
    struct page page = ask(&world, "{\"when_to\":\"1970-01-01T01:00:00Z\",\"limit\":5}");
    cr_expect_eq(page.count, 5);
    cr_expect_eq(page.first, 3600);
    world_fini(&world);
}
