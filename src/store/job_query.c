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
    "SELECT " JOB_COLUMNS JOB_TABLES " WHERE j.id < $1 ORDER BY j.id DESC LIMIT $2";
static const char JOB_LIST_QUEUE[] =
    "SELECT " JOB_COLUMNS JOB_TABLES " WHERE j.queue = (SELECT id FROM queue WHERE name = $3)"
    " AND j.id < $1 ORDER BY j.id DESC LIMIT $2";

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

/* --- by status ------------------------------------------------------------------------------- */

/*
 * There is no index by state, which would make every change of a state dearer. Those that completed
 * are most of all, and found by looking at all, the newest first. The others are few, or soon met
 * that way; else they are found by what their state put them into: the tables of what waits and
 * runs, and what the row of a job keeps of an end that was not good.
 */
#define WITH_STATE "(CAST(1 AS BIGINT) << CAST(t.state AS INTEGER)) & $3 <> 0"
#define OF_QUEUE   " AND (CAST($4 AS TEXT) IS NULL OR q.name = CAST($4 AS TEXT))"
/* $1 before, $2 limit, $3 the states as bits of a number, $4 queue; `ids` has the column task. */
#define JOBS_OF(what, ids)                                                                         \
    "SELECT " what " FROM (" ids ") c CROSS JOIN job j JOIN task t ON t.id = j.id"                 \
    " LEFT JOIN queue q ON q.id = j.queue WHERE j.id = c.task AND j.id < $1 AND " WITH_STATE       \
        OF_QUEUE
/* The same for a planner that cannot know how few they are just now. */
#define JOBS_OF_ARRAY(what, ids)                                                                   \
    "SELECT " what JOB_TABLES " WHERE j.id = ANY (ARRAY(" ids                                      \
    ")) AND j.id < $1 AND " WITH_STATE OF_QUEUE
#define WAITING_BY(find, ids)                                                                      \
    {                                                                                              \
        .list = find(JOB_COLUMNS, ids) " ORDER BY j.id DESC LIMIT $2",                             \
        .count = COUNT_OF(find("1 AS one", ids) " LIMIT $2"),                                      \
    }
#define WAITING(ids)                                                                               \
    [DB_SQLITE] = WAITING_BY(JOBS_OF, ids), [DB_POSTGRES] = WAITING_BY(JOBS_OF_ARRAY, ids)
#define ENDED_ROWS(what, queue)                                                                    \
    "SELECT " what JOB_TABLES " WHERE j.ended_as = $3 AND j.id < $1" queue
#define ENDED(queue)                                                                               \
    {                                                                                              \
        .list = ENDED_ROWS(JOB_COLUMNS, queue) " ORDER BY j.id DESC LIMIT $2",                     \
        .count = COUNT_OF(ENDED_ROWS("1 AS one", queue) " LIMIT $2"),                              \
    }
#define ANY_QUEUE " AND CAST($4 AS TEXT) IS NULL"
#define ONE_QUEUE " AND j.queue = (SELECT id FROM queue WHERE name = $4)"

struct job_queries {
    const char *list;
    const char *count;
};

static const struct {
    const char *status;
    enum task_state ended_as;      /* TASK_NONE: it is not over */
    struct job_queries queries[2]; /* of any queue and of one; before the end: by dialect */
} RARE[] = {
    {"pending", TASK_NONE, {WAITING("SELECT task FROM ready WHERE run = 0")}},
    {"claimed", TASK_NONE, {WAITING("SELECT task FROM running")}},
    {"delayed",
     TASK_NONE,
     {WAITING("SELECT task FROM timer UNION ALL SELECT task FROM pool_wait"
              " UNION ALL SELECT task FROM gate WHERE run = 0")}},
    {"failed", TASK_FAILED, {ENDED(ANY_QUEUE), ENDED(ONE_QUEUE)}},
    {"skipped", TASK_SKIPPED, {ENDED(ANY_QUEUE), ENDED(ONE_QUEUE)}},
    {"cancelled", TASK_CANCELLED, {ENDED(ANY_QUEUE), ENDED(ONE_QUEUE)}},
};

/* How jobs of a status are found. */
struct rare_jobs {
    const struct job_queries *queries; /* NULL: by looking at all */
    int64_t key;                       /* $3 */
    bool is_over;
};

static int64_t states_of(const char *status)
{
    int64_t states = 0;
    for (enum task_state state = 0; state < TASK_STATE_COUNT; state++)
        if (status == NULL || str_equal(status, job_status_name(state)))
            states |= (int64_t)1 << state;
    return states;
}

static struct rare_jobs find_rare(const struct store *store, const struct job_filter *filter)
{
    for (size_t i = 0; filter->status != NULL && i < ARRAY_LEN(RARE); i++) {
        if (!str_equal(filter->status, RARE[i].status))
            continue;
        bool is_over = RARE[i].ended_as != TASK_NONE;
        return (struct rare_jobs){
            .queries = is_over ? &RARE[i].queries[filter->queue != NULL]
                               : &RARE[i].queries[db_dialect(store->db)],
            .key = is_over ? (int64_t)RARE[i].ended_as : states_of(filter->status),
            .is_over = is_over,
        };
    }
    return (struct rare_jobs){.key = states_of(filter->status)};
}

/* --- listing --------------------------------------------------------------------------------- */

/* Whoever looks at all does so in portions, not to hold the database for long. */
enum { PORTION = 1000 };

