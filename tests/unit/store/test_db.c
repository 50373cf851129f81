/*
 * What every database driver must do.
 */
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
