#include "store/audit.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "store/event_scan.h"
#include "store/id_list.h"
#include "store/store_priv.h"

/* Rows of a question: an answer as a whole has to fit into memory on PostgreSQL. */
enum { PAGE_ROWS = 500 };
/* Ids that are found at once. */
enum { PAGE_IDS = 5000 };
/* A DAG of more runs than these may be met soon: among so many events that is looked for first. */
enum { FEW_RUNS = 1000, NEAR = 200000 };

/* The names that duties, hosts and triggers give themselves, as the index of people's says them. */
#define MACHINES "'schedule', 'scheduler', 'backfill', 'timeout', 'retention', 'webhook', 'sla'"
#define IS_OF_PEOPLE                                                                               \
    "e.actor NOT IN (" MACHINES ") AND substr(e.actor, 1, 9) <> 'backfill '"                       \
    " AND substr(e.actor, 1, 5) <> 'host '"
/* Whose namespace is not known here is looked at by who asks. */
#define AUDIT_ROWS                                                                                 \
    "SELECT " EVENT_ROW_COLUMNS EVENT_ROW_FROM                                                     \
    " WHERE e.id < $1 AND e.id > $9 AND e.at_us >= $2 AND e.at_us < $3 AND e.actor IS NOT NULL"    \
    " AND ($4 = '' OR e.actor = $4 OR ($4 = 'backfill' AND substr(e.actor, 1, 9) = 'backfill '))"  \
    " AND ($7 = '' OR d.dag_id IS NULL OR d.dag_id = $7)"                                          \
    " AND (coalesce(d.namespace, j.namespace) IS NULL OR " SEEN(                                   \
        "$8", "coalesce(d.namespace, j.namespace)") ")"

static const char AUDIT[] = AUDIT_ROWS " AND $5 = 0 ORDER BY e.id DESC LIMIT $6";
static const char AUDIT_OF_PEOPLE[] =
    AUDIT_ROWS " AND $5 = 0 AND " IS_OF_PEOPLE " ORDER BY e.id DESC LIMIT $6";
/* The index of runs leaves out jobs, which is to be said. */
#define OF_RUN " AND e.run = $5 AND e.run > 0"
static const char AUDIT_OF_RUN[] = AUDIT_ROWS OF_RUN " ORDER BY e.run DESC, e.id DESC LIMIT $6";
static const char AUDIT_OF_RUN_BY_PEOPLE[] =
    AUDIT_ROWS OF_RUN " AND " IS_OF_PEOPLE " ORDER BY e.run DESC, e.id DESC LIMIT $6";

/*
 * Of one actor and of one DAG the ids are found first. The index of actors leaves out the one that
 * starts most runs, and is soon met. Of a DAG they are those of each of its runs, and what is about
 * no run and names it, or may: in other words, or as a backfill of it.
 *
 * Equal is said as neither less nor more where only one index gives the order then: PostgreSQL
 * else walks over all, hoping to meet what is rare soon.
 */
#define MOST_BUSY "schedule"
/* Not by the index of time, along which all that is about no run would be looked at. */
#define IN_TIME(e)                                                                                 \
    e ".id < $1 AND " e ".at_us + 0 >= $2 AND " e ".at_us + 0 < $3 AND " e ".actor IS NOT NULL"
#define IDS_OF_ACTOR(is)                                                                           \
    "SELECT x.id FROM event x WHERE " is " AND x.actor <> '" MOST_BUSY                             \
    "' AND " IN_TIME("x") " ORDER BY x.actor DESC, x.id DESC LIMIT $4"
static const char *const OF_ACTOR[2] = {
    [DB_SQLITE] = IDS_OF_ACTOR("x.actor = $5"),
    [DB_POSTGRES] = IDS_OF_ACTOR("x.actor >= $5 AND x.actor <= $5"),
};
#define THE_DAG "(SELECT g.id FROM dag g WHERE g.dag_id = $5)"
#define OF_RUNS_SQLITE                                                                             \
    "SELECT x.id FROM run w CROSS JOIN event x WHERE w.dag = " THE_DAG                             \
    " AND x.run = w.id AND " IN_TIME("x")
