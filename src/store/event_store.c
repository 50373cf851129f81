#include "store/event_store.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "store/store_priv.h"

#define EVENT_COLUMNS                                                                              \
    "SELECT id, at_us, kind, run, task, row_version, old_state, new_state, generation, attempt,"   \
    " actor, reason, data FROM event"
static const char EVENT_LIST[] = EVENT_COLUMNS " WHERE $1 = 0 AND id > $2 ORDER BY id LIMIT $3";
/* The index of runs leaves out jobs, which is to be said. */
static const char EVENT_LIST_OF_RUN[] =
    EVENT_COLUMNS " WHERE run = $1 AND run > 0 AND id > $2 ORDER BY run, id LIMIT $3";

enum status store_event_each(struct store *store, const struct event_range *range,
                             enum status (*each)(void *context, const struct event_info *event,
                                                 struct err *err),
                             void *context, struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status =
        db_query(store->db, &stmt, err, range->run == 0 ? EVENT_LIST : EVENT_LIST_OF_RUN, "iii",
                 range->run, range->after, range->limit);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        struct event_info event = {
            .id = db_int(stmt, 0),
            .at_us = db_int(stmt, 1),
            .kind = (enum event_kind)db_int(stmt, 2),
            .run = db_int(stmt, 3),
            .task = db_int(stmt, 4),
            .row_version = db_int(stmt, 5),
            .old_state = db_int(stmt, 6),
            .new_state = db_int(stmt, 7),
            .generation = db_int(stmt, 8),
            .attempt = db_int(stmt, 9),
            .actor = db_text(stmt, 10),
            .reason = (enum reason)db_int(stmt, 11),
            .data = db_text(stmt, 12),
        };
        status = each(context, &event, err);
        if (status != STATUS_OK)
            db_reset(stmt);
    }
    return status;
}

static const char EVENT_ADD[] =
    "INSERT INTO event (at_us, kind, actor, data) VALUES ($1, $2, $3, $4)";

void store_set_reason(struct store *store, const char *reason)
{
    free(store->reason);
    store->reason = NULL;
    if (reason == NULL || reason[0] == '\0')
        return;
    CLEANUP(json_decrefp) json_t *object = json_object();
    json_put_string(object, "reason", reason);
    store->reason = json_format(object);
}

char *store_add_reason(const struct store *store, const char *actor, const char *data)
{
    struct err ignored = {0};
    CLEANUP(json_decrefp) json_t *object = NULL;
    CLEANUP(json_decrefp) json_t *reason = NULL;
    if (store->reason == NULL || actor == NULL)
        return NULL;
    if (data == NULL)
        return mem_strdup(store->reason);
    if (json_parse(data, strlen(data), &object, &ignored) != STATUS_OK ||
        json_parse(store->reason, strlen(store->reason), &reason, &ignored) != STATUS_OK ||
        json_object_update_missing(object, reason) != 0)
        return NULL;
    return json_format(object);
}

enum status store_tell(struct store *store, enum event_kind kind, const char *actor,
                       const char *data, struct err *err)
{
    CLEANUP(mem_freep) char *reasoned = store_add_reason(store, actor, data);
    if (reasoned != NULL)
        data = reasoned;
    if (db_later(store->db, err, EVENT_ADD, "iitt", store_now_us(store), (int64_t)kind, actor,
                 data) != STATUS_OK)
        return err_wrap(err, "write an event");
    return STATUS_OK;
}
