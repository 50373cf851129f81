/*
 * run_create: runs come into being with all their task rows, in one transaction.
 *
 * Those of a call are made together, step by step, so that a hundred of them ask the database
 * hardly more often than one.
 */
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/rng.h"
#include "base/sabotage.h"
#include "base/strmap.h"
#include "store/admission_priv.h"
#include "store/id_list.h"
#include "store/lane_cache.h"
#include "store/lane_priv.h"
#include "store/run_create_priv.h"
#include "store/run_query_priv.h"
#include "store/run_store.h"
#include "store/run_trace.h"
#include "store/watch_priv.h"
#include "store/work.h"

enum { RUN_ID_TRIES = 1000, CREATE_TRIES = 20 };

static const char RUN_PLACE[] = "UPDATE run SET queue = $2, behind = $3 WHERE id = $1";
static const char RUN_BY_TOKEN[] = "SELECT r.id, r.scope, r.first_task, r.run_id, r.admission"
                                   " FROM run r"
                                   " JOIN version v ON v.dag = r.dag"
                                   " WHERE v.id = $1 AND r.token = $2";
static const char RUN_ID_TAKEN[] = "SELECT count(*) FROM run WHERE dag = $1 AND run_id = $2";
static const char VERSION_DAG[] = "SELECT dag FROM version WHERE id = $1";
static const char VERSIONS_DAG[] = "SELECT id, dag FROM version WHERE id = ANY($1)";

/* Fenced off because a table is read by column. */
/* clang-format off */
/* Whether somebody waits for the end of the run is looked up last, when its number is taken. */
static const struct db_bulk_form RUN_NEW = {
    "INSERT INTO run (id, dag, version, run_id, namespace, kind, state, scope, logical_at_us,"
    " interval_start_us, interval_end_us, params, conf, note, actor, first_task, open_main,"
    " open_finally, created_at_us, token, admission, backfill, awaited) SELECT $1, $2, $3, $4, $5,"
    " $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, count(*)"
    " FROM trigger_watch WHERE kind = 1 AND name = $23",
    "INSERT INTO run (id, dag, version, run_id, namespace, kind, state, scope, logical_at_us,"
    " interval_start_us, interval_end_us, params, conf, note, actor, first_task, open_main,"
    " open_finally, created_at_us, token, admission, backfill, awaited)"
    " SELECT v.id, v.dag, v.version, v.run_id, v.space, v.kind, v.state, v.scope, v.logical,"
    " v.first, v.last, v.params, v.conf, v.note, v.actor, v.first_task, v.main, v.finally,"
    " v.created, v.token, v.admission, v.backfill,"
    " (SELECT count(*) FROM trigger_watch w WHERE w.kind = 1 AND w.name = v.dag_id)"
    " FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[],"
    " $6::text[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[],"
    " $12::text[], $13::text[], $14::text[], $15::text[], $16::bigint[], $17::bigint[],"
    " $18::bigint[], $19::bigint[], $20::text[], $21::bigint[], $22::bigint[], $23::text[])"
    " v (id, dag, version, run_id, space, kind, state, scope, logical, first, last, params, conf,"
    " note, actor, first_task, main, finally, created, token, admission, backfill, dag_id)",
    "iiitttiiiiittttiiiitiit", "run"};
static const struct db_bulk_form BLOCK_NEW = {
    "INSERT INTO block (run, first, count) VALUES ($1, $2, $3)",
    "INSERT INTO block (run, first, count)"
    " SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[])",
    "iii", "block of tasks"};
/* clang-format on */

/* Several runs of one call are told apart by their places in it. */
enum { TOKEN_TEXT_MAX = 64 };

/* The runs as they are once they were made. */
struct runs_shown {
    struct arena *arena;
    int64_t *ids;
    struct run_info *infos; /* id 0: not read yet */
};

struct creation {
    const struct run_request *requests;
    size_t count;
    struct run_created *out;
    struct nonce nonce; /* of this call, over all its tries */
    bool is_refused; /* by what was there before; else a conflict means that somebody came first */
    bool is_hopeful; /* a conflict leads to another try */
    struct runs_shown *shown; /* NULL: nobody wants to see them */
};

