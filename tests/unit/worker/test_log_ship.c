/*
 * Logs on their way from a host's directory into the store.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "blob/store_blob.h"
#include "os/file.h"
#include "os/file_tree.h"
#include "store_bench.h"
#include "worker/local_logs.h"
#include "worker/log_ship.h"

enum { WAIT_US = 30 * 1000000, PATIENCE_MS = 30000 };

static struct bench_store bench;
static char dir[64];
static struct blob *local;
static struct spare *spare; /* of the ship */

static void setup(void)
{
    struct err err = {0};
    bench = (struct bench_store){0};
    bench_open(&bench);
    (void)snprintf(dir, sizeof dir, "/tmp/eider-ship-XXXXXX");
    cr_assert_not_null(mkdtemp(dir));
    EXPECT_OK(blob_open_directory(dir, &local, &err), &err);
}

static void teardown(void)
{
    struct err err = {0};
    blob_close(local);
    bench_close(&bench);
    int tmp = -1;
    EXPECT_OK(file_open_directory("/tmp", &tmp, &err), &err);
    EXPECT_OK(file_tree_remove(tmp, dir + 5, &err), &err);
    file_closep(&tmp);
}

TestSuite(log_ship, .init = setup, .fini = teardown, .timeout = 100);

static struct log_ship *start(const char *url)
{
    struct err err = {0};
    struct log_ship *ship = NULL;
    spare = spare_new(&(struct store_options){.url = url});
    struct log_ship_options options = {
        .spare = spare, .directory = dir, .interval_ms = 50, .settle_ms = 50};
    EXPECT_OK(log_ship_start(&options, &ship, &err), &err);
    return ship;
}

static bool stop(struct log_ship *ship, int64_t wait_ms)
{
    bool is_all_there = log_ship_stop(ship, wait_ms);
    spare_free(TAKE(spare));
    return is_all_there;
}

/* What a task would have printed: different at every offset. */
static char letter(uint64_t offset)
{
    return (char)('a' + (offset * 7 + offset / 1000) % 26);
}

static void write_local(const struct blob_key *key, uint64_t from, size_t length)
{
    struct err err = {0};
    CLEANUP(mem_freep) char *bytes = mem_alloc(length + 1);
    for (size_t i = 0; i < length; i++)
        bytes[i] = letter(from + i);
    CLEANUP(blob_handle_closep) struct blob_handle *file = NULL;
    EXPECT_OK(blob_open(local, key, BLOB_APPEND, &file, &err), &err);
    EXPECT_OK(blob_append(file, bytes, length, &err), &err);
}

static struct store_blob_state state_of(const struct blob_key *key)
{
    struct err err = {0};
    struct store_blob_state state = {0};
    EXPECT_OK(store_blob_state(bench.store, key, &state, &err), &err);
    return state;
}

static void wait_for(const struct blob_key *key, uint64_t size, bool sealed)
{
    int64_t until_us = clock_mono_us() + WAIT_US;
    for (;;) {
        struct store_blob_state state = state_of(key);
        if (state.size >= size && state.is_sealed == sealed)
            return;
        cr_assert(clock_mono_us() < until_us, "%llu bytes came, not %llu",
                  (unsigned long long)state.size, (unsigned long long)size);
        (void)usleep(1000);
    }
}

static void expect_stored(const struct blob_key *key, uint64_t size)
{
    struct err err = {0};
    struct blob *shared = NULL;
    blob_open_store(bench.store, &shared);
    CLEANUP(mem_freep) char *bytes = mem_alloc(size + 1);
    struct blob_handle *log = NULL;
    size_t got = 0;
    bool sealed = false;
    EXPECT_OK(blob_open(shared, key, BLOB_READ, &log, &err), &err);
    EXPECT_OK(blob_range(log, 0, bytes, size + 1, &got, &err), &err);
    EXPECT_OK(blob_is_sealed(log, &sealed, &err), &err);
    cr_assert_eq(got, size);
    cr_assert(sealed);
    for (uint64_t i = 0; i < size; i++)
        cr_assert_eq(bytes[i], letter(i), "byte %llu", (unsigned long long)i);
    blob_handle_close(log);
    blob_close(shared);
}

static bool is_local(const struct blob_key *key)
{
    char path[160], text[BLOB_KEY_TEXT_MAX];
    (void)snprintf(path, sizeof path, "%s/%s", dir, blob_key_format(key, text));
    return access(path, F_OK) == 0;
}

static size_t local_entries(void)
{
    struct err err = {0};
    CLEANUP(file_closep) int fd = -1;
    CLEANUP(file_tree_list_fini) struct file_tree_list list = {0};
    EXPECT_OK(file_open_directory(dir, &fd, &err), &err);
    EXPECT_OK(file_tree_list(fd, 1000, &list, &err), &err);
    return list.count;
}

