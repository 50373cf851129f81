/*
 * What every database driver must do.
 */
#include "base/clock.h"
#include "db_bench.h"
#include "expect.h"
#include "store/db.h"

static struct db_bench place;
static struct db *db;

static void setup(void)
{
    struct err err = {0};
    db_bench_make(&place);
    EXPECT_OK(db_open(place.url, DB_READ_WRITE, &db, &err), &err);
    EXPECT_OK(db_script(db,
                        db_bench_is_postgres()
                            ? "CREATE TABLE t (a BIGINT, b TEXT, c BYTEA, n BIGINT GENERATED"
                              " BY DEFAULT AS IDENTITY);"
                              "CREATE TABLE u (k BIGINT PRIMARY KEY, v BIGINT)"
                            : "CREATE TABLE t (a INTEGER, b TEXT, c BLOB, n INTEGER PRIMARY KEY);"
                              "CREATE TABLE u (k INTEGER PRIMARY KEY, v INTEGER)",
                        &err),
              &err);
}

static void teardown(void)
{
    db_close(db);
    db_bench_remove(&place);
}

TestSuite(db, .init = setup, .fini = teardown);

static const char COUNT[] = "SELECT count(*) FROM t";
static const char INSERT[] = "INSERT INTO t (a, b, c) VALUES ($1, $2, $3)";

static int64_t count_rows(struct db *from)
{
    struct err err = {0};
    int64_t count = -1;
    EXPECT_OK(db_get_int(from, 0, &count, &err, COUNT, ""), &err);
    return count;
}

Test(db, a_rehearsal_sees_what_it_does_and_leaves_nothing)
{
    struct err err = {0};
    struct db *stage = NULL;
    EXPECT_OK(db_open(place.url, DB_READ_WRITE, &stage, &err), &err);
    EXPECT_OK(db_rehearse(stage, &err), &err);
    cr_assert(!db_in_transaction(stage));
    for (int64_t i = 0; i < 2; i++) {
        EXPECT_OK(db_begin(stage, &err), &err);
        EXPECT_OK(db_do(stage, &err, INSERT, "inn", i), &err);
        EXPECT_OK(db_commit(stage, &err), &err);
    }
    EXPECT_OK(db_begin(stage, &err), &err);
    EXPECT_OK(db_do(stage, &err, INSERT, "inn", (int64_t)3), &err);
    db_end(stage);
    cr_assert_eq(count_rows(stage), 2);
    cr_assert_eq(count_rows(db), 0, "others never see it");
    db_close(stage);
    cr_assert_eq(count_rows(db), 0);
}

static const char INSERT_KEY[] = "INSERT INTO u (k, v) VALUES ($1, $2)";

/* Told at once, or when its answer is looked at. */
static void fail_within(struct db *stage, bool later)
{
    struct err err = {0};
    EXPECT_OK(db_begin(stage, &err), &err);
    EXPECT_OK(db_do(stage, &err, INSERT, "inn", (int64_t)7), &err);
    enum status status = later ? db_later(stage, &err, INSERT_KEY, "ii", (int64_t)1, (int64_t)2)
                               : db_do(stage, &err, INSERT_KEY, "ii", (int64_t)1, (int64_t)2);
    if (status == STATUS_OK)
        status = db_commit(stage, &err);
    EXPECT_STATUS(STATUS_CONFLICT, status, &err);
    db_end(stage);
}

