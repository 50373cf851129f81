/*
 * What only PostgreSQL has: a server that goes away, other sessions, wake-ups, a pooler.
 */
#include <pthread.h>
#include <signal.h>

#include "base/clock.h"
#include "base/mem.h"
#include "db_bench.h"
#include "pg_between.h"

static struct db_bench place;
static struct db *db;

static void setup(void)
{
    struct err err = {0};
    if (!db_bench_is_postgres())
        cr_skip_test("only on PostgreSQL");
    db_bench_make(&place);
    EXPECT_OK(db_open(place.url, DB_READ_WRITE, &db, &err), &err);
    EXPECT_OK(db_script(db,
                        "CREATE TABLE u (k BIGINT PRIMARY KEY, v BIGINT);"
                        "INSERT INTO u VALUES (1, 10), (2, 20)",
                        &err),
              &err);
}

static void teardown(void)
{
    if (db == NULL)
        return;
    db_close(db);
    db_bench_remove(&place);
}

TestSuite(postgres, .init = setup, .fini = teardown, .timeout = 60);

static const char ADD[] = "INSERT INTO u VALUES ($1, $2)";
static const char SET[] = "UPDATE u SET v = $2 WHERE k = $1";
static const char GET[] = "SELECT v FROM u WHERE k = $1";

static int64_t value_of(struct db *from, int64_t key)
{
    struct err err = {0};
    int64_t value = 0;
    EXPECT_OK(db_get_int(from, -1, &value, &err, GET, "i", key), &err);
    return value;
}

static int64_t backend_of(struct db *of)
{
    struct err err = {0};
    int64_t pid = 0;
    EXPECT_OK(db_get_int(of, 0, &pid, &err, "SELECT pg_backend_pid()", ""), &err);
    return pid;
}

/* End the session of `of` from another one, and wait until it is gone. */
static void terminate(struct db *of, int64_t pid)
{
    struct err err = {0};
    CLEANUP(db_closep) struct db *other = NULL;
    int64_t ended = 0;
    (void)of;
    EXPECT_OK(db_open(place.url, DB_READ_WRITE, &other, &err), &err);
    EXPECT_OK(
        db_get_int(other, 0, &ended, &err, "SELECT pg_terminate_backend($1::int, 5000)", "i", pid),
        &err);
    cr_assert_eq(ended, 1);
}

Test(postgres, a_connection_that_broke_while_idle_is_made_again)
{
    int64_t pid = backend_of(db);
    terminate(db, pid);
    cr_assert_eq(value_of(db, 1), 10);
    cr_assert_neq(backend_of(db), pid);
}

Test(postgres, in_a_transaction_everything_fails_until_its_end)
{
    struct err err = {0};
    EXPECT_OK(db_begin(db, &err), &err);
    EXPECT_OK(db_do(db, &err, SET, "ii", (int64_t)1, (int64_t)11), &err);
    terminate(db, backend_of(db));

    EXPECT_STATUS(STATUS_BUSY, db_do(db, &err, SET, "ii", (int64_t)2, (int64_t)22), &err);
    EXPECT_STATUS(STATUS_BUSY, db_do(db, &err, SET, "ii", (int64_t)2, (int64_t)22), &err);
    EXPECT_STATUS(STATUS_BUSY, db_commit(db, &err), &err);
    db_end(db);

    cr_assert_eq(value_of(db, 1), 10);
    EXPECT_OK(db_begin(db, &err), &err);
    EXPECT_OK(db_do(db, &err, SET, "ii", (int64_t)1, (int64_t)12), &err);
    EXPECT_OK(db_commit(db, &err), &err);
    cr_assert_eq(value_of(db, 1), 12);
}

Test(postgres, a_failed_statement_is_the_failure_of_its_transaction)
{
    struct err err = {0};
    EXPECT_OK(db_begin(db, &err), &err);
    EXPECT_OK(db_do(db, &err, ADD, "ii", (int64_t)3, (int64_t)30), &err);
    EXPECT_STATUS(STATUS_CONFLICT, db_do(db, &err, ADD, "ii", (int64_t)1, (int64_t)0), &err);
    EXPECT_CONTAINS(err.text, "u_pkey");
    EXPECT_STATUS(STATUS_CONFLICT, db_commit(db, &err), &err);
    db_end(db);
    cr_assert_eq(value_of(db, 3), -1);
}