Test(log_ship, a_log_is_followed_while_it_grows_and_leaves_when_it_ended)
{
    struct blob_key key = local_logs_key(0, 5, 1);
    struct blob_key index = {.kind = BLOB_LOG_INDEX, .ids = {0, 5, 1}, .id_count = 3};
    struct log_ship *ship = start(bench.url);
    log_ship_follow(ship, 0, 5, 1);
    write_local(&key, 0, 10);
    write_local(&index, 0, 24);
    wait_for(&key, 10, false);
    write_local(&key, 10, 300000);
    wait_for(&key, 300010, false);
    cr_assert(is_local(&key));

    write_local(&key, 300010, 5);
    log_ship_ended(ship, 0, 5, 1);
    wait_for(&key, 300015, true);
    cr_assert(stop(ship, PATIENCE_MS));
    expect_stored(&key, 300015);
    cr_assert_eq(local_entries(), 0);
}

Test(log_ship, many_short_logs_and_silent_ones_arrive)
{
    enum { LOGS = 300 };
    struct log_ship *ship = start(bench.url);
    for (int i = 1; i <= LOGS; i++) {
        struct blob_key key = local_logs_key(3, i, 2);
        log_ship_follow(ship, 3, i, 2);
        if (i % 3 != 0)
            write_local(&key, 0, (size_t)i * 10);
        log_ship_ended(ship, 3, i, 2);
    }
    cr_assert(stop(ship, PATIENCE_MS));

    for (int i = 1; i <= LOGS; i++) {
        struct blob_key key = local_logs_key(3, i, 2);
        if (i % 3 != 0)
            expect_stored(&key, (uint64_t)i * 10);
        else
            cr_assert_not(state_of(&key).exists);
    }
    cr_assert_eq(local_entries(), 0);
}

/* A database that cannot be used until `make_place`. */
struct away {
    char place[80];
    char url[600];
};

static struct away away_new(void)
{
    struct away away;
    if (db_bench_is_postgres()) {
        char option[128];
        (void)snprintf(away.place, sizeof away.place, "later_%d", (int)getpid());
        (void)snprintf(option, sizeof option, "options=-csearch_path%%3D%s", away.place);
        db_bench_url(db_bench_server(), option, away.url, sizeof away.url);
    } else {
        (void)snprintf(away.place, sizeof away.place, "%s/later", bench.dir);
        (void)snprintf(away.url, sizeof away.url, "sqlite:%s/eider.db", away.place);
    }
    return away;
}

static void make_place(const struct away *away)
{
    char sql[128];
    (void)snprintf(sql, sizeof sql, "CREATE SCHEMA %s", away->place);
    if (db_bench_is_postgres())
        db_bench_script(db_bench_server(), sql);
    else
        cr_assert_eq(mkdir(away->place, 0700), 0);
}

static void remove_place(const struct away *away)
{
    struct err err = {0};
    char sql[128];
    (void)snprintf(sql, sizeof sql, "DROP SCHEMA %s CASCADE", away->place);
    if (db_bench_is_postgres()) {
        db_bench_script(db_bench_server(), sql);
        return;
    }
    CLEANUP(file_closep) int fd = -1;
    EXPECT_OK(file_open_directory(bench.dir, &fd, &err), &err);
    EXPECT_OK(file_tree_remove(fd, "later", &err), &err);
}

Test(log_ship, logs_wait_until_the_store_is_there)
{
    struct err err = {0};
    struct away away = away_new();
    struct blob_key key = local_logs_key(1, 1, 1);
    struct log_ship *ship = start(away.url);
    log_ship_follow(ship, 1, 1, 1);
    write_local(&key, 0, 70000);
    log_ship_ended(ship, 1, 1, 1);
    cr_assert_not(stop(ship, 300));
    cr_assert(is_local(&key));

    ship = start(away.url);
    log_ship_ended(ship, 1, 1, 1);
    make_place(&away);
    cr_assert(stop(ship, PATIENCE_MS));
    store_close(bench.store);
    EXPECT_OK(store_open(&(struct store_options){.url = away.url}, &bench.store, &err), &err);
    expect_stored(&key, 70000);
    cr_assert_not(is_local(&key));
    store_close(TAKE(bench.store));
    remove_place(&away);
}

/* One task that a host has claimed. */
static struct claim claim_one(void)
{
    bench_start(&bench, "{\"tasks\": {\"a\": {\"run\": \"x\"}}}");
    struct advance_result result = bench_advance(&bench, NULL, 0, 1);
    cr_assert_eq(result.claims_count, 1);
    return result.claims[0];
}

Test(log_ship, leftovers_are_found_and_leave_when_their_attempt_is_over)
{
    struct claim claim = claim_one();
    struct blob_key key = local_logs_key(claim.run, claim.task, claim.attempt);
    struct blob_key deleted = local_logs_key(77, 777777, 1);
    write_local(&key, 0, 1000);
    write_local(&deleted, 0, 1000);
    struct log_ship *ship = start(bench.url);
    wait_for(&key, 1000, false);
    write_local(&key, 1000, 1000);
    wait_for(&key, 2000, false);

    struct outcome outcome = bench_outcome(&claim, 0);
    (void)bench_advance(&bench, &outcome, 1, 0);
    wait_for(&key, 2000, true);
    cr_assert(stop(ship, PATIENCE_MS));
    expect_stored(&key, 2000);
    cr_assert_eq(local_entries(), 0);
    cr_assert_not(state_of(&deleted).exists);
}

