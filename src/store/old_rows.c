/*
 * A file that arrived is known by its row: without it the same file would arrive again. So before
 * rows of a DAG go, the instant from which on its files count moves behind them (`retention` keeps
 * it, also for watches that are made later). Clocks of file servers and of the database differ; a
 * day lies between the two.
 */
#include "store/old_rows.h"

#include "model/backfill.h"
#include "model/event_kind.h"
#include "store/notice.h"
#include "store/store_priv.h"
#include "store/trigger_store.h"
#include "store/version_priv.h"

static const int64_t DAY_US = INT64_C(86400000000);
#define A_DAY "86400000000"

/* $1: the instant. That a run was deleted outlives it; the newest one stays. */
#define EVENTS_OLD                                                                                 \
    "SELECT id FROM event WHERE ((run IS NULL AND task IS NULL) OR kind = 13) AND at_us < $1"      \
    " AND id < (SELECT max(n.id) FROM event n)"
/* The newest update of a dataset stays, and what waits. */
#define ASSET_EVENTS_OLD                                                                           \
    "SELECT e.id FROM asset_event e WHERE e.at_us < $1"                                            \
    " AND EXISTS (SELECT 1 FROM asset_event n WHERE n.asset = e.asset AND n.id > e.id)"            \
    " AND NOT EXISTS (SELECT 1 FROM trigger_pending p WHERE p.kind = 0 AND p.source = e.id)"
#define WEBHOOK_CALLS_OLD "SELECT webhook, key FROM webhook_call WHERE at_us < $1"
#define MISSED_OLD        "SELECT dag, first_us FROM missed WHERE at_us < $1"
#define NOTICES_OLD       "SELECT id FROM notice WHERE state IN (2, 3, 4) AND ended_at_us < $1"
/* Those of paused DAGs are as many as they are, and what waits there may be older. */
#define ARRIVALS_OLD                                                                               \
    "SELECT a.id FROM file_arrival a WHERE a.at_us < CAST($1 AS BIGINT) - " A_DAY                  \
    " AND NOT EXISTS (SELECT 1 FROM trigger_dag t WHERE t.dag = a.dag AND t.paused <> 0)"
/* With the last of the runs that it made or did again. */
#define BACKFILLS_OLD                                                                              \
    "SELECT b.id FROM backfill b WHERE b.state IN (4, 5, 6) AND b.ended_at_us < $1"                \
    " AND NOT EXISTS (SELECT 1 FROM backfill_run d JOIN run r ON r.id = d.run"                     \
    " WHERE d.backfill = b.id)"
/* Neither current nor that of the file; the last one keeps its number from being given again. */
#define VERSIONS_OLD                                                                               \
    "SELECT v.id FROM version v JOIN dag d ON d.id = v.dag WHERE v.created_at_us < $1"             \
    " AND v.id <> d.version AND v.id <> d.filed"                                                   \
    " AND EXISTS (SELECT 1 FROM version n WHERE n.dag = v.dag AND n.number > v.number)"            \
    " AND NOT EXISTS (SELECT 1 FROM run r WHERE r.dag = v.dag AND r.version = v.id)"               \
    " AND NOT EXISTS (SELECT 1 FROM backfill b WHERE b.version = v.id)"
/* Tasks tell where they ran, so hosts stay as long as those. The fleet is that of the last one. */
#define HOSTS_OLD                                                                                  \
    "SELECT h.id FROM host h WHERE h.ended_at_us < $1"                                             \
    " AND EXISTS (SELECT 1 FROM host n WHERE n.kind = h.kind AND n.id > h.id)"                     \
    " AND NOT EXISTS (SELECT 1 FROM running r WHERE r.host = h.id)"                                \
    " AND NOT EXISTS (SELECT 1 FROM wait w WHERE w.host = h.id)"
/* What was empty at an instant that is over is as good as none. */
#define RATES_OLD    "SELECT hook_key FROM alert_rate WHERE empty_at_us < $1"
#define TOKENS_OLD   "SELECT id FROM token WHERE expires_at_us < $1"
#define SESSIONS_OLD "SELECT hash FROM session WHERE expires_at_us < $1"
#define LINKS_OLD    "SELECT hash FROM login_link WHERE expires_at_us < $1"
#define ANSWERS_OLD  "SELECT owner, key FROM answered WHERE created_at_us < $1"

