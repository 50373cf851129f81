/*
 * watch_tell: messages are left in the outbox, in the transaction of what they tell of.
 */
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "store/channel.h"
#include "store/notice.h"
#include "store/watch_priv.h"

static const char RUN_ABOUT[] =
    "SELECT run_id, note, logical_at_us, params, conf FROM run WHERE id = $1";
static const char NOTICE_ADD[] =
    "INSERT INTO notice (delivery, state, at_us, due_at_us, dag_id, run, task, kind, event, target,"
    " hook, hook_key, group_key, follows, incident, document)"
    " VALUES ($1, 0, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)";
static const char INCIDENT_FIND[] = "SELECT max(id) FROM notice WHERE run = $1 AND task = $2"
                                    " AND incident = 1 AND hook_key = $3";
static const char INCIDENT_CLOSE[] = "UPDATE notice SET incident = 2 WHERE run = $1 AND task = $2"
                                     " AND incident = 1 AND hook_key = $3";

enum { DELIVERY_BYTES = 8, DELIVERY_TEXT_MAX = 2 + 2 * DELIVERY_BYTES + 1 };

/* Random, so that it is never that of another message, not even after a restore. */
static void make_delivery(char out[static DELIVERY_TEXT_MAX])
{
    unsigned char bytes[DELIVERY_BYTES];
    rng_bytes(bytes, sizeof bytes);
    int length = snprintf(out, DELIVERY_TEXT_MAX, "n-");
    for (size_t i = 0; i < sizeof bytes; i++)
        length += snprintf(out + length, (size_t)(DELIVERY_TEXT_MAX - length), "%02x", bytes[i]);
}

/* A text of the run's row; a new reference, or NULL. */
static json_t *parse_kept(const char *text)
{
    struct err ignored = {0};
    json_t *value = NULL;
    return json_parse(text, strlen(text), &value, &ignored) == STATUS_OK ? value : NULL;
}

static enum status load_about(struct work *work, struct run_row *run, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (run->about != NULL)
        return STATUS_OK;
    if (db_query(work->db, &stmt, err, RUN_ABOUT, "i", run->id) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    if (!row)
        return err_set(err, STATUS_NOT_FOUND, "there is no run %lld", (long long)run->id);
    struct run_about *about = arena_alloc(work->arena, sizeof *about);
    *about = (struct run_about){
        .run_id = arena_strdup(work->arena, db_text(stmt, 0)),
        .note = arena_strdup(work->arena, db_text(stmt, 1)),
        .logical_at_us = db_int(stmt, 2),
        .params = arena_strdup(work->arena, db_text(stmt, 3)),
        .conf = arena_strdup(work->arena, db_text(stmt, 4)),
    };
    db_reset(stmt);
    run->about = about;
    return STATUS_OK;
}

/* The context document as text; heap. */
static char *describe(const struct work *work, const struct run_row *run,
                      const struct message *message)
{
    const struct task_row *task = message->task;
    const struct run_about *about = run->about;
    CLEANUP(json_decrefp) json_t *params = parse_kept(about->params);
    CLEANUP(json_decrefp) json_t *conf = parse_kept(about->conf);
    const struct alert_event event = {
        .kind = message->kind,
        .dag = run->dag->id,
        .run_id = about->run_id,
        .task = task != NULL ? task_row_def(run, task)->id : NULL,
        .map_index = task != NULL ? task->map_index : -1,
        .try_number = task != NULL ? task->attempt : 0,
        .state = message->state,
        .reason = message->reason,
        .logical_at_us = about->logical_at_us,
        .started_at_us = task != NULL ? task->started_at_us : run->started_at_us,
        .ended_at_us = task != NULL ? task->ended_at_us : run->ended_at_us,
        .happened_at_us = work->now_us,
        .error = message->error,
        .note = about->note[0] != '\0' ? about->note : NULL,
        .params = params,
        .conf = conf,
    };
    CLEANUP(json_decrefp) json_t *document = alert_event_write(&event);
    return json_format(document);
}

static enum status leave(struct work *work, const struct run_row *run,
                         const struct message *message, const struct watch_hook *hook,
                         int64_t follows, struct err *err)
{
    char delivery[DELIVERY_TEXT_MAX];
    make_delivery(delivery);
    CLEANUP(mem_freep) char *document = describe(work, run, message);
    const char *group =
        hook->group_ms > 0 ? arena_format(work->arena, "%s/%s", run->dag->id, hook->key) : NULL;
    bool opens = hook->is_resolvable && message->kind != HOOK_SUCCESS;
    return db_later(work->db, err, NOTICE_ADD, "tiitiiiiitttzit", delivery, work->now_us,
                    work->now_us + hook->group_ms * 1000, run->dag->id, run->id,
                    message->task != NULL ? message->task->id : (int64_t)0, (int64_t)message->kind,
                    (int64_t)hook->event, (int64_t)hook->target, hook->json, hook->key, group,
                    follows, (int64_t)opens, document);
}

/* Incidents that were opened about it are closed, after they were told of. */
static enum status resolve(struct work *work, const struct run_row *run,
                           const struct message *message, const struct watch_hooks *hooks,
                           int64_t *count, struct err *err)
{
    int64_t task = message->task != NULL ? message->task->id : 0;
    for (size_t i = 0; i < hooks->count; i++) {
        int64_t opened = 0;
        if (!hooks->items[i].is_resolvable)
            continue;
        if (db_get_int(work->db, 0, &opened, err, INCIDENT_FIND, "iit", run->id, task,
                       hooks->items[i].key) != STATUS_OK)
            return err->code;
        if (opened == 0)
            continue;
        (*count)++;
        if (db_later(work->db, err, INCIDENT_CLOSE, "iit", run->id, task, hooks->items[i].key) !=
                STATUS_OK ||
            leave(work, run, message, &hooks->items[i], opened, err) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

static bool may_resolve(const struct watch *watch)
{
    static const enum hook_event OPENERS[] = {HOOK_FAILURE, HOOK_SLA_MISS};
    for (size_t i = 0; i < ARRAY_LEN(OPENERS); i++)
        for (size_t j = 0; j < watch->hooks[OPENERS[i]].count; j++)
            if (watch->hooks[OPENERS[i]].items[j].is_resolvable)
                return true;
    return false;
}

enum status watch_tell(struct work *work, struct run_row *run, const struct message *message,
                       int64_t *out_count, struct err *err)
{
    const struct dag_watch *all = run->dag->watch;
    const struct watch *watch = message->task != NULL ? all->tasks[message->task->node] : &all->run;
    *out_count = 0;
    if (watch == NULL)
        return STATUS_OK;
    const struct watch_hooks *hooks = &watch->hooks[message->kind];
    bool resolves = message->kind == HOOK_SUCCESS && may_resolve(watch);
    if (hooks->count == 0 && !resolves)
        return STATUS_OK;
    if (load_about(work, run, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < hooks->count; i++)
        if (leave(work, run, message, &hooks->items[i], 0, err) != STATUS_OK)
            return err->code;
    *out_count = (int64_t)hooks->count;
    if (resolves &&
        (resolve(work, run, message, &watch->hooks[HOOK_FAILURE], out_count, err) != STATUS_OK ||
         resolve(work, run, message, &watch->hooks[HOOK_SLA_MISS], out_count, err) != STATUS_OK))
        return err->code;
    if (*out_count == 0 || work->has_notices)
        return STATUS_OK;
    work->has_notices = true;
    return db_notify(work->db, STORE_CHANNEL_NOTICE, "", err);
}
