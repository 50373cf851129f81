/*
 * run_create: a run comes into being with all its task rows, in one transaction.
 */
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/rng.h"
#include "base/sabotage.h"
#include "store/lane_cache.h"
#include "store/lane_priv.h"
#include "store/run_create_priv.h"
#include "store/run_store.h"
#include "store/work.h"

enum { RUN_ID_TRIES = 1000, CREATE_TRIES = 20 };

static const char RUN_INSERT[] =
    "INSERT INTO run (id, dag, version, run_id, namespace, kind, state, scope, logical_at_us,"
    " interval_start_us, interval_end_us, params, conf, note, actor, first_task, open_main,"
    " open_finally, created_at_us, token) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11,"
    " $12, $13, $14, $15, $16, $17, $18, $19, $20)";
static const char RUN_PLACE[] = "UPDATE run SET queue = $2, behind = $3 WHERE id = $1";
static const char RUN_BY_TOKEN[] = "SELECT r.id, r.scope, r.first_task, r.run_id FROM run r"
                                   " JOIN version v ON v.dag = r.dag"
                                   " WHERE v.id = $1 AND r.token = $2";
static const char RUN_ID_TAKEN[] = "SELECT count(*) FROM run WHERE dag = $1 AND run_id = $2";
static const char VERSION_DAG[] = "SELECT dag FROM version WHERE id = $1";

/* Several runs of one call are told apart by their places in it. */
enum { TOKEN_TEXT_MAX = 64 };

struct creation {
    const struct run_request *requests;
    size_t count;
    struct run_created *out;
    struct nonce nonce; /* of this call, over all its tries */
    bool is_refused; /* by what was there before; else a conflict means that somebody came first */
};

/* The given id, or one from the logical date that is still free. */
static enum status choose_run_id(struct work *work, struct creation *call, size_t index,
                                 int64_t dag_key, struct err *err)
{
    const struct run_request *request = &call->requests[index];
    char *out = call->out[index].run_id;
    char date[INSTANT_TEXT_MAX];
    (void)instant_format_offset(request->logical_at_us, date);
    for (int i = 1; i <= RUN_ID_TRIES; i++) {
        int length = request->run_id != NULL ? snprintf(out, RUN_ID_TEXT_MAX, "%s", request->run_id)
                     : i == 1
                         ? snprintf(out, RUN_ID_TEXT_MAX, "%s__%s", request->kind, date)
                         : snprintf(out, RUN_ID_TEXT_MAX, "%s__%s__%d", request->kind, date, i);
        if (length >= RUN_ID_TEXT_MAX)
            return err_set(err, STATUS_INVALID, "the run id is longer than %d bytes",
                           RUN_ID_TEXT_MAX - 1);
        int64_t taken = 0;
        if (db_get_int(work->db, 0, &taken, err, RUN_ID_TAKEN, "it", dag_key, out) != STATUS_OK)
            return err->code;
        if (taken == 0)
            return STATUS_OK;
        if (request->run_id != NULL || strcmp(request->kind, "manual") != 0)
            break;
    }
    call->is_refused = true;
    return err_set(err, STATUS_CONFLICT, "there is a run '%s' of this DAG already", out);
}

static bool is_selected(const struct run_request *request, uint32_t node)
{
    return request->selected == NULL || request->selected[node];
}

static struct task_row first_row(const struct run_request *request, const struct run_row *run,
                                 uint32_t node)
{
    const struct task_def *def = &run->dag->tasks[node];
    struct task_row row = {
        .id = run->first_task + node,
        .run = run->id,
        .node = node,
        .map_index = -1,
        .state = TASK_NONE,
        .exit_code = -1,
        .cause = -1,
        .fresh = true,
        .dirty = true,
    };
    if (!is_selected(request, node)) {
        row.state = TASK_REMOVED;
        row.reason = REASON_NOT_SELECTED;
        return row;
    }
    for (size_t i = 0; i < def->needs.count; i++)
        row.counts.total += is_selected(request, def->needs.items[i]);
    return row;
}

static enum status make_tasks(struct work *work, const struct run_request *request,
                              struct run_row *run, struct err *err)
{
    for (uint32_t node = 0; node < run->dag->tasks_count; node++) {
        struct task_row row = first_row(request, run, node);
        struct task_row *task = work_add(work, &row);
        if (row.state != TASK_NONE)
            continue;
        (*(run->dag->tasks[node].is_finally ? &run->open_finally : &run->open_main))++;
        bool is_root = row.counts.total == 0 || run->dag->tasks[node].rule == RULE_ALWAYS;
        if (is_root && !run->dag->tasks[node].is_finally)
            work_queue(work, task);
    }
    if (run->open_main == 0)
        return err_set(err, STATUS_INVALID, "no task of DAG '%s' is left to run", run->dag->id);
    return STATUS_OK;
}

static void format_token(const struct creation *call, size_t index, char out[static TOKEN_TEXT_MAX])
{
    int length = 0;
    for (size_t i = 0; i < sizeof call->nonce.bytes; i++)
        length +=
            snprintf(out + length, TOKEN_TEXT_MAX - (size_t)length, "%02x", call->nonce.bytes[i]);
    (void)snprintf(out + length, TOKEN_TEXT_MAX - (size_t)length, "-%zu", index);
}