/* The bound is none, but has one run looked at after the other. */
#define OF_RUNS_POSTGRES                                                                           \
    "SELECT x.id FROM run w CROSS JOIN LATERAL (SELECT y.id FROM event y WHERE y.run = w.id"       \
    " AND y.run > 0 AND " IN_TIME("y") " ORDER BY y.run, y.id LIMIT " ALL                          \
                                       ") x WHERE w.dag = " THE_DAG
#define ALL       "9223372036854775807"
#define HAS(text) "replace(x.data, " text ", '') <> x.data"
#define ABOUT_DAG(name)                                                                            \
    "SELECT x.id FROM event x WHERE " name " = $5 AND " EVENT_OF_NO_RUN                            \
    " AND " IN_TIME("x") " UNION SELECT x.id FROM event x WHERE " name                             \
                         " IS NULL AND " EVENT_OF_NO_RUN                                           \
                         " AND (" HAS("$5") " OR " HAS("'\"backfill\"'") ") AND " IN_TIME("x")
#define IDS_OF_DAG(runs, name)                                                                     \
    "SELECT c.id FROM (" runs " UNION " ABOUT_DAG(name) ") c ORDER BY c.id DESC LIMIT $4"
static const char *const OF_DAG[2] = {
    [DB_SQLITE] = IDS_OF_DAG(OF_RUNS_SQLITE, EVENT_DAG_SQLITE),
    [DB_POSTGRES] = IDS_OF_DAG(OF_RUNS_POSTGRES, EVENT_DAG_POSTGRES),
};
#define ROWS_BY_IDS(list)                                                                          \
    "SELECT " EVENT_ROW_COLUMNS EVENT_ROW_FROM " WHERE e.id " list                                 \
    " AND ($2 = '' OR d.dag_id IS NULL OR d.dag_id = $2) AND ($3 = '' OR e.actor = $3"             \
    " OR ($3 = 'backfill' AND substr(e.actor, 1, 9) = 'backfill '))"                               \
    " AND (coalesce(d.namespace, j.namespace) IS NULL OR " SEEN(                                   \
        "$4", "coalesce(d.namespace, j.namespace)") ") AND ($5 = 0 OR (" IS_OF_PEOPLE              \
                                                    ")) ORDER BY e.id DESC"
static const char *const BY_IDS[2] = {
    [DB_SQLITE] = ROWS_BY_IDS("IN (SELECT value FROM json_each($1))"),
    [DB_POSTGRES] = ROWS_BY_IDS("= ANY ($1)"),
};
static const char NEWEST[] = "SELECT coalesce(max(id), 0) FROM event";
static const char RUNS[] =
    COUNT_OF("SELECT 1 AS one FROM run r WHERE r.dag = (SELECT g.id FROM dag g WHERE g.dag_id = $1)"
             " LIMIT $2");

struct audit_walk {
    const struct audit_filter *filter;
    enum status (*each)(void *context, const struct event_row *row, bool *out_enough,
                        struct err *err);
    void *context;
    int64_t before; /* ids below, and above the other bound */
    int64_t after;
    int64_t rows; /* of this page */
    bool is_enough;
};

static bool is_machine(const char *actor)
{
    CLEANUP(mem_freep) char *quoted = mem_format("'%s'", actor);
    return strstr(MACHINES, quoted) != NULL || str_starts_with(actor, "backfill ") ||
           str_starts_with(actor, "host ");
}

static bool is_of_people(const struct audit_filter *filter)
{
    return filter->actor != NULL ? !is_machine(filter->actor) : !filter->with_machines;
}

/* Of what only people can have done the index of theirs tells, of all the rest none. */
static const char *choose(const struct audit_filter *filter)
{
    if (filter->run != 0)
        return is_of_people(filter) ? AUDIT_OF_RUN_BY_PEOPLE : AUDIT_OF_RUN;
    return is_of_people(filter) ? AUDIT_OF_PEOPLE : AUDIT;
}

static const char *text_or_none(const char *text)
{
    return text != NULL ? text : "";
}

static int64_t end_us(const struct audit_filter *filter)
{
    return filter->to_us != 0 ? filter->to_us : INT64_MAX;
}

