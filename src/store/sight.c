#include "store/sight.h"

#include <string.h>

#include "base/check.h"
#include "store/store_priv.h"

void store_set_sight(struct store *store, const char *spaces)
{
    store->sight = spaces;
}

bool store_sees_all(const struct store *store)
{
    return store_sight(store)[0] == '\0';
}

bool store_sees(const struct store *store, const char *space)
{
    const char *at = store_sight(store);
    if (at[0] == '\0')
        return true;
    size_t length = strlen(space);
    for (at += strspn(at, " "); *at != '\0'; at += strspn(at, " ")) {
        size_t word = strcspn(at, " ");
        if (word == length && strncmp(at, space, length) == 0)
            return true;
        at += word;
    }
    return false;
}

#define OF_DAG(table)                                                                              \
    "SELECT d.namespace FROM " table " x JOIN dag d ON d.id = x.dag WHERE x.id = $1"

static const char *const WHERE[SIGHT_KIND_COUNT] = {
    [SIGHT_RUN] = OF_DAG("run"),
    [SIGHT_JOB] = "SELECT namespace FROM job WHERE id = $1",
    [SIGHT_LETTER] = "SELECT coalesce(g.namespace, j.namespace) FROM dead d"
                     " LEFT JOIN job j ON j.id = d.task AND d.run = 0"
                     " LEFT JOIN run r ON r.id = d.run LEFT JOIN dag g ON g.id = r.dag"
                     " WHERE d.task = $1",
    [SIGHT_BACKFILL] = OF_DAG("backfill"),
    [SIGHT_NOTICE] = "SELECT d.namespace FROM notice n JOIN dag d ON d.dag_id = n.dag_id"
                     " WHERE n.id = $1",
    [SIGHT_WEBHOOK] = OF_DAG("webhook"),
};
static const char WHERE_DAG[] = "SELECT namespace FROM dag WHERE dag_id = $1";

static enum status read_space(struct db_stmt *stmt, struct arena *arena, const char **out,
                              struct err *err)
{
    bool row = false;
    if (db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    const char *space = row ? arena_strdup_null(arena, db_text(stmt, 0)) : NULL;
    if (row)
        db_reset(stmt);
    if (space == NULL)
        return err_set(err, STATUS_NOT_FOUND, "there is no such thing");
    *out = space;
    return STATUS_OK;
}

enum status store_space_of(struct store *store, struct arena *arena, enum sight_kind kind,
                           int64_t id, const char **out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    CHECK(kind < SIGHT_KIND_COUNT);
    if (db_query(store->db, &stmt, err, WHERE[kind], "i", id) != STATUS_OK)
        return err->code;
    return read_space(stmt, arena, out, err);
}

enum status store_space_of_dag(struct store *store, struct arena *arena, const char *dag_id,
                               const char **out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    if (db_query(store->db, &stmt, err, WHERE_DAG, "t", dag_id) != STATUS_OK)
        return err->code;
    return read_space(stmt, arena, out, err);
}

enum status store_sees_dag(struct store *store, const char *dag_id, bool *out, struct err *err)
{
    struct err problem = {0};
    const char *space = "";
    *out = store_sees_all(store);
    if (*out || dag_id == NULL)
        return STATUS_OK;
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    enum status status = store_space_of_dag(store, arena, dag_id, &space, &problem);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        *err = problem;
        return status;
    }
    *out = status == STATUS_OK && store_sees(store, space);
    return STATUS_OK;
}