Test(postgres, a_server_that_does_not_answer_is_left_after_a_while)
{
    struct err err = {0};
    pid_t pid = (pid_t)backend_of(db);
    db_set_patience(db, 200);
    EXPECT_OK(db_begin(db, &err), &err);
    cr_assert_eq(kill(pid, SIGSTOP), 0);
    int64_t before = clock_mono_us();
    enum status status = db_do(db, &err, SET, "ii", (int64_t)1, (int64_t)11);
    int64_t took_us = clock_mono_us() - before;
    cr_assert_eq(kill(pid, SIGCONT), 0);

    cr_assert_eq(status, STATUS_BUSY, "%s", err.text);
    EXPECT_CONTAINS(err.text, "no answer in time");
    cr_assert_geq(took_us, 200000);
    db_end(db);
    db_set_patience(db, 10000);
    cr_assert_eq(value_of(db, 1), 10);
}

Test(postgres, a_commit_whose_answer_is_lost_is_unknown)
{
    struct err err = {0};
    CLEANUP(proxy_stop) struct proxy proxy;
    proxy_start(&proxy);
    CLEANUP(mem_freep)
    char *url = mem_format("postgresql://postgres@127.0.0.1:%d/postgres?sslmode=disable&"
                           "options=-csearch_path%%3D%s",
                           proxy.port, place.schema);
    CLEANUP(db_closep) struct db *far = NULL;
    EXPECT_OK(db_open(url, DB_READ_WRITE, &far, &err), &err);

    EXPECT_OK(db_begin(far, &err), &err);
    EXPECT_OK(db_do(far, &err, SET, "ii", (int64_t)1, (int64_t)11), &err);
    proxy.swallow_after = "COMMIT";
    EXPECT_STATUS(STATUS_UNKNOWN, db_commit(far, &err), &err);
    db_end(far);
    cr_assert_eq(value_of(db, 1), 11);

    proxy.swallow_after = "UPDATE u";
    EXPECT_OK(db_begin(far, &err), &err);
    EXPECT_STATUS(STATUS_BUSY, db_do(far, &err, SET, "ii", (int64_t)1, (int64_t)12), &err);
    db_end(far);
    cr_assert_eq(value_of(db, 1), 11);

    /* Alone, a change is its own transaction. */
    EXPECT_STATUS(STATUS_UNKNOWN, db_do(far, &err, SET, "ii", (int64_t)1, (int64_t)13), &err);
    proxy.swallow_after = NULL;
    cr_assert_eq(value_of(far, 2), 20);
}

/* --- two sessions ---------------------------------------------------------------------------- */

struct rival {
    struct db *db;
    int64_t first, second;
    pthread_barrier_t *both_hold_one;
    enum status status;
};

static void *update_two(void *context)
{
    struct rival *rival = context;
    struct err err = {0};
    rival->status = db_begin(rival->db, &err);
    if (rival->status == STATUS_OK)
        rival->status = db_do(rival->db, &err, SET, "ii", rival->first, (int64_t)1);
    (void)pthread_barrier_wait(rival->both_hold_one);
    if (rival->status == STATUS_OK)
        rival->status = db_do(rival->db, &err, SET, "ii", rival->second, (int64_t)2);
    if (rival->status == STATUS_OK)
        rival->status = db_commit(rival->db, &err);
    db_end(rival->db);
    return NULL;
}

Test(postgres, one_of_two_in_a_deadlock_is_told_to_repeat)
{
    struct err err = {0};
    CLEANUP(db_closep) struct db *other = NULL;
    EXPECT_OK(db_open(place.url, DB_READ_WRITE, &other, &err), &err);
    pthread_barrier_t barrier;
    cr_assert_eq(pthread_barrier_init(&barrier, NULL, 2), 0);
    struct rival a = {.db = db, .first = 1, .second = 2, .both_hold_one = &barrier};
    struct rival b = {.db = other, .first = 2, .second = 1, .both_hold_one = &barrier};
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, update_two, &a), 0);
    (void)update_two(&b);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    (void)pthread_barrier_destroy(&barrier);

    cr_assert_eq((a.status == STATUS_OK) + (b.status == STATUS_OK), 1);
    cr_assert_eq((a.status == STATUS_BUSY) + (b.status == STATUS_BUSY), 1);
}