/* One run of the call, while it is made. */
struct draft {
    const struct run_request *request;
    struct run_created *out;
    struct run_row *run;
    char token[TOKEN_TEXT_MAX];
};

/* Only these can get another id than their date gives them; of the rest the database tells. */
static bool may_be_asked_for(const struct run_request *request)
{
    bool is_of_a_date =
        strcmp(request->kind, "scheduled") == 0 || strcmp(request->kind, "backfill") == 0;
    return request->run_id != NULL || !is_of_a_date;
}

/*
 * By a run of the same call, or by one that is there. Names made of dates hardly ever meet: where a
 * question takes its time the database tells first, and the next try asks.
 */
static enum status is_id_taken(struct work *work, const struct creation *call,
                               const struct draft *draft, struct strmap *chosen, bool *out,
                               struct err *err)
{
    const char *key =
        arena_format(work->arena, "%lld/%s", (long long)draft->run->dag_key, draft->out->run_id);
    int64_t taken = 0;
    if ((draft->request->run_id != NULL || !call->is_hopeful) &&
        db_get_int(work->db, 0, &taken, err, RUN_ID_TAKEN, "it", draft->run->dag_key,
                   draft->out->run_id) != STATUS_OK)
        return err->code;
    *out = taken > 0 || !strmap_add(chosen, key, 0);
    return STATUS_OK;
}