Test(db, a_rehearsal_goes_on_after_a_failure)
{
    struct err err = {0};
    struct db *stage = NULL;
    EXPECT_OK(db_do(db, &err, INSERT_KEY, "ii", (int64_t)1, (int64_t)1), &err);
    EXPECT_OK(db_open(place.url, DB_READ_WRITE, &stage, &err), &err);
    EXPECT_OK(db_rehearse(stage, &err), &err);
    EXPECT_OK(db_begin(stage, &err), &err);
    EXPECT_OK(db_do(stage, &err, INSERT, "inn", (int64_t)1), &err);
    EXPECT_OK(db_commit(stage, &err), &err);

    fail_within(stage, false);
    cr_assert(db_can_go_on(stage));
    fail_within(stage, true);

    cr_assert_eq(count_rows(stage), 1, "only what failed is undone");
    EXPECT_OK(db_begin(stage, &err), &err);
    EXPECT_OK(db_do(stage, &err, INSERT, "inn", (int64_t)2), &err);
    EXPECT_OK(db_commit(stage, &err), &err);
    cr_assert_eq(count_rows(stage), 2);
    db_close(stage);
    cr_assert_eq(count_rows(db), 0);
}

Test(db, a_rehearsal_whose_transaction_is_gone_does_nothing_more)
{
    struct err err = {0};
    struct db *stage = NULL;
    EXPECT_OK(db_open(place.url, DB_READ_WRITE, &stage, &err), &err);
    EXPECT_OK(db_rehearse(stage, &err), &err);
    EXPECT_OK(db_begin(stage, &err), &err);
    EXPECT_OK(db_script(stage, "ROLLBACK", &err), &err);
    db_end(stage);

    cr_assert(!db_can_go_on(stage));
    EXPECT_STATUS(STATUS_IO, db_begin(stage, &err), &err);
    db_close(stage);
    cr_assert_eq(count_rows(db), 0);
}

Test(db, what_is_done_together_lasts_at_once_without_what_failed)
{
    struct err err = {0};
    struct db *stage = NULL;
    EXPECT_OK(db_do(db, &err, INSERT_KEY, "ii", (int64_t)1, (int64_t)1), &err);
    EXPECT_OK(db_open(place.url, DB_READ_WRITE, &stage, &err), &err);
    EXPECT_OK(db_together_begin(stage, &err), &err);
    for (int64_t i = 0; i < 3; i++) {
        EXPECT_OK(db_begin(stage, &err), &err);
        EXPECT_OK(db_do(stage, &err, INSERT, "inn", i), &err);
        EXPECT_OK(db_commit(stage, &err), &err);
        fail_within(stage, i == 1);
        cr_assert_eq(count_rows(db), 0, "not before all of it is there");
    }
    EXPECT_OK(db_together_commit(stage, &err), &err);
    cr_assert_eq(count_rows(db), 3);

    EXPECT_OK(db_begin(stage, &err), &err);
    EXPECT_OK(db_do(stage, &err, INSERT, "inn", (int64_t)9), &err);
    EXPECT_OK(db_commit(stage, &err), &err);
    cr_assert_eq(count_rows(db), 4, "afterwards each is by itself again");
    db_close(stage);
}

Test(db, what_was_begun_together_and_is_broken_off_leaves_nothing)
{
    struct err err = {0};
    struct db *stage = NULL;
    EXPECT_OK(db_open(place.url, DB_READ_WRITE, &stage, &err), &err);
    EXPECT_OK(db_together_begin(stage, &err), &err);
    EXPECT_OK(db_begin(stage, &err), &err);
    EXPECT_OK(db_do(stage, &err, INSERT, "inn", (int64_t)1), &err);
    EXPECT_OK(db_script(stage, "ROLLBACK", &err), &err);
    db_end(stage);
    EXPECT_STATUS(STATUS_IO, db_together_commit(stage, &err), &err);
    cr_assert_eq(count_rows(db), 0);
    db_close(stage);
}

Test(db, what_is_not_committed_is_undone)
{
    struct err err = {0};

    EXPECT_OK(db_begin(db, &err), &err);
    cr_assert(db_in_transaction(db));
    EXPECT_OK(db_do(db, &err, INSERT, "inn", (int64_t)1), &err);
    cr_assert_eq(db_changes(db), 1);
    cr_assert_eq(count_rows(db), 1);
    db_end(db);
    db_end(db);

    cr_assert(!db_in_transaction(db));
    cr_assert_eq(count_rows(db), 0);
    EXPECT_OK(db_begin(db, &err), &err);
    EXPECT_OK(db_do(db, &err, INSERT, "inn", (int64_t)1), &err);
    EXPECT_OK(db_commit(db, &err), &err);
    db_end(db);
    cr_assert_eq(count_rows(db), 1);
}

