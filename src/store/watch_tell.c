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
    " hook, hook_key, group_key, follows, incident, document, sla_kind, sla_generation)"
    " VALUES ($1, 0, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)";
/* Of any run. The texts are parts of documents, so that few of them have to be read. */
#define OPEN_INCIDENTS(find)                                                                       \
    "SELECT id, document FROM notice WHERE incident = 1 AND hook_key = $1 AND dag_id = $2"         \
    " AND " find "(document, $3) > 0 AND " find "(document, $4) > 0 ORDER BY id"
static const char *const INCIDENTS[] = {
    [DB_SQLITE] = OPEN_INCIDENTS("instr"), [DB_POSTGRES] = OPEN_INCIDENTS("strpos")};
static const char INCIDENT_CLOSE[] =
    "UPDATE notice SET incident = 2 WHERE id = $1 AND incident = 1";

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

static struct alert_event event_of(const struct work *work, const struct run_row *run,
                                   const struct message *message)
{
    const struct task_row *task = message->task;
    const struct run_about *about = run->about;
    return (struct alert_event){
        .kind = message->kind,
        .dag = run->dag->id,
        .run_id = message->run_id != NULL ? message->run_id : about->run_id,
        .task = task != NULL ? task_row_def(run, task)->id : NULL,
        .map_index = task != NULL ? task->map_index : -1,
        .try_number = task != NULL ? task->attempt : 0,
        .state = message->state,
        .reason = message->reason,
        .has_exit_code = task != NULL && task->exit_code >= 0 && task->reason == REASON_EXIT,
        .exit_code = task != NULL ? task->exit_code : 0,
        .signal = task != NULL && task->reason == REASON_SIGNAL ? task->exit_code : 0,
        .failed = message->failed,
        .failed_total = message->failed_total,
        .logical_at_us = about->logical_at_us,
        .started_at_us = task != NULL ? task->started_at_us : run->started_at_us,
        .ended_at_us = task != NULL ? task->ended_at_us : run->ended_at_us,
        .happened_at_us = work->now_us,
        .error = message->error,
        .note = about->note[0] != '\0' ? about->note : NULL,
    };
}

/* The context document as text; heap. */
static char *describe(const struct work *work, const struct run_row *run,
                      const struct message *message)
{
    CLEANUP(json_decrefp) json_t *params = parse_kept(run->about->params);
    CLEANUP(json_decrefp) json_t *conf = parse_kept(run->about->conf);
    struct alert_event event = event_of(work, run, message);
    event.params = params;
    event.conf = conf;
    CLEANUP(json_decrefp) json_t *document = alert_event_write(&event);
    return json_format(document);
}

static enum status leave(struct work *work, const struct run_row *run,
                         const struct message *message, const struct watch_hook *hook,
                         struct err *err)
{
    char delivery[DELIVERY_TEXT_MAX];
    make_delivery(delivery);
    CLEANUP(mem_freep) char *document = describe(work, run, message);
    const char *group =
        hook->group_ms > 0 ? arena_format(work->arena, "%s/%s", run->dag->id, hook->key) : NULL;
    bool opens = hook->is_resolvable && message->follows == 0;
    const struct miss_key *miss = message->miss;
    return db_later(work->db, err, NOTICE_ADD, "tiitiiiiitttzitxx", delivery, work->now_us,
                    work->now_us + hook->group_ms * 1000, run->dag->id, run->id,
                    message->task != NULL ? message->task->id : (int64_t)0, (int64_t)message->kind,
                    (int64_t)hook->event, (int64_t)hook->target, hook->json, hook->key, group,
                    message->follows, (int64_t)opens, document,
                    miss != NULL ? (int64_t)miss->kind : -1, miss != NULL ? miss->generation : -1);
}

/* --- incidents ------------------------------------------------------------------------------- */

enum { INCIDENTS_MAX = 100 }; /* of one task and date that one end closes */

struct incident {
    int64_t notice;
    const char *run_id;
};

struct incident_list {
    struct incident items[INCIDENTS_MAX];
    size_t count;
};

/* A member as it stands in a document. */
static const char *member_text(struct arena *arena, const json_t *document, const char *key)
{
    CLEANUP(json_decrefp) json_t *object = json_object();
    json_put(object, key, json_incref(json_object_get(document, key)));
    CLEANUP(mem_freep) char *text = json_format(object);
    return arena_strndup(arena, text + 1, strlen(text) - 2);
}

/* The id of its run when the document is about `subject`, else NULL. */
static const char *run_of_incident(struct arena *arena, const char *text, const char *subject)
{
    CLEANUP(json_decrefp) json_t *document = parse_kept(text);
    struct alert_event event;
    struct err ignored = {0};
    if (document == NULL || alert_event_read(document, &event, &ignored) != STATUS_OK ||
        strcmp(alert_subject_key(arena, &event), subject) != 0)
        return NULL;
    return arena_strdup(arena, event.run_id != NULL ? event.run_id : "");
}

