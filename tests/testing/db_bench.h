#pragma once
/*
 * db_bench: a database for one test: a SQLite file in a temporary folder, or, when
 * EIDER_TEST_DATABASE is "postgres", a schema of its own on the server of tools/with-postgres.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"
#include "store/db.h"

struct db_bench {
    char dir[64]; /* empty on PostgreSQL */
    char schema[64];
    char url[512];
};

static inline bool db_bench_is_postgres(void)
{
    const char *wanted = getenv("EIDER_TEST_DATABASE");
    return wanted != NULL && strcmp(wanted, "postgres") == 0;
}

/* The server's URL with one more parameter. */
static inline void db_bench_url(const char *server, const char *parameter, char *out, size_t size)
{
    (void)snprintf(out, size, "%s%c%s", server, strchr(server, '?') != NULL ? '&' : '?', parameter);
}

static inline const char *db_bench_server(void)
{
    const char *server = getenv("EIDER_TEST_POSTGRES");
    cr_assert_not_null(server, "run this under tools/with-postgres");
    return server;
}

static inline void db_bench_script(const char *url, const char *sql)
{
    struct err err = {0};
    CLEANUP(db_closep) struct db *db = NULL;
    EXPECT_OK(db_open(url, DB_READ_WRITE, &db, &err), &err);
    EXPECT_OK(db_script(db, sql, &err), &err);
}

static inline void db_bench_make_schema(struct db_bench *bench)
{
    static int count;
    char sql[128];
    (void)snprintf(bench->schema, sizeof bench->schema, "test_%d_%d", (int)getpid(), count++);
    (void)snprintf(sql, sizeof sql, "CREATE SCHEMA %s", bench->schema);
    db_bench_script(db_bench_server(), sql);
    (void)snprintf(sql, sizeof sql, "options=-csearch_path%%3D%s", bench->schema);
    db_bench_url(db_bench_server(), sql, bench->url, sizeof bench->url);
}

static inline void db_bench_make(struct db_bench *bench)
{
    *bench = (struct db_bench){0};
    if (db_bench_is_postgres()) {
        db_bench_make_schema(bench);
        return;
    }
    /* In memory where there is such a place: commits are many and durable. */
    (void)snprintf(bench->dir, sizeof bench->dir, "%s/eider-store-XXXXXX",
                   access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    cr_assert_not_null(mkdtemp(bench->dir));
    (void)snprintf(bench->url, sizeof bench->url, "sqlite:%s/eider.db", bench->dir);
}

static inline void db_bench_remove(struct db_bench *bench)
{
    if (bench->schema[0] != '\0') {
        char sql[128];
        (void)snprintf(sql, sizeof sql, "DROP SCHEMA %s CASCADE", bench->schema);
        db_bench_script(db_bench_server(), sql);
        return;
    }
    static const char *const NAMES[] = {"eider.db", "eider.db-wal", "eider.db-shm",
                                        "eider.db.lock"};
    for (size_t i = 0; i < ARRAY_LEN(NAMES); i++) {
        char path[160];
        (void)snprintf(path, sizeof path, "%s/%s", bench->dir, NAMES[i]);
        (void)unlink(path);
    }
    (void)rmdir(bench->dir);
}