Test(db, values_go_in_and_come_out)
{
    static const char SELECT[] = "SELECT a, b, c FROM t ORDER BY n";
    struct err err = {0};
    struct db_stmt *stmt = NULL;
    bool row = false;
    size_t size = 0;
    EXPECT_OK(db_do(db, &err, INSERT, "itb", INT64_MIN, "text", "a\0b", (size_t)3), &err);
    EXPECT_OK(db_do(db, &err, INSERT, "ztb", (int64_t)0, NULL, NULL, (size_t)0), &err);
    EXPECT_OK(db_do(db, &err, INSERT, "xtn", (int64_t)0, ""), &err);
    EXPECT_OK(db_do(db, &err, INSERT, "xtn", (int64_t)-1, ""), &err);

    EXPECT_OK(db_query(db, &stmt, &err, SELECT, ""), &err);
    EXPECT_OK(db_step(stmt, &row, &err), &err);
    cr_assert_eq(db_int(stmt, 0), INT64_MIN);
    EXPECT_STR("text", db_text(stmt, 1));
    cr_assert_eq(memcmp(db_blob(stmt, 2, &size), "a\0b", 3), 0);
    cr_assert_eq(size, 3);
    EXPECT_OK(db_step(stmt, &row, &err), &err);
    for (int i = 0; i < 3; i++)
        cr_assert(db_is_null(stmt, i), "column %d", i);
    cr_assert_null(db_text(stmt, 1));
    EXPECT_OK(db_step(stmt, &row, &err), &err);
    cr_assert(!db_is_null(stmt, 0));
    EXPECT_OK(db_step(stmt, &row, &err), &err);
    cr_assert(db_is_null(stmt, 0));
    EXPECT_OK(db_step(stmt, &row, &err), &err);
    cr_assert(!row);
}

Test(db, errors_are_told_and_the_connection_lives_on)
{
    static const char WRONG[] = "SELECT a FROM nowhere";
    struct err err = {0};
    struct db_stmt *stmt = NULL;
    struct db *other = NULL;

    bool row = false;
    /* SQLite tells with the query, PostgreSQL with the first step. */
    cr_assert(db_query(db, &stmt, &err, WRONG, "") != STATUS_OK ||
              db_step(stmt, &row, &err) != STATUS_OK);
    EXPECT_CONTAINS(err.text, "nowhere");
    EXPECT_STATUS(STATUS_INVALID, db_open("oracle:x", DB_READ_WRITE, &other, &err), &err);
    EXPECT_STATUS(STATUS_NOT_FOUND, db_open("sqlite:/nonexistent/x.db", DB_READ_ONLY, &other, &err),
                  &err);
    cr_assert_null(other);
    cr_assert_eq(count_rows(db), 0);
    EXPECT_OK(db_verify(db, &err), &err);
}

Test(db, a_reader_sees_one_state_and_cannot_write)
{
    struct err err = {0};
    CLEANUP(db_closep) struct db *reader = NULL;
    EXPECT_OK(db_open(place.url, DB_READ_ONLY, &reader, &err), &err);

    EXPECT_OK(db_begin_read(reader, &err), &err);
    cr_assert_eq(count_rows(reader), 0);
    EXPECT_OK(db_do(db, &err, INSERT, "inn", (int64_t)1), &err);
    cr_assert_eq(count_rows(reader), 0);
    db_end(reader);

    cr_assert_eq(count_rows(reader), 1);
    cr_assert_neq(db_do(reader, &err, INSERT, "inn", (int64_t)1), STATUS_OK);
}