static enum status show_rows(struct audit_walk *walk, struct db_stmt *stmt, struct err *err)
{
    enum status status = STATUS_OK;
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        struct event_row row = event_row_read(stmt);
        walk->rows++;
        walk->before = row.id;
        if (row.kind < EVENT_KIND_COUNT && event_kind_is_change(row.kind))
            status = walk->each(walk->context, &row, &walk->is_enough, err);
        if (status != STATUS_OK || walk->is_enough) {
            db_reset(stmt);
            break;
        }
    }
    return status;
}

/* --- along all events ------------------------------------------------------------------------ */

static enum status walk_all(struct store *store, struct audit_walk *walk, struct err *err)
{
    const struct audit_filter *filter = walk->filter;
    do {
        struct db_stmt *stmt = NULL;
        walk->rows = 0;
        if (db_query(store->db, &stmt, err, choose(filter), "iiitiitti", walk->before,
                     filter->from_us, end_us(filter), text_or_none(filter->actor), filter->run,
                     (int64_t)PAGE_ROWS, text_or_none(filter->dag_id), store_sight(store),
                     walk->after) != STATUS_OK ||
            show_rows(walk, stmt, err) != STATUS_OK)
            return err->code;
    } while (walk->rows == PAGE_ROWS && !walk->is_enough);
    return STATUS_OK;
}

/* --- by ids ---------------------------------------------------------------------------------- */

static enum status show_ids(struct store *store, struct audit_walk *walk, const int64_t *ids,
                            size_t count, struct err *err)
{
    const char *sql = BY_IDS[db_dialect(store->db)];
    const char *dag_id = text_or_none(walk->filter->dag_id);
    const char *actor = text_or_none(walk->filter->actor);
    int64_t people = is_of_people(walk->filter);
    struct db_stmt *stmt = NULL;
    CLEANUP(mem_freep) char *list = ids_as_json(ids, count);
    enum status status = db_dialect(store->db) == DB_SQLITE
                             ? db_query(store->db, &stmt, err, sql, "tttti", list, dag_id, actor,
                                        store_sight(store), people)
                             : db_query(store->db, &stmt, err, sql, "Ittti", ids, count, dag_id,
                                        actor, store_sight(store), people);
    return status == STATUS_OK ? show_rows(walk, stmt, err) : status;
}

static enum status find_ids(struct store *store, const struct audit_walk *walk, const char *sql,
                            const char *of, struct id_list *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status =
        db_query(store->db, &stmt, err, sql, "iiiit", walk->before, walk->filter->from_us,
                 end_us(walk->filter), (int64_t)PAGE_IDS, of);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        id_list_add(out, db_int(stmt, 0));
    return status;
}

static enum status walk_ids(struct store *store, struct audit_walk *walk, const char *sql,
                            const char *of, struct err *err)
{
    for (bool is_more = true; is_more && !walk->is_enough;) {
        CLEANUP(id_list_fini) struct id_list ids = {0};
        if (find_ids(store, walk, sql, of, &ids, err) != STATUS_OK)
            return err->code;
        for (size_t i = 0; i < ids.count && !walk->is_enough; i += PAGE_ROWS)
            if (show_ids(store, walk, ids.items + i, MIN(ids.count - i, (size_t)PAGE_ROWS), err) !=
                STATUS_OK)
                return err->code;
        is_more = ids.count == PAGE_IDS;
        if (is_more)
            walk->before = ids.items[ids.count - 1];
    }
    return STATUS_OK;
}

/* --- which way ------------------------------------------------------------------------------- */

/* What happened after the time asked for has larger ids, but for some slack. */
static enum status skip_newer(struct store *store, const struct audit_filter *filter,
                              struct audit_walk *walk, struct err *err)
{
    int64_t first = 0;
    if (filter->to_us == 0 || filter->run != 0)
        return STATUS_OK;
    if (store_event_find(store, filter->to_us, &first, err) != STATUS_OK)
        return err->code;
    walk->before = MIN(walk->before, first + 2 * (int64_t)EVENT_FIND_SLACK);
    return STATUS_OK;
}

