/*
 * sqlite_loop: what durable transactions cost on this disk, with one writer.
 *
 *   sqlite_loop FILE single|hop|bulk SECONDS
 *
 *   single  one row inserted per transaction
 *   hop     100 tasks finished and 100 claimed per transaction, with an event row for each
 *   bulk    1,000 rows inserted per transaction
 *
 * WAL and synchronous=FULL, as Eider's store. The file is made anew. Prints JSON.
 */
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { HOP_ROWS = 100, BULK_ROWS = 1000, PREPARED_ROWS = 400000 };

static sqlite3 *db;

static double now_seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void die(const char *what)
{
    (void)fprintf(stderr, "sqlite_loop: %s: %s\n", what, sqlite3_errmsg(db));
    exit(1);
}

static void execute(const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        die(sql);
}

static sqlite3_stmt *prepare(const char *sql)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) != SQLITE_OK)
        die(sql);
    return statement;
}

/* Runs a statement whose parameters are up to two numbers. */
static void step(sqlite3_stmt *statement, sqlite3_int64 first, sqlite3_int64 second)
{
    (void)sqlite3_bind_int64(statement, 1, first);
    if (sqlite3_bind_parameter_count(statement) > 1)
        (void)sqlite3_bind_int64(statement, 2, second);
    if (sqlite3_step(statement) != SQLITE_DONE)
        die("step");
    (void)sqlite3_reset(statement);
}

static void make_tables(const char *path)
{
    char name[4096];
    static const char *const SUFFIXES[] = {"", "-wal", "-shm"};
    for (int i = 0; i < 3; i++) {
        if (snprintf(name, sizeof name, "%s%s", path, SUFFIXES[i]) >= (int)sizeof name)
            exit(2);
        (void)unlink(name);
    }
    if (sqlite3_open(path, &db) != SQLITE_OK)
        die(path);
    execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
            "CREATE TABLE task (id INTEGER PRIMARY KEY, state INTEGER NOT NULL,"
            " attempt INTEGER NOT NULL, at INTEGER NOT NULL);"
            "CREATE TABLE ready (id INTEGER PRIMARY KEY);"
            "CREATE TABLE event (id INTEGER PRIMARY KEY, task INTEGER, kind INTEGER)");
}

static long insert_rows(double seconds, int rows)
{
    sqlite3_stmt *insert = prepare("INSERT INTO task VALUES (?1, 0, 0, ?2)");
    double end = now_seconds() + seconds;
    long done = 0;
    while (now_seconds() < end) {
        execute("BEGIN IMMEDIATE");
        for (int i = 0; i < rows; i++, done++)
            step(insert, done, done);
        execute("COMMIT");
    }
    (void)sqlite3_finalize(insert);
    return done;
}

static void fill(void)
{
    sqlite3_stmt *task = prepare("INSERT INTO task VALUES (?1, 1, 0, ?2)");
    sqlite3_stmt *ready = prepare("INSERT INTO ready VALUES (?1)");
    execute("BEGIN IMMEDIATE");
    for (int i = 0; i < PREPARED_ROWS; i++) {
        step(task, i, i);
        step(ready, i, 0);
    }
    execute("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
    (void)sqlite3_finalize(task);
    (void)sqlite3_finalize(ready);
}

static long hop(double seconds)
{
    sqlite3_stmt *claim = prepare("UPDATE task SET state = 3, attempt = attempt + 1, at = ?2"
                                  " WHERE id = ?1 AND state = 1");
    sqlite3_stmt *taken = prepare("DELETE FROM ready WHERE id = ?1");
    sqlite3_stmt *finish = prepare("UPDATE task SET state = 4, at = ?2"
                                   " WHERE id = ?1 AND state = 3");
    sqlite3_stmt *event = prepare("INSERT INTO event (task, kind) VALUES (?1, ?2)");
    double end = now_seconds() + seconds;
    long done = 0;
    while (now_seconds() < end && done + HOP_ROWS < PREPARED_ROWS) {
        execute("BEGIN IMMEDIATE");
        for (int i = 0; i < HOP_ROWS; i++) {
            if (done > 0) {
                step(finish, done - HOP_ROWS + i, done);
                step(event, done - HOP_ROWS + i, 1);
            }
            step(claim, done + i, done);
            step(taken, done + i, 0);
        }
        execute("COMMIT");
        done += HOP_ROWS;
    }
    (void)sqlite3_finalize(claim);
    (void)sqlite3_finalize(taken);
    (void)sqlite3_finalize(finish);
    (void)sqlite3_finalize(event);
    return done;
}

int main(int argc, char **argv)
{
    double limit = argc == 4 ? strtod(argv[3], NULL) : 0;
    if (limit <= 0 || limit > 60) {
        (void)fprintf(stderr, "usage: sqlite_loop FILE single|hop|bulk SECONDS\n");
        return 2;
    }
    make_tables(argv[1]);
    double begin = now_seconds();
    long rows;
    if (strcmp(argv[2], "hop") == 0) {
        fill();
        begin = now_seconds();
        rows = hop(limit);
    } else {
        rows = insert_rows(limit, strcmp(argv[2], "bulk") == 0 ? BULK_ROWS : 1);
    }
    double seconds = now_seconds() - begin;
    (void)printf("{\"mode\": \"%s\", \"rows\": %ld, \"seconds\": %.6f, \"rate\": %.1f}\n", argv[2],
                 rows, seconds, (double)rows / seconds);
    (void)sqlite3_close(db);
    return 0;
}