static enum status find_incidents(struct work *work, const struct alert_event *event,
                                  const struct watch_hook *hook, struct incident_list *out,
                                  struct err *err)
{
    struct db_stmt *stmt = NULL;
    struct arena *arena = work->arena;
    const char *subject = alert_subject_key(arena, event);
    CLEANUP(json_decrefp) json_t *document = alert_event_write(event);
    out->count = 0;
    enum status status = db_query(work->db, &stmt, err, INCIDENTS[db_dialect(work->db)], "tttt",
                                  hook->key, event->dag, member_text(arena, document, "task"),
                                  member_text(arena, document, "logical_date"));
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        const char *run_id = run_of_incident(arena, db_text(stmt, 1), subject);
        if (run_id != NULL && out->count < INCIDENTS_MAX)
            out->items[out->count++] = (struct incident){db_int(stmt, 0), run_id};
    }
    return status;
}

/* A key may have the run in it: one message for each. */
static bool is_last_of_run(const struct incident_list *list, size_t i)
{
    for (size_t k = i + 1; k < list->count; k++)
        if (strcmp(list->items[k].run_id, list->items[i].run_id) == 0)
            return false;
    return true;
}

/*
 * Several runs of a date may end at once, on different hosts: those that another has closed
 * meanwhile leave the list, and it has left the message about them.
 */
static enum status close_incidents(struct work *work, struct incident_list *list, struct err *err)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (db_do(work->db, err, INCIDENT_CLOSE, "i", list->items[i].notice) != STATUS_OK)
            return err->code;
        if (db_changes(work->db) == 1)
            list->items[kept++] = list->items[i];
    }
    list->count = kept;
    return STATUS_OK;
}

/* Incidents that the hook opened about it are closed, after they were told of. */
static enum status resolve(struct work *work, const struct run_row *run,
                           const struct message *message, const struct watch_hook *hook,
                           int64_t *count, struct err *err)
{
    struct incident_list list;
    struct alert_event event = event_of(work, run, message);
    if (find_incidents(work, &event, hook, &list, err) != STATUS_OK ||
        close_incidents(work, &list, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < list.count; i++) {
        struct message closing = *message;
        closing.follows = list.items[i].notice;
        closing.run_id = list.items[i].run_id;
        if (!is_last_of_run(&list, i))
            continue;
        (*count)++;
        if (leave(work, run, &closing, hook, err) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

/* The hooks of an event whose incidents are over now; NULL: none. */
static const struct watch_hooks *opened_by(const struct watch *watch, enum hook_event event,
                                           enum hook_event kind)
{
    const struct watch_hooks *hooks = &watch->hooks[event];
    if (!hook_is_resolved_by(&(struct hook){.event = event}, kind))
        return NULL;
    for (size_t i = 0; i < hooks->count; i++)
        if (hooks->items[i].is_resolvable)
            return hooks;
    return NULL;
}

static bool may_resolve(const struct watch *watch, enum hook_event kind)
{
    bool may = false;
    for (enum hook_event event = 0; event < HOOK_EVENT_COUNT; event++)
        may |= opened_by(watch, event, kind) != NULL;
    return may;
}

static enum status resolve_all(struct work *work, const struct run_row *run,
                               const struct message *message, const struct watch *watch,
                               int64_t *count, struct err *err)
{
    for (enum hook_event event = 0; event < HOOK_EVENT_COUNT; event++) {
        const struct watch_hooks *hooks = opened_by(watch, event, message->kind);
        for (size_t i = 0; hooks != NULL && i < hooks->count; i++)
            if (hooks->items[i].is_resolvable &&
                resolve(work, run, message, &hooks->items[i], count, err) != STATUS_OK)
                return err->code;
    }
    return STATUS_OK;
}

/* --- all of it ------------------------------------------------------------------------------- */

enum status watch_tell(struct work *work, struct run_row *run, const struct message *message,
                       int64_t *out_count, struct err *err)
{
    static const struct watch_hooks NOBODY = {0};
    const struct dag_watch *all = run->dag->watch;
    const struct watch *watch = message->task != NULL ? all->tasks[message->task->node] : &all->run;
    *out_count = 0;
    if (watch == NULL)
        return STATUS_OK;
    const struct watch_hooks *hooks = message->closes_only ? &NOBODY : &watch->hooks[message->kind];
    bool resolves = may_resolve(watch, message->kind);
    if (hooks->count == 0 && !resolves)
        return STATUS_OK;
    if (load_about(work, run, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < hooks->count; i++)
        if (leave(work, run, message, &hooks->items[i], err) != STATUS_OK)
            return err->code;
    *out_count = (int64_t)hooks->count;
    if (resolves && resolve_all(work, run, message, watch, out_count, err) != STATUS_OK)
        return err->code;
    if (*out_count == 0 || work->has_notices)
        return STATUS_OK;
    work->has_notices = true;
    return db_notify(work->db, STORE_CHANNEL_NOTICE, "", err);
}