Test(postgres, a_lock_is_waited_for_and_the_guard_sees_the_new_row)
{
    static const char GUARDED[] = "UPDATE u SET v = v + 1 WHERE k = 1 AND v = 10";
    struct err err = {0};
    CLEANUP(db_closep) struct db *other = NULL;
    EXPECT_OK(db_open(place.url, DB_READ_WRITE, &other, &err), &err);
    EXPECT_OK(db_begin(db, &err), &err);
    EXPECT_OK(db_do(db, &err, GUARDED, ""), &err);
    cr_assert_eq(db_changes(db), 1);

    /* Held: the other gives up after its patience. */
    db_set_patience(other, 100);
    EXPECT_OK(db_begin(other, &err), &err);
    EXPECT_STATUS(STATUS_BUSY, db_do(other, &err, GUARDED, ""), &err);
    db_end(other);
    EXPECT_OK(db_commit(db, &err), &err);

    db_set_patience(other, 10000);
    EXPECT_OK(db_begin(other, &err), &err);
    EXPECT_OK(db_do(other, &err, GUARDED, ""), &err);
    cr_assert_eq(db_changes(other), 0);
    db_end(other);
    cr_assert_eq(value_of(db, 1), 11);
}

/* --- wake-ups -------------------------------------------------------------------------------- */

Test(postgres, what_is_notified_is_heard_after_the_commit)
{
    struct err err = {0};
    bool heard = true;
    CLEANUP(db_closep) struct db *listener = NULL;
    CLEANUP(mem_freep) char *channel = mem_format("Ch \"%s", place.schema);
    EXPECT_OK(db_open(place.url, DB_READ_WRITE, &listener, &err), &err);
    EXPECT_OK(db_listen(listener, channel, &err), &err);

    EXPECT_OK(db_begin(db, &err), &err);
    EXPECT_OK(db_notify(db, channel, "x", &err), &err);
    EXPECT_OK(db_wait(listener, -1, 50, &heard, &err), &err);
    cr_assert(!heard);
    EXPECT_OK(db_commit(db, &err), &err);
    EXPECT_OK(db_wait(listener, -1, 10000, &heard, &err), &err);
    cr_assert(heard);
    EXPECT_OK(db_wait(listener, -1, 0, &heard, &err), &err);
    cr_assert(!heard);

    int wake[2];
    cr_assert_eq(pipe(wake), 0);
    cr_assert_eq(write(wake[1], "x", 1), 1);
    EXPECT_OK(db_wait(listener, wake[0], 10000, &heard, &err), &err);
    cr_assert(!heard);
    (void)close(wake[0]);
    (void)close(wake[1]);

    terminate(listener, backend_of(listener));
    EXPECT_OK(db_wait(listener, -1, 10000, &heard, &err), &err);
    cr_assert(heard, "something may have been missed");
    EXPECT_OK(db_notify(db, channel, "x", &err), &err);
    EXPECT_OK(db_wait(listener, -1, 10000, &heard, &err), &err);
    cr_assert(heard, "it listens again");
}

/* --- opening --------------------------------------------------------------------------------- */