_Static_assert(EVENT_RUN_DELETED == 13, "as in the SQL");
_Static_assert(TRIGGER_DATASET == 0 && TRIGGER_FILE == 2, "as in the SQL");
_Static_assert(NOTICE_SENT == 2 && NOTICE_FAILED == 3 && NOTICE_DROPPED == 4, "as in the SQL");
_Static_assert(BACKFILL_SUCCESS == 4 && BACKFILL_FAILED == 5 && BACKFILL_CANCELLED == 6,
               "as in the SQL");

#define BY_ID(old)      "(" old " ORDER BY 1 LIMIT $2)"
#define BY_AGE(old, at) "(" old " ORDER BY " at ", 1 LIMIT $2)"
#define BY_KEY(old)     "(" old " LIMIT $2)"
#define COUNT(old)      "SELECT count(*) FROM (" old ") AS rows_old"
#define FILES_OF(dag)   "('files/' || CAST(" dag " AS TEXT))"
#define FILES_FROM(dag) "(SELECT p.run FROM retention p WHERE p.what = " FILES_OF(dag) ")"

/* $1: the instant, $2: how many at most. */
static const struct rule {
    const char *count;
    const char *before; /* by the instant alone, or NULL */
    const char *also;   /* the same, after it */
    const char *parts;  /* what belongs to them, or is noted of them; or NULL */
    const char *rows;
    const char *lock; /* of PostgreSQL, before all of them; or NULL */
} RULES[] = {
    [OLD_EVENTS] = {.count = COUNT(EVENTS_OLD),
                    .parts = EVENTS_REMOVED_NOTE("id IN " BY_AGE(EVENTS_OLD, "at_us")),
                    .rows = "DELETE FROM event WHERE id IN " BY_AGE(EVENTS_OLD, "at_us")},
    [OLD_ASSET_EVENTS] = {.count = COUNT(ASSET_EVENTS_OLD),
                          .rows = "DELETE FROM asset_event WHERE id IN " BY_AGE(ASSET_EVENTS_OLD,
                                                                                "e.at_us")},
    [OLD_WEBHOOK_CALLS] = {.count = COUNT(WEBHOOK_CALLS_OLD),
                           .rows = "DELETE FROM webhook_call WHERE (webhook, key) IN " BY_KEY(
                               WEBHOOK_CALLS_OLD)},
    [OLD_MISSED] = {.count = COUNT(MISSED_OLD),
                    .rows = "DELETE FROM missed WHERE (dag, first_us) IN " BY_KEY(MISSED_OLD)},
    [OLD_NOTICES] = {.count = COUNT(NOTICES_OLD),
                     .parts =
                         "DELETE FROM notice WHERE head IN " BY_AGE(NOTICES_OLD, "ended_at_us"),
                     .rows = "DELETE FROM notice WHERE id IN " BY_AGE(NOTICES_OLD, "ended_at_us")},
    [OLD_ARRIVALS] =
        {.count = COUNT(ARRIVALS_OLD),
         .before = "INSERT INTO retention (what, run) SELECT DISTINCT " FILES_OF(
             "f.dag") ", CAST($1 AS BIGINT) FROM file_arrival f WHERE f.id IN (" ARRIVALS_OLD ")"
                      " ON CONFLICT (what) DO UPDATE SET run = excluded.run"
                      " WHERE retention.run < excluded.run",
         .also = "UPDATE trigger_watch SET since_us = " FILES_FROM(
             "trigger_watch.dag") " WHERE kind = 2 AND since_us < $1"
                                  " AND since_us < " FILES_FROM("trigger_watch.dag"),
         .rows = "DELETE FROM file_arrival WHERE id IN " BY_ID(ARRIVALS_OLD)},
    [OLD_BACKFILLS] = {.count = COUNT(BACKFILLS_OLD),
                       .parts = "DELETE FROM backfill_run WHERE backfill IN " BY_ID(BACKFILLS_OLD),
                       .rows = "DELETE FROM backfill WHERE id IN " BY_ID(BACKFILLS_OLD)},
    [OLD_VERSIONS] = {.count = COUNT(VERSIONS_OLD),
                      .parts = "DELETE FROM version_file WHERE version IN " BY_ID(VERSIONS_OLD),
                      .rows = "DELETE FROM version WHERE id IN " BY_ID(VERSIONS_OLD),
                      /* Nobody makes one of them the current one meanwhile. */
                      .lock = "SELECT count(*) FROM (SELECT id FROM dag WHERE id IN (SELECT w.dag"
                              " FROM version w WHERE w.id IN " BY_ID(
                                  VERSIONS_OLD) ") ORDER BY id FOR UPDATE) AS locked"},
    [OLD_HOSTS] = {.count = COUNT(HOSTS_OLD),
                   .rows = "DELETE FROM host WHERE id IN " BY_ID(HOSTS_OLD)},
    [OLD_RATES] = {.count = COUNT(RATES_OLD),
                   .rows = "DELETE FROM alert_rate WHERE hook_key IN " BY_KEY(RATES_OLD)},
    [OLD_TOKENS] = {.count = COUNT(TOKENS_OLD),
                    .rows = "DELETE FROM token WHERE id IN " BY_ID(TOKENS_OLD)},
    [OLD_SESSIONS] = {.count = COUNT(SESSIONS_OLD),
                      .rows = "DELETE FROM session WHERE hash IN " BY_KEY(SESSIONS_OLD)},
    [OLD_LINKS] = {.count = COUNT(LINKS_OLD),
                   .rows = "DELETE FROM login_link WHERE hash IN " BY_KEY(LINKS_OLD)},
    [OLD_ANSWERS] = {.count = COUNT(ANSWERS_OLD),
                     .rows = "DELETE FROM answered WHERE (owner, key) IN " BY_KEY(ANSWERS_OLD)},
};
_Static_assert(ARRAY_LEN(RULES) == OLD_ROWS_COUNT, "a rule for each");