Test(log_ship, a_log_that_was_deleted_does_not_come_back)
{
    struct err err = {0};
    struct blob_key key = local_logs_key(4, 4, 1);
    struct log_ship *ship = start(bench.url);
    log_ship_follow(ship, 4, 4, 1);
    write_local(&key, 0, 100);
    wait_for(&key, 100, false);
    struct blob *shared = NULL;
    blob_open_store(bench.store, &shared);
    EXPECT_OK(blob_delete_all(shared, (const int64_t[]){4}, 1, &err), &err);
    blob_close(shared);
    write_local(&key, 100, 100);
    log_ship_ended(ship, 4, 4, 1);
    cr_assert(stop(ship, PATIENCE_MS));
    cr_assert_not(state_of(&key).exists);
    cr_assert_not(is_local(&key));
}

/* Of another writer with the same key: never mixed, and kept where it is. */
Test(log_ship, bytes_that_are_in_the_store_already_are_not_replaced)
{
    struct err err = {0};
    struct blob_key key = local_logs_key(4, 4, 1);
    struct store_blob_piece other = {.key = key, .bytes = "other", .length = 5, .ends = true};
    EXPECT_OK(store_blob_append(bench.store, &other, 1, &err), &err);
    write_local(&key, 0, 8);
    struct log_ship *ship = start(bench.url);
    log_ship_ended(ship, 4, 4, 1);
    cr_assert(stop(ship, PATIENCE_MS));
    cr_assert_eq(state_of(&key).size, 5);
    cr_assert(is_local(&key));
}

static void ship_until_killed(void)
{
    cr_assert_eq(prctl(PR_SET_PDEATHSIG, SIGKILL), 0);
    struct log_ship *ship = start(bench.url);
    for (int i = 1; i <= 3; i++)
        log_ship_follow(ship, 9, i, 1);
    for (;;)
        (void)pause();
}

/* Killed at a moment of chance, again and again; then everything is there, once. */
Test(log_ship, killing_it_loses_nothing_and_doubles_nothing)
{
    enum { LOGS = 3, ROUNDS = 8 };
    uint64_t sizes[LOGS + 1] = {0};
    for (int round = 0; round < ROUNDS; round++) {
        pid_t child = fork();
        if (child == 0)
            ship_until_killed();
        for (int step = 0; step < 20; step++)
            for (int i = 1; i <= LOGS; i++) {
                struct blob_key key = local_logs_key(9, i, 1);
                size_t length = (size_t)(i * 7919 + step * 1009 + round);
                write_local(&key, sizes[i], length);
                sizes[i] += length;
            }
        struct blob_key first = local_logs_key(9, 1, 1);
        wait_for(&first, sizes[1] * (uint64_t)(round + 1) / (ROUNDS + 1), false);
        cr_assert_eq(kill(child, SIGKILL), 0);
        cr_assert_eq(waitpid(child, NULL, 0), child);
    }

    struct log_ship *ship = start(bench.url);
    for (int i = 1; i <= LOGS; i++)
        log_ship_ended(ship, 9, i, 1);
    cr_assert(stop(ship, PATIENCE_MS));
    for (int i = 1; i <= LOGS; i++) {
        struct blob_key key = local_logs_key(9, i, 1);
        expect_stored(&key, sizes[i]);
    }
    cr_assert_eq(local_entries(), 0);
}

/* Connections that break at any moment: what was not answered is sent again, once. */
Test(log_ship, a_connection_that_breaks_loses_nothing_and_doubles_nothing)
{
    if (!db_bench_is_postgres())
        cr_skip_test("there is no connection that could break");
    char url[600], name[64], sql[256];
    (void)snprintf(name, sizeof name, "application_name=ship_%d", (int)getpid());
    db_bench_url(bench.url, name, url, sizeof url);
    (void)snprintf(sql, sizeof sql,
                   "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                   " WHERE application_name = 'ship_%d'",
                   (int)getpid());
    struct blob_key key = local_logs_key(2, 2, 1);
    struct log_ship *ship = start(url);
    log_ship_follow(ship, 2, 2, 1);
    uint64_t size = 0;
    for (int round = 0; round < 15; round++) {
        for (int step = 0; step < 10; step++, size += 30011)
            write_local(&key, size, 30011);
        db_bench_script(db_bench_server(), sql);
        wait_for(&key, size / 2, false);
    }
    log_ship_ended(ship, 2, 2, 1);
    db_bench_script(db_bench_server(), sql);
    cr_assert(stop(ship, PATIENCE_MS));
    expect_stored(&key, size);
    cr_assert_eq(local_entries(), 0);
}