/* The given id, or one from the logical date that is still free. */
static enum status choose_run_id(struct work *work, struct creation *call,
                                 const struct draft *draft, struct strmap *chosen, struct err *err)
{
    const struct run_request *request = draft->request;
    char *out = draft->out->run_id;
    char date[INSTANT_TEXT_MAX];
    (void)instant_format_offset(request->logical_at_us, date);
    if (request->run_id != NULL && !run_id_is_valid(request->run_id))
        return err_set(err, STATUS_INVALID, "'%.100s' cannot be the id of a run: " RUN_ID_RULE,
                       request->run_id);
    for (int i = 1; i <= RUN_ID_TRIES; i++) {
        int length = request->run_id != NULL ? snprintf(out, RUN_ID_TEXT_MAX, "%s", request->run_id)
                     : i == 1
                         ? snprintf(out, RUN_ID_TEXT_MAX, "%s__%s", request->kind, date)
                         : snprintf(out, RUN_ID_TEXT_MAX, "%s__%s__%d", request->kind, date, i);
        if (length >= RUN_ID_TEXT_MAX)
            return err_set(err, STATUS_INVALID, "the run id is longer than %d bytes",
                           RUN_ID_TEXT_MAX - 1);
        bool is_taken = false;
        if (may_be_asked_for(request) &&
            is_id_taken(work, call, draft, chosen, &is_taken, err) != STATUS_OK)
            return err->code;
        if (!is_taken)
            return STATUS_OK;
        if (request->run_id != NULL)
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
        if (!is_root || run->dag->tasks[node].is_finally || run->admission == ADMISSION_WAITING)
            continue;
        if (run->dag->tasks[node].depends_on_past)
            work_touch(work, task);
        else
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

/* --- all runs of a call, step by step -------------------------------------------------------- */

static void begin_drafts(struct work *work, struct creation *call, struct draft *drafts)
{
    for (size_t i = 0; i < call->count; i++) {
        struct run_row *run = arena_alloc(work->arena, sizeof *run);
        *run = (struct run_row){
            .version = call->requests[i].version,
            .state = RUN_QUEUED,
            .created_at_us = work->now_us,
            .backfill = call->requests[i].backfill,
            .queue = call->requests[i].queue,
            .is_behind = call->requests[i].is_behind,
            .row_version = -1, /* the event tells the version it leads to */
            .locked = true,
        };
        drafts[i] = (struct draft){.request = &call->requests[i], .out = &call->out[i], .run = run};
        format_token(call, i, drafts[i].token);
    }
}

/* Those that the store does not know yet, in one question where questions take their time. */
static enum status learn_dag_keys(struct work *work, const int64_t *versions, size_t count,
                                  struct err *err)
{
    struct idmap *keys = work->store->dag_keys;
    if (db_dialect(work->db) == DB_SQLITE || count == 1) {
        for (size_t i = 0; i < count; i++) {
            int64_t key = 0;
            if (db_get_int(work->db, 0, &key, err, VERSION_DAG, "i", versions[i]) != STATUS_OK)
                return err->code;
            idmap_set(keys, versions[i], (void *)(uintptr_t)key);
        }
        return STATUS_OK;
    }
    struct db_stmt *stmt = NULL;
    enum status status = db_query(work->db, &stmt, err, VERSIONS_DAG, "I", versions, count);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        idmap_set(keys, db_int(stmt, 0), (void *)(uintptr_t)db_int(stmt, 1));
    return status;
}

/* Which DAG each version is of. */
static enum status find_dag_keys(struct work *work, struct draft *drafts, size_t count,
                                 struct err *err)
{
    const struct idmap *keys = work->store->dag_keys;
    CLEANUP(id_list_fini) struct id_list unknown = {0};
    CLEANUP(idmap_freep) struct idmap *seen = idmap_new();
    for (size_t i = 0; i < count; i++) {
        int64_t version = drafts[i].run->version;
        if (idmap_find(keys, version) != NULL || idmap_find(seen, version) != NULL)
            continue;
        idmap_set(seen, version, work);
        id_list_add(&unknown, version);
    }
    if (unknown.count > 0 && learn_dag_keys(work, unknown.items, unknown.count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < count; i++)
        drafts[i].run->dag_key = (int64_t)(uintptr_t)idmap_find(keys, drafts[i].run->version);
    return STATUS_OK;
}

static enum status read_drafts(struct work *work, struct draft *drafts, size_t count,
                               struct err *err)
{
    int64_t *versions = arena_array(work->arena, count, sizeof *versions);
    for (size_t i = 0; i < count; i++)
        versions[i] = drafts[i].run->version;
    if (store_dags_fetch(work->store, versions, count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < count; i++) {
        struct run_row *run = drafts[i].run;
        if (store_dag(work->store, run->version, &run->dag, err) != STATUS_OK ||
            store_lanes_of_run(work->store, run, &run->lanes, err) != STATUS_OK)
            return err->code;
    }
    return find_dag_keys(work, drafts, count, err);
}

static enum status choose_run_ids(struct work *work, struct creation *call, struct draft *drafts,
                                  struct err *err)
{
    CLEANUP(strmap_freep) struct strmap *chosen = strmap_new();
    for (size_t i = 0; i < call->count; i++)
        if (choose_run_id(work, call, &drafts[i], chosen, err) != STATUS_OK)
            return err->code;
    return STATUS_OK;
}

static void set_admissions(struct draft *drafts, const struct admission_asked *asked, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        drafts[i].run->admission = asked[i].admission;
        drafts[i].out->is_waiting = asked[i].admission == ADMISSION_WAITING;
    }
}

static void set_numbers(struct work *work, struct draft *drafts, size_t count, struct id_block next)
{
    for (size_t i = 0; i < count; i++) {
        struct run_row *run = drafts[i].run;
        run->id = next.run++;
        run->first_task = next.task;
        next.task += (int64_t)run->dag->tasks_count;
        run->scope = drafts[i].request->scope >= 0 ? drafts[i].request->scope : run->id;
        idmap_set(work->runs, run->id, run);
        drafts[i].out->id = run->id;
        drafts[i].out->scope = run->scope;
        drafts[i].out->first_task = run->first_task;
    }
}

/* Which of them go at once, and their numbers. DAGs are locked first, then who gives numbers. */
static enum status admit_and_number(struct work *work, struct draft *drafts, size_t count,
                                    struct err *err)
{
    CLEANUP(admission_question_fini) struct admission_question question = {0};
    struct admission_asked *asked = arena_array(work->arena, count, sizeof *asked);
    struct db_stmt *numbers = NULL;
    struct id_block next = {0};
    int64_t tasks = 0;
    for (size_t i = 0; i < count; i++) {
        asked[i] = (struct admission_asked){
            .request = drafts[i].request,
            .dag_key = drafts[i].run->dag_key,
        };
        tasks += (int64_t)drafts[i].run->dag->tasks_count;
    }
    if (admission_ask(work, asked, count, &question, err) != STATUS_OK ||
        store_ask_ids(work->store, (int64_t)count, tasks, &numbers, err) != STATUS_OK ||
        admission_decide(work, asked, count, &question, err) != STATUS_OK ||
        store_read_ids(numbers, (int64_t)count, tasks, &next, err) != STATUS_OK)
        return err->code;
    set_admissions(drafts, asked, count);
    set_numbers(work, drafts, count, next);
    return STATUS_OK;
}

/* The rows of runs, before those of their tasks: a task may ask for its run's past. */
static enum status insert_runs(struct work *work, const struct draft *drafts, size_t count,
                               struct err *err)
{
    CLEANUP(db_bulk_fini) struct db_bulk runs;
    CLEANUP(db_bulk_fini) struct db_bulk blocks;
    db_bulk_init(&runs, &RUN_NEW);
    db_bulk_init(&blocks, &BLOCK_NEW);
    for (size_t i = 0; i < count; i++) {
        const struct run_request *request = drafts[i].request;
        const struct run_row *run = drafts[i].run;
        db_bulk_add(&runs, run->id, run->dag_key, run->version, drafts[i].out->run_id,
                    run->dag->namespace_, request->kind, (int64_t)run->state, run->scope,
                    request->logical_at_us, request->interval_start_us, request->interval_end_us,
                    request->params, request->conf, request->note, request->actor, run->first_task,
                    run->open_main, run->open_finally, work->now_us, drafts[i].token,
                    (int64_t)run->admission, run->backfill, run->dag->id);
        db_bulk_add(&blocks, run->id, run->first_task, (int64_t)run->dag->tasks_count);
        work_event(work, EVENT_RUN_CREATED, run, NULL, NULL);
        if (run->admission == ADMISSION_WAITING)
            admission_enqueue(work, run, request->logical_at_us);
    }
    if (db_bulk_run(work->db, &runs, (int64_t)count, err) != STATUS_OK)
        return err->code;
    return db_bulk_run(work->db, &blocks, (int64_t)count, err);
}

/* Few runs have a queue of their own, so most have no statement for it. */
static enum status place_runs(struct work *work, const struct draft *drafts, size_t count,
                              struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct run_row *run = drafts[i].run;
        if ((run->queue != 0 || run->is_behind) &&
            db_later(work->db, err, RUN_PLACE, "iii", run->id, run->queue,
                     (int64_t)run->is_behind) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

static enum status keep_traces(struct work *work, const struct draft *drafts, size_t count,
                               struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        const char *traceparent = drafts[i].request->traceparent;
        if (traceparent != NULL && traceparent[0] != '\0' &&
            run_trace_keep(work, drafts[i].run->id, traceparent, err) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

static enum status create(struct work *work, struct creation *call, struct err *err)
{
    size_t count = call->count;
    struct draft *drafts = arena_array(work->arena, count, sizeof *drafts);
    begin_drafts(work, call, drafts);
    if (read_drafts(work, drafts, count, err) != STATUS_OK ||
        choose_run_ids(work, call, drafts, err) != STATUS_OK ||
        admit_and_number(work, drafts, count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < count; i++)
        if (make_tasks(work, drafts[i].request, drafts[i].run, err) != STATUS_OK)
            return err->code;
    if (insert_runs(work, drafts, count, err) != STATUS_OK ||
        place_runs(work, drafts, count, err) != STATUS_OK ||
        keep_traces(work, drafts, count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < count; i++)
        if (drafts[i].run->dag->watch != NULL &&
            watch_new_run(work, drafts[i].run, drafts[i].request, err) != STATUS_OK)
            return err->code;
    if (work_settle(work, err) != STATUS_OK)
        return err->code;
    return work_save(work, err);
}

static enum status create_all(struct store *store, struct creation *call, struct err *err)
{
    struct work work;
    if (call->count == 0)
        return STATUS_OK;
    work_init(&work, store, call->requests[0].actor);
    enum status status = create(&work, call, err);
    work_fini(&work);
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

static enum status ask_shown(struct db *db, const struct creation *call, struct db_stmt **out,
                             struct err *err)
{
    for (size_t i = 0; i < call->count; i++)
        call->shown->ids[i] = call->out[i].id;
    return run_infos_ask(db, call->shown->ids, call->count, out, err);
}

static enum status create_once(struct store *store, const void *context, struct err *err)
{
    struct creation *call = *(struct creation *const *)context;
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK)
        return err_wrap(err, "create a run");
    struct db_stmt *shown = NULL;
    enum status status = create_all(store, call, err);
    if (status == STATUS_OK && call->shown != NULL)
        status = ask_shown(db, call, &shown, err);
    if (status != STATUS_OK || db_commit(db, err) != STATUS_OK) {
        lane_cache_doubt(store->lane_cache);
        if (shown != NULL)
            db_reset(shown);
        return err_wrap(err, "create a run");
    }
    if (shown != NULL)
        run_infos_take(shown, call->shown->arena, call->shown->ids, call->count,
                       call->shown->infos);
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
            .id = db_int(stmt, 0),
            .scope = db_int(stmt, 1),
            .first_task = db_int(stmt, 2),
            .is_waiting = db_int(stmt, 4) == ADMISSION_WAITING,
        };
        (void)snprintf(call->out[i].run_id, sizeof call->out[i].run_id, "%s", db_text(stmt, 3));
        db_reset(stmt);
    }
    return STATUS_OK;
}

static enum status create_until_sure(struct store *store, struct creation *call, struct err *err)
{
    rng_bytes(&call->nonce, sizeof call->nonce);
    bool may_differ = false;
    for (size_t i = 0; i < call->count; i++)
        may_differ |= may_be_asked_for(&call->requests[i]);
    for (int tries = 1;; tries++) {
        call->is_hopeful = tries == 1 && db_dialect(store->db) == DB_POSTGRES;
        enum status status = store_repeat(store, create_once, &call, err);
        /* Two may have met at an id made of the date: the next look tells, or finds another. */
        bool again = status == STATUS_CONFLICT && !call->is_refused && may_differ &&
                     db_dialect(store->db) == DB_POSTGRES;
        if (status == STATUS_UNKNOWN) {
            status = SABOTAGE("unknown_is_failure") ? STATUS_NOT_FOUND
                                                    : store_repeat(store, read_back, &call, err);
            again = status == STATUS_NOT_FOUND;
        }
        if (!again || tries == CREATE_TRIES)
            return status;
    }
}

enum status store_runs_create(struct store *store, const struct run_request *requests, size_t count,
                              struct run_created *out, struct err *err)
{
    return create_until_sure(
        store, &(struct creation){.requests = requests, .count = count, .out = out}, err);
}

enum status store_runs_create_and_load(struct store *store, const struct run_request *requests,
                                       size_t count, struct arena *arena, struct run_info *out,
                                       struct err *err)
{
    struct runs_shown shown = {.arena = arena, .infos = out};
    struct creation call = {.requests = requests, .count = count, .shown = &shown};
    shown.ids = arena_array(arena, count, sizeof *shown.ids);
    call.out = arena_array(arena, count, sizeof *call.out);
    memset(out, 0, count * sizeof *out);
    enum status status = create_until_sure(store, &call, err);
    for (size_t i = 0; status == STATUS_OK && i < count; i++)
        if (out[i].id == 0)
            status = store_run_load(store, arena, call.out[i].id, &out[i], err);
    return status;
}

enum status store_run_create(struct store *store, const struct run_request *request,
                             struct run_created *out, struct err *err)
{
    return store_runs_create(store, request, 1, out, err);
}