Test(postgres, a_wrong_url_is_told_in_plain_words_and_without_the_password)
{
    int port = pg_port();
    db_bench_script(db_bench_server(), "DO $$ BEGIN CREATE ROLE guarded LOGIN PASSWORD 'right';"
                                       " EXCEPTION WHEN duplicate_object THEN NULL; END $$");
    static const struct {
        const char *format;
        enum status wanted;
        const char *part;
    } CASES[] = {
        {"postgresql://guarded:S3cret@127.0.0.1:%d/postgres", STATUS_DENIED, "the password"},
        {"postgresql://nobody@127.0.0.1:%d/postgres", STATUS_DENIED, "create the user"},
        {"postgres://postgres:S3cret@127.0.0.1:%d/nowhere", STATUS_INVALID, "create the database"},
        {"postgresql://postgres:S3cret@127.0.0.1:1/postgres", STATUS_UNREACHABLE, "host and port"},
        {"postgresql://postgres:S3cret@[127.0.0.1:1/postgres", STATUS_INVALID, "percent-encoded"},
        {"postgresql://postgres:S3cret@127.0.0.1/x?S3cret=1", STATUS_INVALID, "percent-encoded"},
        {"postgre://postgres:S3cret@127.0.0.1/x", STATUS_INVALID, "'postgre' is not one"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct err err = {0};
        struct db *none = NULL;
        char url[200];
        const char *placeholder = strstr(CASES[i].format, "%d");
        size_t before =
            placeholder != NULL ? (size_t)(placeholder - CASES[i].format) : strlen(CASES[i].format);
        (void)snprintf(url, sizeof url, "%.*s", (int)before, CASES[i].format);
        if (placeholder != NULL)
            (void)snprintf(url + before, sizeof url - before, "%d%s", port, placeholder + 2);
        EXPECT_STATUS(CASES[i].wanted, db_open(url, DB_READ_WRITE, &none, &err), &err);
        EXPECT_CONTAINS(err.text, CASES[i].part);
        cr_assert_null(strstr(err.text, "S3cret"), "%s", err.text);
    }
}

Test(postgres, a_writer_is_looked_for_when_the_server_is_read_only)
{
    struct err err = {0};
    EXPECT_OK(db_script(db, "SET default_transaction_read_only = on", &err), &err);
    EXPECT_OK(db_begin(db, &err), &err);
    EXPECT_STATUS(STATUS_BUSY, db_do(db, &err, SET, "ii", (int64_t)1, (int64_t)11), &err);
    EXPECT_CONTAINS(err.text, "the server is read-only");
    db_end(db);
    EXPECT_OK(db_begin(db, &err), &err);
    EXPECT_OK(db_do(db, &err, SET, "ii", (int64_t)1, (int64_t)11), &err);
    EXPECT_OK(db_commit(db, &err), &err);

    CLEANUP(mem_freep)
    char *url = mem_format("%s%%20-cdefault_transaction_read_only%%3Don", place.url);
    struct db *none = NULL;
    EXPECT_STATUS(STATUS_BUSY, db_open(url, DB_READ_WRITE, &none, &err), &err);
    EXPECT_CONTAINS(err.text, "the server is read-only");
}

Test(postgres, of_several_hosts_one_that_answers_is_taken)
{
    struct err err = {0};
    CLEANUP(db_closep) struct db *other = NULL;
    CLEANUP(mem_freep)
    char *url = mem_format("postgresql://postgres@127.0.0.1:1,127.0.0.1:%d/postgres", pg_port());
    EXPECT_OK(db_open(url, DB_READ_WRITE, &other, &err), &err);
    EXPECT_OK(db_verify(other, &err), &err);
    EXPECT_STATUS(STATUS_INVALID, db_backup(other, "/tmp/x", &err), &err);
    EXPECT_CONTAINS(err.text, "pg_dump");
}

Test(postgres, a_table_of_somebody_else_is_told)
{
    struct err err = {0};
    EXPECT_STATUS(STATUS_CONFLICT,
                  db_script(db, "CREATE TABLE v (a INT); CREATE TABLE u (a INT)", &err), &err);
    EXPECT_CONTAINS(err.text, "has a table 'u' that is not Eider's");
    bool found = true;
    EXPECT_OK(db_has_table(db, "v", &found, &err), &err);
    cr_assert(!found);
}

/* --- a pooler -------------------------------------------------------------------------------- */

/* Transactions of two clients through few server sessions: names of statements get lost. */
Test(postgres, behind_a_pooler_statements_go_without_names)
{
    struct err err = {0};
    CLEANUP(pooler_stop) struct pooler pooler;
    pooler_start(&pooler, place.schema);
    struct db *clients[3] = {0};
    int64_t busy = 0;
    for (size_t i = 0; i < ARRAY_LEN(clients); i++)
        EXPECT_OK(db_open(pooler.url, DB_READ_WRITE, &clients[i], &err), &err);
    for (int round = 0; round < 30; round++) {
        /* Two are open at the same time, so that the sessions change hands. */
        struct db *pair[] = {clients[round % 3], clients[(round + 1) % 3]};
        for (size_t i = 0; i < 2; i++) {
            enum status status = db_begin(pair[i], &err);
            for (int tries = 0; tries < 2; tries++) {
                if (status == STATUS_OK)
                    status = db_do(pair[i], &err, "UPDATE u SET v = v + 1 WHERE k = $1", "i",
                                   (int64_t)i + 1);
                if (status == STATUS_OK)
                    break;
                cr_assert_eq(status, STATUS_BUSY, "%s", err.text);
                busy++;
                db_end(pair[i]);
                status = db_begin(pair[i], &err);
            }
            cr_assert_eq(status, STATUS_OK, "%s", err.text);
        }
        for (size_t i = 0; i < 2; i++)
            EXPECT_OK(db_commit(pair[(i + (size_t)round) % 2], &err), &err);
        (void)value_of(clients[round % 3], 1);
    }
    cr_assert_gt(busy, 0, "the sessions never changed hands");
    cr_assert_leq(busy, 3, "once per client");
    for (size_t i = 0; i < ARRAY_LEN(clients); i++)
        db_close(clients[i]);
    cr_assert_eq(value_of(db, 1), 10 + 30);
    cr_assert_eq(value_of(db, 2), 20 + 30);
}
