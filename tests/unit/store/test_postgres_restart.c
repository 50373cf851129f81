/*
 * A server that crashes and comes back. Alone in its program: the server is everybody's.
 */
#include <poll.h>
#include <signal.h>

#include "db_bench.h"

Test(postgres_restart, after_a_crash_of_the_server_the_next_call_goes_on, .timeout = 60)
{
    if (!db_bench_is_postgres() || getenv("EIDER_TEST_POSTGRES_DATA") == NULL)
        cr_skip_test("only on a PostgreSQL of our own");
    struct err err = {0};
    struct db_bench place;
    CLEANUP(db_closep) struct db *db = NULL;
    int64_t pid = 0;
    int64_t count = -1;
    db_bench_make(&place);
    EXPECT_OK(db_open(place.url, DB_READ_WRITE, &db, &err), &err);
    EXPECT_OK(db_script(db, "CREATE TABLE u (k BIGINT)", &err), &err);
    EXPECT_OK(db_begin(db, &err), &err);
    EXPECT_OK(db_do(db, &err, "INSERT INTO u VALUES (1)", ""), &err);
    EXPECT_OK(db_get_int(db, 0, &pid, &err, "SELECT pg_backend_pid()", ""), &err);

    /* One backend killed: the server ends them all and recovers. */
    cr_assert_eq(kill((pid_t)pid, SIGKILL), 0);
    enum status status = db_commit(db, &err);
    cr_assert(status == STATUS_BUSY || status == STATUS_UNKNOWN, "%s", err.text);
    db_end(db);

    status = STATUS_BUSY;
    for (int tries = 0; tries < 500 && status != STATUS_OK; tries++) {
        status = db_get_int(db, 0, &count, &err, "SELECT count(*) FROM u", "");
        cr_assert(status == STATUS_OK || status_is_retryable(status), "%s", err.text);
        if (status != STATUS_OK)
            (void)poll(NULL, 0, 20);
    }
    cr_assert_eq(status, STATUS_OK, "%s", err.text);
    cr_assert_eq(count, 0);
}