static enum status walk_near(struct store *store, struct audit_walk *walk, struct err *err)
{
    int64_t newest = 0;
    if (db_get_int(store->db, 0, &newest, err, NEWEST, "") != STATUS_OK)
        return err->code;
    walk->after = MAX(MIN(walk->before, newest) - NEAR, (int64_t)0);
    if (walk_all(store, walk, err) != STATUS_OK)
        return err->code;
    walk->before = MIN(walk->before, walk->after + 1);
    return STATUS_OK;
}

static enum status walk_dag(struct store *store, struct audit_walk *walk, struct err *err)
{
    const char *dag_id = walk->filter->dag_id;
    int64_t runs = 0;
    if (db_get_int(store->db, 0, &runs, err, RUNS, "ti", dag_id, (int64_t)FEW_RUNS) != STATUS_OK ||
        (runs == FEW_RUNS && walk_near(store, walk, err) != STATUS_OK))
        return err->code;
    return walk->is_enough ? STATUS_OK
                           : walk_ids(store, walk, OF_DAG[db_dialect(store->db)], dag_id, err);
}

static enum status walk_trail(struct store *store, struct audit_walk *walk, struct err *err)
{
    const struct audit_filter *filter = walk->filter;
    bool is_actor_indexed = filter->actor != NULL && !str_equal(filter->actor, MOST_BUSY) &&
                            !str_equal(filter->actor, "backfill");
    if (filter->run != 0)
        return walk_all(store, walk, err);
    if (is_actor_indexed)
        return walk_ids(store, walk, OF_ACTOR[db_dialect(store->db)], filter->actor, err);
    return filter->dag_id != NULL ? walk_dag(store, walk, err) : walk_all(store, walk, err);
}

enum status store_audit_each(struct store *store, const struct audit_filter *filter,
                             enum status (*each)(void *context, const struct event_row *row,
                                                 bool *out_enough, struct err *err),
                             void *context, struct err *err)
{
    struct audit_walk walk = {.filter = filter,
                              .each = each,
                              .context = context,
                              .before = filter->before != 0 ? filter->before : INT64_MAX};
    if (skip_newer(store, filter, &walk, err) != STATUS_OK ||
        walk_trail(store, &walk, err) != STATUS_OK)
        return err_wrap(err, "read the audit trail");
    return STATUS_OK;
}

enum status store_audit_add(struct store *store, enum event_kind kind, const char *actor,
                            const char *data, struct err *err)
{
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK || store_tell(store, kind, actor, data, err) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

/* --- who stopped it -------------------------------------------------------------------------- */

static const char STOP[] =
    "SELECT actor, at_us, data FROM event WHERE run = $1 AND run > 0 AND kind = $2"
    " AND ($3 = 0 OR task = $3) AND actor IS NOT NULL ORDER BY run DESC, id DESC LIMIT 1";

static void read_why(struct arena *arena, const char *data, struct stop_info *out)
{
    CLEANUP(json_decrefp) json_t *object = NULL;
    struct err ignored = {0};
    if (data == NULL || json_parse(data, strlen(data), &object, &ignored) != STATUS_OK)
        return;
    const char *reason = json_get_string(object, "reason", NULL);
    out->reason = reason != NULL ? arena_strdup(arena, reason) : NULL;
    out->replaced_by = json_get_int(object, "replaced_by", 0);
}

enum status store_stop_load(struct store *store, struct arena *arena, int64_t run, int64_t task,
                            struct stop_info *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum event_kind kind = task != 0 ? EVENT_TASK_CANCEL_ASKED : EVENT_RUN_CANCEL_ASKED;
    struct stop_info stop = {0};
    enum status status = db_query(store->db, &stmt, err, STOP, "iii", run, (int64_t)kind, task);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        stop.actor = arena_strdup(arena, db_text(stmt, 0));
        stop.at_us = db_int(stmt, 1);
        read_why(arena, db_is_null(stmt, 2) ? NULL : db_text(stmt, 2), &stop);
    }
    if (status != STATUS_OK)
        return err_wrap(err, "look who stopped run %lld", (long long)run);
    *out = stop;
    return STATUS_OK;
}
