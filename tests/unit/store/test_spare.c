/* One store for several threads, connected only while it is used. */
#include <stdio.h>
#include <unistd.h>

#include "os/thread.h"
#include "store/queue.h"
#include "store/spare.h"
#include "store/store_priv.h"
#include "store_bench.h"

enum { THREADS = 4, ROUNDS = 25, LONG_MS = 3600000 };

static struct bench_store bench;
static char url[600];

static void setup(void)
{
    bench_open(&bench);
    (void)snprintf(url, sizeof url, "%s", bench.url);
    char name[64];
    (void)snprintf(name, sizeof name, "application_name=spare_%d", (int)getpid());
    if (db_bench_is_postgres())
        db_bench_url(bench.url, name, url, sizeof url);
}

static void teardown(void)
{
    bench_close(&bench);
}

TestSuite(spare, .init = setup, .fini = teardown, .timeout = 60);

/* Connections of the spare that the server knows of; a file has none. */
static int64_t connections(void)
{
    static const char COUNT[] = "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1";
    char name[64];
    int64_t count = 0;
    struct err err = {0};
    (void)snprintf(name, sizeof name, "spare_%d", (int)getpid());
    if (db_bench_is_postgres())
        EXPECT_OK(db_get_int(bench.store->db, 0, &count, &err, COUNT, "t", name), &err);
    return count;
}

/* A backend may be seen for a moment after its client has left. */
static void wait_for_connections(int64_t wanted)
{
    while (db_bench_is_postgres() && connections() != wanted)
        (void)usleep(1000);
}

static void use(struct spare *spare)
{
    struct err err = {0};
    struct store *store = NULL;
    struct store_info info;
    EXPECT_OK(spare_take(spare, &store, &err), &err);
    EXPECT_OK(store_describe(store, &info, &err), &err);
    spare_give(spare);
}

Test(spare, it_connects_when_it_is_used_and_lets_go_when_it_is_not)
{
    struct spare *spare = spare_new(&(struct store_options){.url = url});
    spare_rest(spare, 0);
    cr_assert_eq(connections(), 0);

    use(spare);
    wait_for_connections(1);
    spare_rest(spare, LONG_MS);
    use(spare);
    cr_assert_eq(connections(), db_bench_is_postgres() ? 1 : 0);

    spare_rest(spare, 0);
    wait_for_connections(0);
    use(spare);
    wait_for_connections(1);
    spare_free(spare);
}

Test(spare, nobody_rests_what_another_has)
{
    struct err err = {0};
    struct store *store = NULL;
    struct spare *spare = spare_new(&(struct store_options){.url = url});
    EXPECT_OK(spare_take(spare, &store, &err), &err);
    EXPECT_OK(db_begin(store->db, &err), &err);

    spare_rest(spare, 0);

    EXPECT_OK(db_commit(store->db, &err), &err);
    spare_give(spare);
    spare_free(spare);
}

Test(spare, a_store_that_is_away_leaves_the_turn_to_others)
{
    struct err err = {0};
    struct store *store = NULL;
    struct spare *spare = spare_new(&(struct store_options){.url = "sqlite:/nowhere/at/all.db"});
    for (int i = 0; i < 2; i++)
        cr_assert_neq(spare_take(spare, &store, &err), STATUS_OK);
    cr_assert_null(store);
    spare_free(spare);
}

struct raising {
    struct spare *spare;
    int64_t priority; /* the greatest so far: of whoever has the spare */
};

/* Each reads what the last one wrote, whichever thread that was. */
static void raise_priority(void *context)
{
    struct raising *raising = context;
    for (int i = 0; i < ROUNDS; i++) {
        struct err err = {0};
        struct store *store = NULL;
        EXPECT_OK(spare_take(raising->spare, &store, &err), &err);
        int64_t priority = ++raising->priority;
        struct queue_change change = {.name = "shared", .max_running = &priority, .actor = "test"};
        EXPECT_OK(store_queue_set(store, &change, true, &err), &err);
        store_rest(store, i % 5 == 0 ? 0 : LONG_MS);
        spare_give(raising->spare);
    }
}

Test(spare, threads_use_it_one_after_the_other)
{
    struct err err = {0};
    struct raising raising = {.spare = spare_new(&(struct store_options){.url = url})};
    struct thread *threads[THREADS] = {0};
    for (size_t i = 0; i < THREADS; i++)
        EXPECT_OK(thread_start("raise", raise_priority, &raising, &threads[i], &err), &err);
    for (size_t i = 0; i < THREADS; i++)
        thread_join(threads[i]);

    int64_t kept = 0;
    EXPECT_OK(db_get_int(bench.store->db, 0, &kept, &err,
                         "SELECT max_running FROM queue WHERE name = 'shared'", ""),
              &err);
    cr_assert_eq(kept, (int64_t)THREADS * ROUNDS);
    spare_free(raising.spare);
}