static const char *const NAMES[] = {
#define X(name, text) [OLD_##name] = text,
    OLD_ROWS_MAP(X)
#undef X
};

/* Whoever watches files looks at all of them again when the instant moves: once a day is enough. */
static int64_t instant_for(enum old_rows kind, int64_t before_us)
{
    return kind == OLD_ARRIVALS ? before_us - before_us % DAY_US : before_us;
}

enum status store_old_rows_count(struct store *store, enum old_rows kind, int64_t before_us,
                                 int64_t *out, struct err *err)
{
    if (db_get_int(store->db, 0, out, err, RULES[kind].count, "i", instant_for(kind, before_us)) !=
        STATUS_OK)
        return err_wrap(err, "count old %s", NAMES[kind]);
    return STATUS_OK;
}

struct removing {
    enum old_rows kind;
    int64_t before_us;
    int64_t limit;
    int64_t *out;
};

static enum status remove_rows(struct store *store, const struct removing *call, struct err *err)
{
    const struct rule *rule = &RULES[call->kind];
    const char *const by_instant[] = {rule->before, rule->also};
    const char *const by_number[] = {rule->parts, rule->rows};
    int64_t locked = 0;
    if (rule->lock != NULL && db_dialect(store->db) == DB_POSTGRES &&
        db_get_int(store->db, 0, &locked, err, rule->lock, "ii", call->before_us, call->limit) !=
            STATUS_OK)
        return err->code;
    for (size_t i = 0; i < ARRAY_LEN(by_instant); i++)
        if (by_instant[i] != NULL &&
            db_do(store->db, err, by_instant[i], "i", call->before_us) != STATUS_OK)
            return err->code;
    for (size_t i = 0; i < ARRAY_LEN(by_number); i++)
        if (by_number[i] != NULL &&
            db_do(store->db, err, by_number[i], "ii", call->before_us, call->limit) != STATUS_OK)
            return err->code;
    *call->out = db_changes(store->db);
    bool leaves_files = call->kind == OLD_VERSIONS && *call->out > 0;
    return leaves_files ? named_files_sweep(store, err) : STATUS_OK;
}

static enum status remove_once(struct store *store, const void *context, struct err *err)
{
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK || remove_rows(store, context, err) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

enum status store_old_rows_remove(struct store *store, enum old_rows kind, int64_t before_us,
                                  int64_t limit, int64_t *out, struct err *err)
{
    int64_t gone = 0;
    const struct removing call = {kind, instant_for(kind, before_us), limit, &gone};
    struct err problem = {0};
    enum status status = remove_once(store, &call, &problem);
    /* There is no hurry: the next turn tries again, and others are not kept waiting. */
    bool is_put_off = status == STATUS_BUSY || status == STATUS_UNKNOWN;
    *out = status == STATUS_OK ? gone : 0;
    if (status == STATUS_OK || is_put_off)
        return STATUS_OK;
    *err = problem;
    return err_wrap(err, "remove old %s", NAMES[kind]);
}

static const char SINCE[] = "SELECT p.run FROM retention p WHERE p.what ="
                            " 'files/' || CAST(CAST($1 AS BIGINT) AS TEXT)";

enum status store_files_since(struct store *store, int64_t dag_key, int64_t *out_us,
                              struct err *err)
{
    return db_get_int(store->db, 0, out_us, err, SINCE, "i", dag_key);
}
