#include "store/audit.h"

#include <string.h>

#include "base/json.h"
#include "store/store_priv.h"

/* Rows of a question: an answer as a whole has to fit into memory on PostgreSQL. */
enum { PAGE_ROWS = 500 };

/* The names that duties, hosts and triggers give themselves. */
#define IS_MACHINE                                                                                 \
    "(e.actor IN ('schedule', 'scheduler', 'backfill', 'timeout', 'retention', 'webhook', 'sla')"  \
    " OR e.actor LIKE 'backfill %' OR e.actor LIKE 'host %')"
#define AUDIT_ROWS                                                                                 \
    "SELECT " EVENT_ROW_COLUMNS EVENT_ROW_FROM                                                     \
    " WHERE e.id < $1 AND e.at_us >= $2 AND e.at_us < $3 AND e.actor IS NOT NULL"                  \
    " AND ($4 = '' OR e.actor = $4 OR ($4 = 'backfill' AND e.actor LIKE 'backfill %')) AND ($5 = " \
    "1 OR NOT " IS_MACHINE ")"

static const char AUDIT[] = AUDIT_ROWS " AND $6 = 0 ORDER BY e.id DESC LIMIT $7";
/* The index of runs leaves out jobs, which is to be said. */
static const char AUDIT_OF_RUN[] =
    AUDIT_ROWS " AND e.run = $6 AND e.run > 0 ORDER BY e.run DESC, e.id DESC LIMIT $7";

struct audit_page {
    int64_t before;
    int64_t rows;
    bool is_enough;
};

static enum status read_page(struct store *store, const struct audit_filter *filter,
                             enum status (*each)(void *context, const struct event_row *row,
                                                 bool *out_enough, struct err *err),
                             void *context, struct audit_page *page, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool all = filter->with_machines || filter->actor != NULL;
    page->rows = 0;
    enum status status = db_query(
        store->db, &stmt, err, filter->run == 0 ? AUDIT : AUDIT_OF_RUN, "iiitiii", page->before,
        filter->from_us, filter->to_us != 0 ? filter->to_us : INT64_MAX,
        filter->actor != NULL ? filter->actor : "", (int64_t)all, filter->run, (int64_t)PAGE_ROWS);
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