static const struct db_bulk_form ADD = {
    .one = "INSERT INTO t (a, b, c) VALUES ($1, $2, $3)",
    .many = "INSERT INTO t (a, b, c) SELECT * FROM unnest($1, $2, $3)",
    .format = "ztb",
    .what = "row"};
static const struct db_bulk_form CHANGE = {
    .one = "UPDATE u SET v = $2 WHERE k = $1",
    .many = "UPDATE u SET v = x.v FROM unnest($1, $2) AS x (k, v) WHERE u.k = x.k",
    .format = "ii",
    .what = "thing"};

Test(db, many_rows_go_in_at_once_with_nulls)
{
    static const char SUMS[] = "SELECT count(*), count(a), count(b), count(c),"
                               " CAST(coalesce(sum(a), 0) AS BIGINT) FROM t";
    static const char ONE_OF_THEM[] = "SELECT b, c FROM t WHERE a = $1";
    static const int64_t WANTED[] = {1000, 999, 500, 334, 999 * 500};
    struct err err = {0};
    struct db_bulk bulk;
    struct db_stmt *stmt = NULL;
    bool row = false;
    size_t size = 0;
    db_bulk_init(&bulk, &ADD);
    EXPECT_OK(db_begin(db, &err), &err);
    for (int64_t i = 0; i < 1000; i++)
        db_bulk_add(&bulk, i, i % 2 == 0 ? "even" : NULL, i % 3 == 0 ? "\0x" : NULL, (size_t)2);
    EXPECT_OK(db_bulk_run(db, &bulk, 1000, &err), &err);
    EXPECT_OK(db_bulk_run(db, &bulk, 1000, &err), &err); /* no rows are left */
    db_bulk_fini(&bulk);
    EXPECT_OK(db_commit(db, &err), &err);

    EXPECT_OK(db_query(db, &stmt, &err, SUMS, ""), &err);
    EXPECT_OK(db_step(stmt, &row, &err), &err);
    for (int i = 0; i < 5; i++)
        cr_assert_eq(db_int(stmt, i), WANTED[i], "column %d: %lld", i, (long long)db_int(stmt, i));
    db_reset(stmt);
    EXPECT_OK(db_query(db, &stmt, &err, ONE_OF_THEM, "i", (int64_t)6), &err);
    EXPECT_OK(db_step(stmt, &row, &err), &err);
    EXPECT_STR("even", db_text(stmt, 0));
    cr_assert_eq(memcmp(db_blob(stmt, 1, &size), "\0x", 2), 0);
    cr_assert_eq(size, 2);
    db_reset(stmt);
}

Test(db, a_row_changed_meanwhile_fails_the_transaction)
{
    struct err err = {0};
    struct db_bulk bulk;
    EXPECT_OK(db_do(db, &err, "INSERT INTO u VALUES (1, 10), (2, 20)", ""), &err);
    db_bulk_init(&bulk, &CHANGE);
    EXPECT_OK(db_begin(db, &err), &err);
    db_bulk_add(&bulk, (int64_t)1, (int64_t)11);
    db_bulk_add(&bulk, (int64_t)3, (int64_t)33);
    enum status status = db_bulk_run(db, &bulk, 2, &err);
    if (status == STATUS_OK)
        status = db_commit(db, &err);
    db_bulk_fini(&bulk);

    cr_assert_eq(status, STATUS_BUSY);
    EXPECT_CONTAINS(err.text, "a thing was changed meanwhile");
    db_end(db);
    int64_t value = 0;
    EXPECT_OK(db_get_int(db, 0, &value, &err, "SELECT v FROM u WHERE k = 1", ""), &err);
    cr_assert_eq(value, 10);
}