struct walk {
    const struct store *store;
    const struct job_filter *filter;
    enum status (*each)(void *context, const struct job_info *info, struct err *err);
    void *context;
    int64_t before;
    int64_t wanted;
    int64_t seen;  /* of this portion */
    bool is_picky; /* not every one is shown */
};

static enum status walk_rows(struct walk *walk, struct db_stmt *stmt, struct err *err)
{
    const char *wanted_status = walk->filter->status;
    enum status status = STATUS_OK;
    walk->seen = 0;
    while (status == STATUS_OK && walk->wanted > 0 && db_next(stmt, &status, err)) {
        struct job_info info;
        read_job(stmt, NULL, &info);
        walk->before = info.id;
        walk->seen++;
        if ((wanted_status != NULL && !str_equal(wanted_status, job_status_name(info.state))) ||
            !store_sees(walk->store, info.namespace_))
            continue;
        walk->wanted--;
        status = walk->each(walk->context, &info, err);
        if (status != STATUS_OK || walk->wanted == 0)
            db_reset(stmt);
    }
    return status;
}

static enum status walk_portion(struct store *store, struct walk *walk, struct err *err)
{
    const struct job_filter *filter = walk->filter;
    struct db_stmt *stmt = NULL;
    int64_t limit = walk->is_picky ? PORTION : walk->wanted;
    enum status status = filter->queue == NULL
                             ? db_query(store->db, &stmt, err, JOB_LIST, "ii", walk->before, limit)
                             : db_query(store->db, &stmt, err, JOB_LIST_QUEUE, "iit", walk->before,
                                        limit, filter->queue);
    return status == STATUS_OK ? walk_rows(walk, stmt, err) : status;
}

static enum status walk_rare(struct store *store, struct walk *walk, const struct rare_jobs *rare,
                             struct err *err)
{
    struct db_stmt *stmt = NULL;
    if (db_query(store->db, &stmt, err, rare->queries->list, "iiit", walk->before, walk->wanted,
                 rare->key, walk->filter->queue) != STATUS_OK)
        return err->code;
    return walk_rows(walk, stmt, err);
}

enum status store_job_each(struct store *store, const struct job_filter *filter,
                           enum status (*each)(void *context, const struct job_info *info,
                                               struct err *err),
                           void *context, struct err *err)
{
    struct walk walk = {.filter = filter,
                        .each = each,
                        .context = context,
                        .before = filter->before != 0 ? filter->before : INT64_MAX,
                        .wanted = filter->limit,
                        .store = store,
                        .is_picky = filter->status != NULL || !store_sees_all(store)};
    /* Who does not see everything is shown what is found among all of them. */
    const struct rare_jobs rare =
        store_sees_all(store) ? find_rare(store, filter) : (struct rare_jobs){0};
    enum status status = STATUS_OK;
    bool is_more = !rare.is_over;
    while (status == STATUS_OK && is_more) {
        status = walk_portion(store, &walk, err);
        is_more = walk.is_picky && walk.wanted > 0 && walk.seen == PORTION;
        if (rare.queries != NULL)
            break;
    }
    if (status == STATUS_OK && rare.queries != NULL && (is_more || rare.is_over))
        status = walk_rare(store, &walk, &rare, err);
    return status == STATUS_OK ? STATUS_OK : err_wrap(err, "list jobs");
}

/* --- counting -------------------------------------------------------------------------------- */

static const char JOB_COUNT[] = COUNT_OF("SELECT 1 AS one FROM job j LIMIT $1");
static const char JOB_COUNT_QUEUE[] =
    COUNT_OF("SELECT 1 AS one FROM job j WHERE j.queue = (SELECT id FROM queue WHERE name = $2)"
             " LIMIT $1");
/* Each job's task is looked up, until there are enough: most tasks may be of runs, and a join of
 * both tables would read all of them. */
#define TASK_WITH_STATE                                                                            \
    "(CAST(1 AS BIGINT) << (SELECT CAST(t.state AS INTEGER) FROM task t WHERE t.id = j.id)) & $3"  \
    " <> 0"
#define IN_QUEUE(name)                                                                             \
    "(CAST(" name " AS TEXT) IS NULL OR j.queue = (SELECT id FROM queue WHERE name = " name "))"
static const char JOB_COUNT_IN[] = COUNT_OF(
    "SELECT 1 AS one FROM job j WHERE j.id < $1 AND " IN_QUEUE("$4") " AND " TASK_WITH_STATE
                                                                     " LIMIT $2");

/* What is seen, of whoever does not see everything. */
static const char JOB_COUNT_SEEN[] = COUNT_OF("SELECT 1 AS one FROM job j WHERE " IN_QUEUE(
    "$2") " AND " SEEN("$4", "j.namespace") " AND " TASK_WITH_STATE " LIMIT $1");

enum status store_job_count(struct store *store, const struct job_filter *filter, int64_t most,
                            int64_t *out, struct err *err)
{
    if (!store_sees_all(store))
        return db_get_int(store->db, 0, out, err, JOB_COUNT_SEEN, "itit", most, filter->queue,
                          states_of(filter->status), store_sight(store));
    const struct rare_jobs rare = find_rare(store, filter);
    const char *sql = rare.queries != NULL ? rare.queries->count : JOB_COUNT_IN;
    if (filter->status != NULL)
        return db_get_int(store->db, 0, out, err, sql, "iiit", INT64_MAX, most, rare.key,
                          filter->queue);
    return filter->queue == NULL
               ? db_get_int(store->db, 0, out, err, JOB_COUNT, "i", most)
               : db_get_int(store->db, 0, out, err, JOB_COUNT_QUEUE, "it", most, filter->queue);
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
