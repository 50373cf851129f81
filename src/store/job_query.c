/*
 * job_query: plain jobs as people ask for them.
 */
#include "base/check.h"
#include "base/str.h"
#include "store/job.h"
#include "store/sight.h"
#include "store/store_priv.h"

/* What people read for each state; several states may share a name. */
static const char *const STATUS[] = {
    [TASK_NONE] = "pending",         [TASK_SCHEDULED] = "delayed",
    [TASK_QUEUED] = "pending",       [TASK_RUNNING] = "claimed",
    [TASK_SUCCESS] = "completed",    [TASK_FAILED] = "failed",
    [TASK_SKIPPED] = "skipped",      [TASK_UPSTREAM_FAILED] = "failed",
    [TASK_UP_FOR_RETRY] = "delayed", [TASK_UP_FOR_RESCHEDULE] = "delayed",
    [TASK_DEFERRED] = "delayed",     [TASK_AWAITING_INPUT] = "delayed",
    [TASK_CANCELLED] = "cancelled",  [TASK_REMOVED] = "cancelled",
};
_Static_assert(ARRAY_LEN(STATUS) == TASK_STATE_COUNT, "every state has a name");

static const char *const NAMES[] = {"pending", "delayed", "claimed",  "completed",
                                    "failed",  "skipped", "cancelled"};

const char *job_status_name(enum task_state state)
{
    CHECK(state < TASK_STATE_COUNT);
    return STATUS[state];
}

const char *job_status_at(size_t i)
{
    return i < ARRAY_LEN(NAMES) ? NAMES[i] : NULL;
}

bool job_status_is_known(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(NAMES); i++)
        if (str_equal(NAMES[i], name))
            return true;
    return false;
}

#define JOB_COLUMNS                                                                                \
    "j.id, q.name, j.handler, j.payload, j.dedupe, j.namespace, j.actor, j.rank, j.retries,"       \
    " j.retry_delay_ms, j.timeout_ms, j.finish_on_lost_lease, t.state, t.generation, t.attempt,"   \
    " t.failures, t.losses, t.host, t.reason, t.exit_code, t.detail, j.created_at_us,"             \
    " t.due_at_us, t.started_at_us, t.ended_at_us, j.result, j.error, j.cancel_asked,"             \
    " coalesce(t.ended_at_us, t.started_at_us, t.queued_at_us, j.created_at_us),"                  \
    " (SELECT count(*) FROM dead d WHERE d.task = j.id)"
#define JOB_TABLES " FROM job j JOIN task t ON t.id = j.id LEFT JOIN queue q ON q.id = j.queue"

static const char JOB_LOAD[] = "SELECT " JOB_COLUMNS JOB_TABLES " WHERE j.id = $1";
static const char JOB_LIST[] =
    "SELECT " JOB_COLUMNS JOB_TABLES
    " WHERE (CAST($1 AS BIGINT) = 0 OR j.id < $1) ORDER BY j.id DESC LIMIT $2";
static const char JOB_LIST_QUEUE[] =
    "SELECT " JOB_COLUMNS JOB_TABLES " WHERE j.queue = (SELECT id FROM queue WHERE name = $3)"
    " AND (CAST($1 AS BIGINT) = 0 OR j.id < $1) ORDER BY j.id DESC LIMIT $2";

static const char *text_of(struct db_stmt *stmt, struct arena *arena, int column)
{
    const char *text = db_text(stmt, column);
    return arena != NULL && text != NULL ? arena_strdup(arena, text) : text;
}

/* With an arena the texts are copied into it; without, they are borrowed until the next step. */
static void read_job(struct db_stmt *stmt, struct arena *arena, struct job_info *out)
{
    *out = (struct job_info){
        .id = db_int(stmt, 0),
        .queue = text_of(stmt, arena, 1),
        .handler = text_of(stmt, arena, 2),
        .payload = text_of(stmt, arena, 3),
        .dedupe = text_of(stmt, arena, 4),
        .namespace_ = text_of(stmt, arena, 5),
        .actor = text_of(stmt, arena, 6),
        .priority = -db_int(stmt, 7),
        .retries = db_int(stmt, 8),
        .retry_delay_ms = db_int(stmt, 9),
        .timeout_ms = db_int(stmt, 10),
        .finish_on_lost_lease = db_int(stmt, 11) != 0,
        .state = (enum task_state)db_int(stmt, 12),
        .generation = db_int(stmt, 13),
        .attempt = db_int(stmt, 14),
        .failures = db_int(stmt, 15),
        .losses = db_int(stmt, 16),
        .host = db_int(stmt, 17),
        .reason = (enum reason)db_int(stmt, 18),
        .exit_code = db_is_null(stmt, 19) ? -1 : db_int(stmt, 19),
        .detail = text_of(stmt, arena, 20),
        .created_at_us = db_int(stmt, 21),
        .run_after_us = db_int(stmt, 22),
        .started_at_us = db_int(stmt, 23),
        .ended_at_us = db_int(stmt, 24),
        .result = text_of(stmt, arena, 25),
        .error = text_of(stmt, arena, 26),
        .cancel_asked = db_int(stmt, 27) != 0,
        .updated_at_us = db_int(stmt, 28),
        .is_dead = db_int(stmt, 29) != 0,
    };
}

