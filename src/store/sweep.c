/*
 * sweep: what hosts of a fleet left behind when their lease ran out.
 *
 * A host is ended first, guarded by its lease, then its tasks are taken back in portions: each is a
 * transaction of its own that finds for itself what there is to do, so it does not matter who
 * sweeps, how many do, or where one of them dies. A host that claims after it was ended leaves
 * tasks that the next sweep finds, because it looks at ended hosts too.
 */
#include "base/check.h"
#include "base/sabotage.h"
#include "store/claim_priv.h"
#include "store/host.h"
#include "store/id_list.h"
#include "store/recover_priv.h"

enum { HOSTS_MAX = 20, TASKS_MAX = 500 };

#define LOST_HOSTS_THAT(more)                                                                      \
    "SELECT h.id FROM host h WHERE h.id <> $1 AND h.lease_ms > 0" more                             \
    " AND ((h.ended_at_us IS NULL AND h.lease_until_us <= $2)"                                     \
    " OR (h.ended_at_us IS NOT NULL AND EXISTS (SELECT 1 FROM running r WHERE r.host = h.id)))"    \
    " ORDER BY h.id LIMIT $3"
static const char LOST_HOSTS[] = LOST_HOSTS_THAT("");
/* With null_heartbeat_skipped; the renewal of the start itself does not count. */
static const char LOST_ONCE_RENEWED[] =
    LOST_HOSTS_THAT(" AND h.renewed_at_us > h.started_at_us + h.lease_ms * 100");
/* The clock is read again: the host may have renewed while others were swept. */
static const char HOST_LOSE[] = "UPDATE host SET ended_at_us = $2, fate = 'lost'"
                                " WHERE id = $1 AND ended_at_us IS NULL AND lease_until_us <= $2";
static const char HOST_ENDED[] = "SELECT count(*) FROM host WHERE id = $1"
                                 " AND ended_at_us IS NOT NULL";
static const char HELD_BY[] = "SELECT r.host, r.task, t.run FROM running r"
                              " JOIN task t ON t.id = r.task WHERE r.host = $1"
                              " ORDER BY t.run, r.task LIMIT $2";
static const char EVENT_LOST[] = "INSERT INTO event (at_us, kind, data) VALUES ($1, $2, $3)";

struct sweeping {
    struct work work;
    struct arena *arena;
    struct sweep_result *result;
};

static enum status end_host(struct sweeping *self, int64_t host, bool *out_ended, struct err *err)
{
    struct db *db = self->work.db;
    int64_t ended = 0;
    if (db_do(db, err, HOST_LOSE, "ii", host, self->work.now_us) != STATUS_OK)
        return err->code;
    if (db_changes(db) == 1) {
        const char *data = arena_format(self->work.arena, "{\"host\":\"%lld\"}", (long long)host);
        self->result->hosts++;
        *out_ended = true;
        return db_do(db, err, EVENT_LOST, "iit", self->work.now_us, (int64_t)EVENT_HOST_LOST, data);
    }
    if (db_get_int(db, 0, &ended, err, HOST_ENDED, "i", host) != STATUS_OK)
        return err->code;
    *out_ended = ended == 1;
    return STATUS_OK;
}

static void note_buried(struct sweeping *self)
{
    struct sweep_result *result = self->result;
    int64_t *dead =
        arena_array(self->arena, (size_t)result->buried + self->work.rows.count, sizeof *dead);
    for (int64_t i = 0; i < result->buried; i++)
        dead[i] = result->dead[i];
    for (size_t i = 0; i < self->work.rows.count; i++) {
        const struct task_row *task = self->work.rows.items[i];
        if (task->state == TASK_FAILED && task->reason == REASON_LOST_OWNER)
            dead[result->buried++] = task->id;
    }
    result->dead = dead;
}

static enum status list_held(const struct sweeping *self, int64_t host, struct held_list *out,
                             struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status =
        db_query(self->work.db, &stmt, err, HELD_BY, "ii", host, (int64_t)TASKS_MAX);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        held_list_add(out, &(struct held){db_int(stmt, 0), db_int(stmt, 1), db_int(stmt, 2)});
    return status;
}

static enum status take_portion(struct sweeping *self, int64_t host, int64_t *out_count,
                                struct err *err)
{
    CLEANUP(held_list_fini) struct held_list held = {0};
    bool has_ended = false;
    *out_count = 0;
    if (end_host(self, host, &has_ended, err) != STATUS_OK)
        return err->code;
    if (!has_ended)
        return STATUS_OK; /* it is back */
    if (list_held(self, host, &held, err) != STATUS_OK)
        return err->code;
    SABOTAGE_PAUSE("rescue_by_id"); /* what was listed gets old */
    if (recover_held(&self->work, held.items, held.count, err) != STATUS_OK)
        return err->code;
    *out_count = (int64_t)held.count;
    return STATUS_OK;
}

struct portion {
    int64_t host;
    struct arena *arena;
    struct sweep_result *result;
};

static enum status sweep_once(struct store *store, const void *context, struct err *err)
{
    const struct portion *portion = context;
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK)
        return err->code;
    struct sweep_result after = *portion->result;
    struct sweeping self = {.arena = portion->arena, .result = &after};
    int64_t count = 0;
    work_init(&self.work, store, NULL);
    enum status status = take_portion(&self, portion->host, &count, err);
    if (status == STATUS_OK)
        note_buried(&self);
    work_fini(&self.work);
    if (status != STATUS_OK || db_commit(db, err) != STATUS_OK)
        return err->code;
    after.tasks += count;
    after.more |= count == TASKS_MAX;
    *portion->result = after;
    return STATUS_OK;
}

enum status store_sweep(struct store *store, int64_t self, struct arena *arena,
                        struct sweep_result *out, struct err *err)
{
    CLEANUP(id_list_fini) struct id_list hosts = {0};
    struct sweep_result result = {0};
    struct db_stmt *stmt = NULL;
    const char *lost = SABOTAGE("null_heartbeat_skipped") ? LOST_ONCE_RENEWED : LOST_HOSTS;
    enum status status =
        db_query(store->db, &stmt, err, lost, "iii", self, store_now_us(store), (int64_t)HOSTS_MAX);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        id_list_add(&hosts, db_int(stmt, 0));
    for (size_t i = 0; status == STATUS_OK && i < hosts.count; i++) {
        const struct portion portion = {hosts.items[i], arena, &result};
        /* An outcome may arrive, or another sweep take it, at the same moment. */
        status = store_repeat(store, sweep_once, &portion, err);
    }
    result.more |= hosts.count == HOSTS_MAX;
    /* What was taken back before a failure stays so, and is told. */
    *out = result;
    return status == STATUS_OK ? STATUS_OK : err_wrap(err, "sweep");
}
