#include "store/value.h"

#include "model/task_state.h"
#include "store/store_priv.h"

static const char VALUE_LOAD[] = "SELECT key, json, bytes FROM value WHERE task = $1 AND key = $2";
static const char VALUE_LIST[] =
    "SELECT key, json, bytes FROM value WHERE task = $1 ORDER BY task, key";

enum status store_value_load(struct store *store, struct arena *arena, int64_t task,
                             const char *key, struct value_info *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, VALUE_LOAD, "it", task, key) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    if (!row)
        return err_set(err, STATUS_NOT_FOUND, "there is no value '%s'", key);
    const char *json = db_text(stmt, 1);
    *out = (struct value_info){
        .key = arena_strdup(arena, db_text(stmt, 0)),
        .json = json != NULL ? arena_strdup(arena, json) : NULL,
        .bytes = db_int(stmt, 2),
    };
    db_reset(stmt);
    return STATUS_OK;
}

enum status store_value_each(struct store *store, int64_t task,
                             enum status (*each)(void *context, const struct value_info *value,
                                                 struct err *err),
                             void *context, struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status = db_query(store->db, &stmt, err, VALUE_LIST, "i", task);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        struct value_info value = {
            .key = db_text(stmt, 0), .json = db_text(stmt, 1), .bytes = db_int(stmt, 2)};
        status = each(context, &value, err);
        if (status != STATUS_OK)
            db_reset(stmt);
    }
    return status;
}

static const char VALUE_OF_INSTANCES[] =
    "SELECT t.id, t.map_index, t.attempt, t.state, v.key, v.json, v.bytes FROM task t"
    " LEFT JOIN value v ON v.task = t.id AND v.key = $3 WHERE t.id >= $1 AND t.id < $2"
    " ORDER BY t.id";

enum status store_value_of_instances(
    struct store *store, struct instance_range range, const char *key,
    enum status (*each)(void *context, const struct instance_value *value, struct err *err),
    void *context, struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status = db_query(store->db, &stmt, err, VALUE_OF_INSTANCES, "iit", range.base,
                                  range.base + range.count, key);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        struct instance_value value = {
            .task = db_int(stmt, 0),
            .map_index = db_int(stmt, 1),
            .attempt = db_int(stmt, 2),
            .succeeded = db_int(stmt, 3) == TASK_SUCCESS,
            .value = {.key = db_text(stmt, 4), .json = db_text(stmt, 5), .bytes = db_int(stmt, 6)},
        };
        status = each(context, &value, err);
        if (status != STATUS_OK)
            db_reset(stmt);
    }
    return status;
}