/*
 * Jobs of one status are looked for among all of them, newest first: there is no index by state,
 * which would make every change of a state dearer. The walk is in portions, so that a reader does
 * not hold the database for long.
 */
enum { PORTION = 1000 };

struct walk {
    const struct job_filter *filter;
    enum status (*each)(void *context, const struct job_info *info, struct err *err);
    void *context;
    int64_t before;
    int64_t wanted;
    int64_t seen;  /* of this portion */
    bool is_picky; /* not every one is shown */
};

static enum status walk_portion(struct store *store, struct walk *walk, struct err *err)
{
    const struct job_filter *filter = walk->filter;
    struct db_stmt *stmt = NULL;
    int64_t limit = walk->is_picky ? PORTION : walk->wanted;
    enum status status = filter->queue == NULL
                             ? db_query(store->db, &stmt, err, JOB_LIST, "ii", walk->before, limit)
                             : db_query(store->db, &stmt, err, JOB_LIST_QUEUE, "iit", walk->before,
                                        limit, filter->queue);
    walk->seen = 0;
    while (status == STATUS_OK && walk->wanted > 0 && db_next(stmt, &status, err)) {
        struct job_info info;
        read_job(stmt, NULL, &info);
        walk->before = info.id;
        walk->seen++;
        if ((filter->status != NULL && !str_equal(filter->status, job_status_name(info.state))) ||
            !store_sees(store, info.namespace_))
            continue;
        walk->wanted--;
        status = walk->each(walk->context, &info, err);
        if (status != STATUS_OK || walk->wanted == 0)
            db_reset(stmt);
    }
    return status;
}

enum status store_job_each(struct store *store, const struct job_filter *filter,
                           enum status (*each)(void *context, const struct job_info *info,
                                               struct err *err),
                           void *context, struct err *err)
{
    struct walk walk = {.filter = filter,
                        .each = each,
                        .context = context,
                        .before = filter->before,
                        .wanted = filter->limit,
                        .is_picky = filter->status != NULL || !store_sees_all(store)};
    do {
        if (walk_portion(store, &walk, err) != STATUS_OK)
            return err_wrap(err, "list jobs");
    } while (walk.is_picky && walk.wanted > 0 && walk.seen == PORTION);
    return STATUS_OK;
}

/* The states of a status are bits of a number. */
#define STATE_IS_AMONG "(CAST(1 AS BIGINT) << CAST(t.state AS INTEGER)) & $2 <> 0"
static const char JOB_COUNT[] = COUNT_OF("SELECT 1 AS one FROM job j LIMIT $1");
static const char JOB_COUNT_IN[] = COUNT_OF(
    "SELECT 1 AS one FROM job j JOIN task t ON t.id = j.id WHERE " STATE_IS_AMONG " LIMIT $1");
static const char JOB_COUNT_QUEUE[] = COUNT_OF(
    "SELECT 1 AS one FROM job j JOIN task t ON t.id = j.id"
    " WHERE j.queue = (SELECT id FROM queue WHERE name = $3) AND " STATE_IS_AMONG " LIMIT $1");

static const char JOB_COUNT_SEEN[] =
    COUNT_OF("SELECT 1 AS one FROM job j JOIN task t ON t.id = j.id WHERE " STATE_IS_AMONG
             " AND (CAST($3 AS TEXT) IS NULL OR j.queue = (SELECT id FROM queue WHERE name = $3))"
             " AND " SEEN("$4", "j.namespace") " LIMIT $1");

static int64_t states_of(const char *status)
{
    int64_t states = 0;
    for (enum task_state state = 0; state < TASK_STATE_COUNT; state++)
        if (status == NULL || str_equal(status, job_status_name(state)))
            states |= (int64_t)1 << state;
    return states;
}

enum status store_job_count(struct store *store, const struct job_filter *filter, int64_t most,
                            int64_t *out, struct err *err)
{
    int64_t states = states_of(filter->status);
    if (!store_sees_all(store))
        return db_get_int(store->db, 0, out, err, JOB_COUNT_SEEN, "iitt", most, states,
                          filter->queue, store_sight(store));
    if (filter->queue != NULL)
        return db_get_int(store->db, 0, out, err, JOB_COUNT_QUEUE, "iit", most, states,
                          filter->queue);
    return filter->status == NULL
               ? db_get_int(store->db, 0, out, err, JOB_COUNT, "i", most)
               : db_get_int(store->db, 0, out, err, JOB_COUNT_IN, "ii", most, states);
}

enum status store_job_load(struct store *store, struct arena *arena, int64_t id,
                           struct job_info *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, JOB_LOAD, "i", id) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err_wrap(err, "look at a job");
    if (!row)
        return err_set(err, STATUS_NOT_FOUND, "there is no job %lld", (long long)id);
    read_job(stmt, arena, out);
    db_reset(stmt);
    return STATUS_OK;
}
