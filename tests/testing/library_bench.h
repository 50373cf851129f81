#pragma once
/*
 * library_bench: a store with a program that uses the library, and a look behind it.
 */
#include <inttypes.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"
#include "db_bench.h"
#include "eider.h"
#include "store/job.h"

#define EXPECT_EIDER(wanted, call, handle)                                                         \
    do {                                                                                           \
        enum eider_status got_ = (call);                                                           \
        cr_assert_eq(got_, (wanted), "%s: %s, not %s (%s)", #call, eider_status_text(got_),        \
                     eider_status_text(wanted), eider_error(handle));                              \
    } while (0)

#define EXPECT_DONE(call, handle) EXPECT_EIDER(EIDER_OK, call, handle)

struct library_bench {
    struct db_bench db;
    struct store *store; /* to look */
    struct arena *arena;
    struct eider *e;
};

static inline void library_bench_open(struct library_bench *bench)
{
    struct err err = {0};
    db_bench_make(&bench->db);
    bench->arena = arena_new();
    EXPECT_DONE(eider_open(bench->db.url, &bench->e), bench->e);
    struct store_options options = {.url = bench->db.url, .mode = DB_READ_WRITE};
    EXPECT_OK(store_open(&options, &bench->store, &err), &err);
}

static inline void library_bench_close(struct library_bench *bench)
{
    eider_close(bench->e);
    store_close(bench->store);
    arena_free(bench->arena);
    db_bench_remove(&bench->db);
}

static inline int64_t library_bench_id(const char *text)
{
    int64_t id = 0;
    cr_assert(str_parse_i64(text, 1, INT64_MAX, &id), "%s", text);
    return id;
}

static inline struct job_info library_bench_job(struct library_bench *bench, const char *id)
{
    struct err err = {0};
    struct job_info job;
    EXPECT_OK(store_job_load(bench->store, bench->arena, library_bench_id(id), &job, &err), &err);
    return job;
}

#define EXPECT_JOB(bench, id, wanted)                                                              \
    EXPECT_STR(wanted, job_status_name(library_bench_job(bench, id).state))

static inline int64_t library_bench_count(struct library_bench *bench, const char *sql)
{
    struct err err = {0};
    CLEANUP(db_closep) struct db *db = NULL;
    int64_t count = 0;
    EXPECT_OK(db_open(bench->db.url, DB_READ_ONLY, &db, &err), &err);
    EXPECT_OK(db_get_int(db, 0, &count, &err, sql, ""), &err);
    return count;
}

/* As if every worker had been silent for longer than its lease. */
static inline void library_bench_expire(struct library_bench *bench)
{
    db_bench_script(bench->db.url, "UPDATE host SET lease_until_us = 1");
}

/* The only one there is to claim. */
static inline struct eider_claim library_bench_claim(struct eider *e)
{
    struct eider_claim claim = {0};
    size_t count = 0;
    EXPECT_DONE(eider_claim(e, 1, &claim, &count), e);
    cr_assert_eq(count, 1, "nothing to claim");
    return claim;
}
