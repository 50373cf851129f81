#include "store/audit.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "store/store_priv.h"

/* Rows of a question: an answer as a whole has to fit into memory on PostgreSQL. */
enum { PAGE_ROWS = 500 };

/* The names that duties, hosts and triggers give themselves, as the index of people's says them. */
#define MACHINES "'schedule', 'scheduler', 'backfill', 'timeout', 'retention', 'webhook', 'sla'"
#define IS_OF_PEOPLE                                                                               \
    "e.actor NOT IN (" MACHINES ") AND substr(e.actor, 1, 9) <> 'backfill '"                       \
    " AND substr(e.actor, 1, 5) <> 'host '"
/* Whose namespace is not known here is looked at by who asks. */
#define AUDIT_ROWS                                                                                 \
    "SELECT " EVENT_ROW_COLUMNS EVENT_ROW_FROM                                                     \
    " WHERE e.id < $1 AND e.at_us >= $2 AND e.at_us < $3 AND e.actor IS NOT NULL"                  \
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

struct audit_page {
    int64_t before;
    int64_t rows;
    bool is_enough;
};

static bool is_machine(const char *actor)
{
    CLEANUP(mem_freep) char *quoted = mem_format("'%s'", actor);
    return strstr(MACHINES, quoted) != NULL || str_starts_with(actor, "backfill ") ||
           str_starts_with(actor, "host ");
}

/* Of what only people can have done the index of theirs tells, of all the rest none. */
static const char *choose(const struct audit_filter *filter)
{
    bool is_of_people = filter->actor != NULL ? !is_machine(filter->actor) : !filter->with_machines;
    if (filter->run != 0)
        return is_of_people ? AUDIT_OF_RUN_BY_PEOPLE : AUDIT_OF_RUN;
    return is_of_people ? AUDIT_OF_PEOPLE : AUDIT;
}

static enum status read_page(struct store *store, const struct audit_filter *filter,
                             enum status (*each)(void *context, const struct event_row *row,
                                                 bool *out_enough, struct err *err),
                             void *context, struct audit_page *page, struct err *err)
{
    struct db_stmt *stmt = NULL;
    page->rows = 0;
    enum status status =
        db_query(store->db, &stmt, err, choose(filter), "iiitiitt", page->before, filter->from_us,
                 filter->to_us != 0 ? filter->to_us : INT64_MAX,
                 filter->actor != NULL ? filter->actor : "", filter->run, (int64_t)PAGE_ROWS,
                 filter->dag_id != NULL ? filter->dag_id : "", store_sight(store));
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        struct event_row row = event_row_read(stmt);
        page->rows++;
        page->before = row.id;
        if (row.kind < EVENT_KIND_COUNT && event_kind_is_change(row.kind))
            status = each(context, &row, &page->is_enough, err);
        if (status != STATUS_OK || page->is_enough) {
            db_reset(stmt);
            break;
        }
    }
    return status;
}

enum status store_audit_each(struct store *store, const struct audit_filter *filter,
                             enum status (*each)(void *context, const struct event_row *row,
                                                 bool *out_enough, struct err *err),
                             void *context, struct err *err)
{
    struct audit_page page = {.before = filter->before != 0 ? filter->before : INT64_MAX};
    do {
        if (read_page(store, filter, each, context, &page, err) != STATUS_OK)
            return err_wrap(err, "read the audit trail");
    } while (page.rows == PAGE_ROWS && !page.is_enough);
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