Test(db, what_is_said_for_later_happens_in_order_or_fails_the_commit)
{
    static const char ADD_ONE[] = "INSERT INTO u VALUES ($1, $2)";
    struct err err = {0};
    int64_t value = 0;
    EXPECT_OK(db_begin(db, &err), &err);
    for (int64_t i = 1; i <= 100; i++)
        EXPECT_OK(db_later(db, &err, ADD_ONE, "ii", i, i), &err);
    EXPECT_OK(db_later(db, &err, "UPDATE u SET v = v + 1", ""), &err);
    EXPECT_OK(db_get_int(db, 0, &value, &err, "SELECT v FROM u WHERE k = 100", ""), &err);
    cr_assert_eq(value, 101);
    EXPECT_OK(db_commit(db, &err), &err);

    EXPECT_OK(db_begin(db, &err), &err);
    enum status status = db_later(db, &err, ADD_ONE, "ii", (int64_t)1000, (int64_t)0);
    if (status == STATUS_OK)
        status = db_later(db, &err, ADD_ONE, "ii", (int64_t)1, (int64_t)0);
    if (status == STATUS_OK)
        status = db_commit(db, &err);
    cr_assert_eq(status, STATUS_CONFLICT, "%s", err.text);
    db_end(db);
    EXPECT_OK(db_get_int(db, 0, &value, &err, "SELECT count(*) FROM u", ""), &err);
    cr_assert_eq(value, 100);
}

Test(db, several_statements_are_open_at_the_same_time)
{
    static const char ALL[] = "SELECT k FROM u ORDER BY k";
    static const char OTHERS[] = "SELECT k FROM u WHERE k <> $1 ORDER BY k DESC";
    struct err err = {0};
    struct db_stmt *outer = NULL;
    struct db_stmt *inner = NULL;
    enum status status = STATUS_OK;
    int64_t pairs = 0;
    EXPECT_OK(db_do(db, &err, "INSERT INTO u VALUES (1, 0), (2, 0), (3, 0)", ""), &err);
    cr_assert_eq(db_changes(db), 3);

    EXPECT_OK(db_query(db, &outer, &err, ALL, ""), &err);
    while (db_next(outer, &status, &err)) {
        EXPECT_OK(db_query(db, &inner, &err, OTHERS, "i", db_int(outer, 0)), &err);
        while (db_next(inner, &status, &err))
            pairs += db_int(outer, 0) != db_int(inner, 0);
        cr_assert_eq(status, STATUS_OK);
    }
    cr_assert_eq(status, STATUS_OK);
    cr_assert_eq(pairs, 6);
}

Test(db, a_table_is_there_or_not)
{
    struct err err = {0};
    bool found = false;
    EXPECT_OK(db_has_table(db, "u", &found, &err), &err);
    cr_assert(found);
    EXPECT_OK(db_has_table(db, "nowhere", &found, &err), &err);
    cr_assert(!found);
}

Test(db, the_clock_is_about_now)
{
    struct err err = {0};
    int64_t before = clock_wall_us();
    EXPECT_OK(db_begin(db, &err), &err);
    int64_t began = db_now_us(db);
    EXPECT_OK(db_do(db, &err, INSERT, "inn", (int64_t)1), &err);
    if (db_bench_is_postgres())
        cr_assert_eq(db_now_us(db), began);
    EXPECT_OK(db_commit(db, &err), &err);
    int64_t after = db_now_us(db);
    cr_assert_geq(began, before - 1000);
    cr_assert_geq(after, began);
    cr_assert_leq(after, clock_wall_us() + 1000000);
}

/* A server that is asked for everything uses every statement of the program on one connection. */
Test(db, there_is_room_for_more_statements_than_the_program_has)
{
    enum { STATEMENTS = 1000, TEXT_MAX = 32 };
    static char texts[STATEMENTS][TEXT_MAX];
    struct err err = {0};
    for (int64_t i = 0; i < STATEMENTS; i++) {
        int64_t got = -1;
        (void)snprintf(texts[i], sizeof texts[i], "SELECT %lld", (long long)i);
        EXPECT_OK(db_get_int(db, 0, &got, &err, texts[i], ""), &err);
        cr_assert_eq(got, i);
    }
}