static enum status create(struct work *work, struct creation *call, size_t index, struct err *err)
{
    const struct run_request *request = &call->requests[index];
    struct run_created *out = &call->out[index];
    struct store *store = work->store;
    char token[TOKEN_TEXT_MAX];
    format_token(call, index, token);
    struct run_row *run = arena_alloc(work->arena, sizeof *run);
    *run = (struct run_row){
        .version = request->version,
        .state = RUN_QUEUED,
        .created_at_us = work->now_us,
        .queue = request->queue,
        .is_behind = request->is_behind,
        .locked = true,
    };
    if (store_dag(store, request->version, &run->dag, err) != STATUS_OK ||
        store_lanes_of_run(store, run, &run->lanes, err) != STATUS_OK ||
        db_get_int(work->db, 0, &run->dag_key, err, VERSION_DAG, "i", request->version) !=
            STATUS_OK ||
        choose_run_id(work, call, index, run->dag_key, err) != STATUS_OK ||
        store_take_run_id(store, (int64_t)run->dag->tasks_count, &run->id, &run->first_task, err) !=
            STATUS_OK)
        return err->code;
    run->scope = request->scope >= 0 ? request->scope : run->id;
    idmap_set(work->runs, run->id, run);
    if (make_tasks(work, request, run, err) != STATUS_OK)
        return err->code;
    if (db_later(work->db, err, RUN_INSERT, "iiitttiiiiittttiiiit", run->id, run->dag_key,
                 run->version, out->run_id, run->dag->namespace_, request->kind,
                 (int64_t)run->state, run->scope, request->logical_at_us,
                 request->interval_start_us, request->interval_end_us, request->params,
                 request->conf, request->note, request->actor, run->first_task, run->open_main,
                 run->open_finally, work->now_us, token) != STATUS_OK)
        return err->code;
    if ((run->queue != 0 || run->is_behind) &&
        db_later(work->db, err, RUN_PLACE, "iii", run->id, run->queue, (int64_t)run->is_behind) !=
            STATUS_OK)
        return err->code;
    out->id = run->id;
    out->scope = run->scope;
    out->first_task = run->first_task;
    run->row_version = -1; /* the event tells the version it leads to */
    work_event(work, EVENT_RUN_CREATED, run, NULL, NULL);
    return STATUS_OK;
}

static enum status create_all(struct store *store, struct creation *call, struct err *err)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < call->count && status == STATUS_OK; i++) {
        struct work work;
        work_init(&work, store, call->requests[i].actor);
        status = create(&work, call, i, err);
        if (status == STATUS_OK)
            status = work_save(&work, err);
        work_fini(&work);
    }
    return status;
}

enum status run_create_within(struct store *store, const struct run_request *requests, size_t count,
                              struct run_created *out, struct err *err)
{
    struct creation call = {.requests = requests, .count = count, .out = out};
    rng_bytes(&call.nonce, sizeof call.nonce);
    enum status status = create_all(store, &call, err);
    if (status != STATUS_OK)
        lane_cache_doubt(store->lane_cache);
    return status;
}

static enum status create_once(struct store *store, const void *context, struct err *err)
{
    struct creation *call = *(struct creation *const *)context;
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK)
        return err_wrap(err, "create a run");
    enum status status = create_all(store, call, err);
    if (status != STATUS_OK || db_commit(db, err) != STATUS_OK) {
        lane_cache_doubt(store->lane_cache);
        return err_wrap(err, "create a run");
    }
    return STATUS_OK;
}

/*
 * After a commit whose answer was lost: STATUS_NOT_FOUND when it did not happen. It may still be
 * under way, so whoever makes ids is waited for first.
 */
static enum status read_back(struct store *store, const void *context, struct err *err)
{
    const struct creation *call = *(struct creation *const *)context;
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK || store_wait_for_ids(store, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < call->count; i++) {
        struct db_stmt *stmt = NULL;
        bool row = false;
        char token[TOKEN_TEXT_MAX];
        format_token(call, i, token);
        if (db_query(db, &stmt, err, RUN_BY_TOKEN, "it", call->requests[i].version, token) !=
                STATUS_OK ||
            db_step(stmt, &row, err) != STATUS_OK)
            return err->code;
        if (!row)
            return err_set(err, STATUS_NOT_FOUND, "the run was not created");
        call->out[i] = (struct run_created){
            .id = db_int(stmt, 0), .scope = db_int(stmt, 1), .first_task = db_int(stmt, 2)};
        (void)snprintf(call->out[i].run_id, sizeof call->out[i].run_id, "%s", db_text(stmt, 3));
        db_reset(stmt);
    }
    return STATUS_OK;
}

enum status store_runs_create(struct store *store, const struct run_request *requests, size_t count,
                              struct run_created *out, struct err *err)
{
    struct creation *call = &(struct creation){.requests = requests, .count = count, .out = out};
    rng_bytes(&call->nonce, sizeof call->nonce);
    for (int tries = 1;; tries++) {
        enum status status = store_repeat(store, create_once, &call, err);
        /* Two may have met at an id made of the date: the next look tells, or finds another. */
        bool again =
            status == STATUS_CONFLICT && !call->is_refused && db_dialect(store->db) == DB_POSTGRES;
        if (status == STATUS_UNKNOWN) {
            status = SABOTAGE("unknown_is_failure") ? STATUS_NOT_FOUND
                                                    : store_repeat(store, read_back, &call, err);
            again = status == STATUS_NOT_FOUND;
        }
        if (!again || tries == CREATE_TRIES)
            return status;
    }
}

enum status store_run_create(struct store *store, const struct run_request *request,
                             struct run_created *out, struct err *err)
{
    return store_runs_create(store, request, 1, out, err);
}
