#include "store/saver.h"

#include <string.h>

#include "base/check.h"
#include "base/sabotage.h"
#include "store/channel.h"

/*
 * Each table has the statement for one row and the same for many. Fenced off because a table is
 * read by column.
 */
/* clang-format off */
static const struct db_bulk_form FORMS[SAVER_TABLES] = {
    [SAVER_READY_LEFT] = {
        "DELETE FROM ready WHERE scope = $1 AND class = $2 AND lane = $3 AND rank = $4"
        " AND age_us = $5 AND task = $6",
        "DELETE FROM ready r USING unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[],"
        " $5::bigint[], $6::bigint[]) v (scope, class, lane, rank, age_us, task)"
        " WHERE r.scope = v.scope AND r.class = v.class AND r.lane = v.lane AND r.rank = v.rank"
        " AND r.age_us = v.age_us AND r.task = v.task",
        "iiiiii", "claimable task"},
    [SAVER_GATE_LEFT] = {
        "DELETE FROM gate WHERE run = $1 AND rank = $2 AND task = $3",
        "DELETE FROM gate g USING unnest($1::bigint[], $2::bigint[], $3::bigint[])"
        " v (run, rank, task) WHERE g.run = v.run AND g.rank = v.rank AND g.task = v.task",
        "iii", "held task"},
    [SAVER_POOL_WAIT_LEFT] = {
        "DELETE FROM pool_wait WHERE task = $1",
        "DELETE FROM pool_wait WHERE task = ANY ($1)", "i", "waiting task"},
    [SAVER_TIMER_LEFT] = {
        "DELETE FROM timer WHERE scope = $1 AND due_at_us = $2 AND task = $3",
        "DELETE FROM timer t USING unnest($1::bigint[], $2::bigint[], $3::bigint[])"
        " v (scope, due, task)"
        " WHERE t.scope = v.scope AND t.due_at_us = v.due AND t.task = v.task",
        "iii", "waiting task"},
    [SAVER_RUNNING_LEFT] = {
        "DELETE FROM running WHERE host = $1 AND task = $2",
        "DELETE FROM running r USING unnest($1::bigint[], $2::bigint[]) v (host, task)"
        " WHERE r.host = v.host AND r.task = v.task",
        "ii", "running task"},
    [SAVER_SLOT_LEFT] = {
        "DELETE FROM pool_slot WHERE task = $1",
        "DELETE FROM pool_slot WHERE task = ANY ($1)", "i", "slot"},
    [SAVER_EXPANSION_LEFT] = {
        "DELETE FROM expansion WHERE scope = $1 AND task = $2",
        "DELETE FROM expansion e USING unnest($1::bigint[], $2::bigint[]) v (scope, task)"
        " WHERE e.scope = v.scope AND e.task = v.task",
        "ii", "mapped task"},
    [SAVER_WAIT_LEFT] = {
        "DELETE FROM wait WHERE task = $1", "DELETE FROM wait WHERE task = ANY ($1)", "i", "wait"},
    [SAVER_WISH_LEFT] = {
        "DELETE FROM task_wish WHERE task = $1",
        "DELETE FROM task_wish WHERE task = ANY ($1)", "i", "wish"},
    [SAVER_TASK_NEW] = {
        "INSERT INTO task (id, run, node, map_index, generation, state, attempt, nonce, host,"
        " failures, losses, parents, p_success, p_failed, p_upstream, p_skipped, p_removed,"
        " instance_base, inserted, due_at_us, queued_at_us, started_at_us, ended_at_us, reason,"
        " row_version) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15,"
        " $16, $17, $18, $19, $20, $21, $22, $23, $24, $25)",
        "INSERT INTO task (id, run, node, map_index, generation, state, attempt, nonce, host,"
        " failures, losses, parents, p_success, p_failed, p_upstream, p_skipped, p_removed,"
        " instance_base, inserted, due_at_us, queued_at_us, started_at_us, ended_at_us, reason,"
        " row_version) SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[],"
        " $5::bigint[], $6::bigint[], $7::bigint[], $8::bytea[], $9::bigint[], $10::bigint[],"
        " $11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[], $15::bigint[],"
        " $16::bigint[], $17::bigint[], $18::bigint[], $19::bigint[], $20::bigint[],"
        " $21::bigint[], $22::bigint[], $23::bigint[], $24::bigint[], $25::bigint[])",
        "iiiiiiibziiiiiiiizzzzzzii", "task"},
    /* A claim, a parent counted and an end touch little of a row and are most of all updates. */
    [SAVER_TASK_CLAIMED] = {
        "UPDATE task SET state = $5, attempt = $6, nonce = $7, host = $8, queued_at_us = $9,"
        " started_at_us = $10, ended_at_us = NULL, due_at_us = NULL, reason = 0, exit_code = NULL,"
        " detail = NULL, log_bytes = NULL, cpu_ms = NULL, rss_kb = NULL, row_version = $4 + 1"
        " WHERE id = $1 AND state = $2 AND attempt = $3 AND row_version = $4",
        "UPDATE task t SET state = v.state, attempt = v.attempt, nonce = v.nonce, host = v.host,"
        " queued_at_us = v.queued, started_at_us = v.started, ended_at_us = NULL,"
        " due_at_us = NULL, reason = 0, exit_code = NULL, detail = NULL, log_bytes = NULL,"
        " cpu_ms = NULL, rss_kb = NULL, row_version = v.was_version + 1"
        " FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[],"
        " $6::bigint[], $7::bytea[], $8::bigint[], $9::bigint[], $10::bigint[])"
        " v (id, was_state, was_attempt, was_version, state, attempt, nonce, host, queued, started)"
        " WHERE t.id = v.id AND t.state = v.was_state AND t.attempt = v.was_attempt"
        " AND t.row_version = v.was_version",
        "iiiiiibizz", "task"},
    [SAVER_TASK_COUNTED] = {
        "UPDATE task SET parents = $5, p_success = $6, p_failed = $7, p_upstream = $8,"
        " p_skipped = $9, p_removed = $10, inserted = $11, row_version = $4 + 1"
        " WHERE id = $1 AND state = $2 AND attempt = $3 AND row_version = $4",
        "UPDATE task t SET parents = v.parents, p_success = v.success, p_failed = v.failed,"
        " p_upstream = v.upstream, p_skipped = v.skipped, p_removed = v.removed,"
        " inserted = v.inserted, row_version = v.was_version + 1"
        " FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[],"
        " $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[])"
        " v (id, was_state, was_attempt, was_version, parents, success, failed, upstream, skipped,"
        " removed, inserted)"
        " WHERE t.id = v.id AND t.state = v.was_state AND t.attempt = v.was_attempt"
        " AND t.row_version = v.was_version",
        "iiiiiiiiiiz", "task"},
    [SAVER_TASK_ENDED] = {
        "UPDATE task SET state = $5, failures = $6, losses = $7, due_at_us = NULL,"
        " started_at_us = $8, ended_at_us = $9, reason = $10, exit_code = $11, detail = $12,"
        " label = $13, log_bytes = $14, cpu_ms = $15, rss_kb = $16, row_version = $4 + 1"
        " WHERE id = $1 AND state = $2 AND attempt = $3 AND row_version = $4",
        "UPDATE task t SET state = v.state, failures = v.failures, losses = v.losses,"
        " due_at_us = NULL, started_at_us = v.started, ended_at_us = v.ended, reason = v.reason,"
        " exit_code = v.code, detail = v.detail, label = v.label, log_bytes = v.log,"
        " cpu_ms = v.cpu, rss_kb = v.rss, row_version = v.was_version + 1"
        " FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[],"
        " $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[],"
        " $12::text[], $13::text[], $14::bigint[], $15::bigint[], $16::bigint[])"
        " v (id, was_state, was_attempt, was_version, state, failures, losses, started, ended,"
        " reason, code, detail, label, log, cpu, rss)"
        " WHERE t.id = v.id AND t.state = v.was_state AND t.attempt = v.was_attempt"
        " AND t.row_version = v.was_version",
        "iiiiiiizzixttzzz", "task"},
    [SAVER_TASK_CHANGED] = {
        "UPDATE task SET generation = $5, state = $6, attempt = $7, nonce = $8, host = $9,"
        " failures = $10, losses = $11, parents = $12, p_success = $13, p_failed = $14,"
        " p_upstream = $15, p_skipped = $16, p_removed = $17, instance_base = $18, inserted = $19,"
        " due_at_us = $20, queued_at_us = $21, started_at_us = $22, ended_at_us = $23,"
        " reason = $24, exit_code = $25, detail = $26, label = $27, log_bytes = $28, cpu_ms = $29,"
        " rss_kb = $30, row_version = $4 + 1"
        " WHERE id = $1 AND state = $2 AND attempt = $3 AND row_version = $4",
        "UPDATE task t SET generation = v.generation, state = v.state, attempt = v.attempt,"
        " nonce = v.nonce, host = v.host, failures = v.failures, losses = v.losses,"
        " parents = v.parents, p_success = v.success, p_failed = v.failed,"
        " p_upstream = v.upstream, p_skipped = v.skipped, p_removed = v.removed,"
        " instance_base = v.base, inserted = v.inserted, due_at_us = v.due,"
        " queued_at_us = v.queued, started_at_us = v.started, ended_at_us = v.ended,"
        " reason = v.reason, exit_code = v.code, detail = v.detail, label = v.label,"
        " log_bytes = v.log, cpu_ms = v.cpu, rss_kb = v.rss, row_version = v.was_version + 1"
        " FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[],"
        " $6::bigint[], $7::bigint[], $8::bytea[], $9::bigint[], $10::bigint[], $11::bigint[],"
        " $12::bigint[], $13::bigint[], $14::bigint[], $15::bigint[], $16::bigint[],"
        " $17::bigint[], $18::bigint[], $19::bigint[], $20::bigint[], $21::bigint[],"
        " $22::bigint[], $23::bigint[], $24::bigint[], $25::bigint[], $26::text[], $27::text[],"
        " $28::bigint[], $29::bigint[], $30::bigint[])"
        " v (id, was_state, was_attempt, was_version, generation, state, attempt, nonce, host,"
        " failures, losses, parents, success, failed, upstream, skipped, removed, base, inserted,"
        " due, queued, started, ended, reason, code, detail, label, log, cpu, rss)"
        " WHERE t.id = v.id AND t.state = v.was_state AND t.attempt = v.was_attempt"
        " AND t.row_version = v.was_version",
        "iiiiiiibziiiiiiiizzzzzzixttzzz", "task"},
    [SAVER_READY_TAKEN] = {
        /* A lane that somebody deleted with its queue would never be looked into. */
        "INSERT INTO ready (scope, class, lane, rank, age_us, task, run)"
        " SELECT $1, $2, l.id, $4, $5, $6, $7 FROM lane l WHERE l.id = $3",
        "INSERT INTO ready (scope, class, lane, rank, age_us, task, run)"
        " SELECT v.scope, v.class, l.id, v.rank, v.age_us, v.task, v.run"
        " FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[],"
        " $6::bigint[], $7::bigint[]) v (scope, class, lane, rank, age_us, task, run)"
        " JOIN lane l ON l.id = v.lane",
        "iiiiiii", "claimable task"},
    [SAVER_GATE_TAKEN] = {
        "INSERT INTO gate (run, rank, task) VALUES ($1, $2, $3)",
        "INSERT INTO gate (run, rank, task)"
        " SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[])",
        "iii", "held task"},
    [SAVER_POOL_WAIT_TAKEN] = {
        "INSERT INTO pool_wait (pool, lane, rank, age_us, task, need, namespace)"
        " SELECT $1, l.id, $3, $4, $5, $6, $7 FROM lane l WHERE l.id = $2",
        "INSERT INTO pool_wait (pool, lane, rank, age_us, task, need, namespace)"
        " SELECT v.pool, l.id, v.rank, v.age_us, v.task, v.need, v.namespace"
        " FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[],"
        " $6::bigint[], $7::text[]) v (pool, lane, rank, age_us, task, need, namespace)"
        " JOIN lane l ON l.id = v.lane",
        "iiiiiit", "waiting task"},
    [SAVER_TIMER_TAKEN] = {
        "INSERT INTO timer (scope, due_at_us, task) VALUES ($1, $2, $3)",
        "INSERT INTO timer (scope, due_at_us, task)"
        " SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[])",
        "iii", "waiting task"},
    [SAVER_RUNNING_TAKEN] = {
        "INSERT INTO running (host, task, lane) VALUES ($1, $2, $3)",
        "INSERT INTO running (host, task, lane)"
        " SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[])",
        "iii", "running task"},
    [SAVER_SLOT_TAKEN] = {
        "INSERT INTO pool_slot (pool, slot, task, attempt) VALUES ($1, $2, $3, $4)",
        "INSERT INTO pool_slot (pool, slot, task, attempt)"
        " SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[])",
        "iiii", "slot"},
    [SAVER_EXPANSION_TAKEN] = {
        "INSERT INTO expansion (scope, task) VALUES ($1, $2)",
        "INSERT INTO expansion (scope, task) SELECT * FROM unnest($1::bigint[], $2::bigint[])",
        "ii", "mapped task"},
    [SAVER_WAITING_TAKEN] = {
        "INSERT INTO waiting (dag, backfill, logical_at_us, run) VALUES ($1, $2, $3, $4)",
        "INSERT INTO waiting (dag, backfill, logical_at_us, run)"
        " SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[])",
        "iiii", "waiting run"},
    /* What a command has waited for before is the same wait. */
    [SAVER_WAIT_TAKEN] = {
        "INSERT INTO wait (task, run, lane, host, kind, looks, since_us, target_us, deadline_us,"
        " every_ms, every_max_ms, backoff, subject, dag, dag_task, date_us, states)"
        " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)"
        " ON CONFLICT (task) DO UPDATE SET looks = excluded.looks, target_us = excluded.target_us",
        "INSERT INTO wait (task, run, lane, host, kind, looks, since_us, target_us, deadline_us,"
        " every_ms, every_max_ms, backoff, subject, dag, dag_task, date_us, states)"
        " SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[],"
        " $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[],"
        " $11::bigint[], $12::bigint[], $13::text[], $14::text[], $15::text[], $16::bigint[],"
        " $17::bigint[])"
        " ON CONFLICT (task) DO UPDATE SET looks = excluded.looks, target_us = excluded.target_us",
        "iiiiiiizziiitttzi", "wait"},
    /* The last word counts. */
    [SAVER_WISH_TAKEN] = {
        "INSERT INTO task_wish (task, attempt, actor, data, asked_at_us)"
        " VALUES ($1, $2, $3, $4, $5) ON CONFLICT (task) DO UPDATE SET attempt = excluded.attempt,"
        " actor = excluded.actor, data = excluded.data, asked_at_us = excluded.asked_at_us",
        "INSERT INTO task_wish (task, attempt, actor, data, asked_at_us)"
        " SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::bigint[])"
        " ON CONFLICT (task) DO UPDATE SET attempt = excluded.attempt,"
        " actor = excluded.actor, data = excluded.data, asked_at_us = excluded.asked_at_us",
        "iitti", "wish"},
    [SAVER_VALUE] = {
        "INSERT INTO value (task, key, json, bytes) VALUES ($1, $2, $3, $4)"
        " ON CONFLICT (task, key) DO UPDATE SET json = excluded.json, bytes = excluded.bytes",
        "INSERT INTO value (task, key, json, bytes) SELECT DISTINCT ON (v.task, v.key) v.task,"
        " v.key, v.json, v.bytes FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[])"
        " WITH ORDINALITY v (task, key, json, bytes, place) ORDER BY v.task, v.key, v.place DESC"
        " ON CONFLICT (task, key) DO UPDATE SET json = excluded.json, bytes = excluded.bytes",
        "itti", "value"},
    [SAVER_JOB_NEW] = {
        "INSERT INTO job (id, namespace, queue, lane, handler, payload, dedupe, rank, retries,"
        " retry_delay_ms, timeout_ms, finish_on_lost_lease, actor, created_at_us)"
        " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
        "INSERT INTO job (id, namespace, queue, lane, handler, payload, dedupe, rank, retries,"
        " retry_delay_ms, timeout_ms, finish_on_lost_lease, actor, created_at_us)"
        " SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::text[],"
        " $6::text[], $7::text[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[],"
        " $12::bigint[], $13::text[], $14::bigint[])",
        "itiitttiiiiiti", "job"},
    [SAVER_JOB_RESULT] = {
        "UPDATE job SET result = $2, error = NULL WHERE id = $1",
        "UPDATE job j SET result = v.result, error = NULL"
        " FROM unnest($1::bigint[], $2::text[]) v (id, result) WHERE j.id = v.id",
        "it", "job"},
    [SAVER_JOB_ERROR] = {
        "UPDATE job SET error = $2 WHERE id = $1",
        "UPDATE job j SET error = v.error"
        " FROM unnest($1::bigint[], $2::text[]) v (id, error) WHERE j.id = v.id",
        "it", "job"},
    [SAVER_JOB_CANCEL] = {
        "UPDATE job SET cancel_asked = 1 WHERE id = $1",
        "UPDATE job SET cancel_asked = 1 WHERE id = ANY ($1)", "i", "job"},
    [SAVER_JOB_ENDED] = {
        "UPDATE job SET ended_as = $2 WHERE id = $1",
        "UPDATE job j SET ended_as = v.state"
        " FROM unnest($1::bigint[], $2::bigint[]) v (id, state) WHERE j.id = v.id",
        "ii", "job"},
    [SAVER_DEAD] = {
        "INSERT INTO dead (task, run, lane, at_us, reason, attempt, detail)"
        " VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (task) DO UPDATE SET"
        " at_us = excluded.at_us, reason = excluded.reason, attempt = excluded.attempt,"
        " detail = excluded.detail",
        "INSERT INTO dead (task, run, lane, at_us, reason, attempt, detail)"
        " SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[],"
        " $5::bigint[], $6::bigint[], $7::text[]) ON CONFLICT (task) DO UPDATE SET"
        " at_us = excluded.at_us, reason = excluded.reason, attempt = excluded.attempt,"
        " detail = excluded.detail",
        "iiiiiit", "dead letter"},
    [SAVER_EVENT] = {
        "INSERT INTO event (at_us, kind, run, task, row_version, old_state, new_state, generation,"
        " attempt, nonce, actor, reason, data)"
        " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
        "INSERT INTO event (at_us, kind, run, task, row_version, old_state, new_state, generation,"
        " attempt, nonce, actor, reason, data) SELECT * FROM unnest($1::bigint[], $2::bigint[],"
        " $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],"
        " $9::bigint[], $10::bytea[], $11::text[], $12::bigint[], $13::text[])",
        "iiixiiixxbtxt", "event"},
    [SAVER_RUN_CHANGED] = {
        "UPDATE run SET scope = $4, state = $5, cancel_asked = $6, open_main = $7,"
        " open_finally = $8, failures = $9, started_at_us = $10, ended_at_us = $11, active = $12,"
        " row_version = $3 + 1 WHERE id = $1 AND state = $2 AND row_version = $3",
        "UPDATE run r SET scope = v.scope, state = v.state, cancel_asked = v.cancel,"
        " open_main = v.main, open_finally = v.finally, failures = v.failures,"
        " started_at_us = v.started, ended_at_us = v.ended, active = v.active,"
        " row_version = v.was_version + 1"
        " FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[],"
        " $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[],"
        " $12::bigint[]) v (id, was_state, was_version, scope, state, cancel, main, finally,"
        " failures, started, ended, active)"
        " WHERE r.id = v.id AND r.state = v.was_state AND r.row_version = v.was_version",
        "iiiiiiiiizzi", "run"},
};
/* clang-format on */

void saver_init(struct saver *saver)
{
    *saver = (struct saver){0};
    for (size_t i = 0; i < SAVER_TABLES; i++)
        db_bulk_init(&saver->bulks[i], &FORMS[i]);
}

void saver_fini(struct saver *saver)
{
    for (size_t i = 0; i < SAVER_TABLES; i++)
        db_bulk_fini(&saver->bulks[i]);
}

/* Retries and waits become due. */
static bool has_timer(enum task_state state, int64_t due_at_us)
{
    return state == TASK_UP_FOR_RETRY || (state == TASK_DEFERRED && due_at_us != 0);
}

/* A wait is that of one attempt at the task, however often it looked. */
static bool ends_wait(const struct run_row *run, const struct task_row *task)
{
    if (task->fresh || task->job != NULL || task->read_state == TASK_NONE)
        return false;
    const struct task_def *def = task_row_def(run, task);
    bool is_over = task_state_is_final(task->state) || task->state == TASK_UP_FOR_RETRY ||
                   task->generation != task->read_generation;
    return is_over && (def->kind == KIND_SENSOR || def->protocol);
}

static void leave_places(struct saver *saver, const struct run_row *run,
                         const struct task_row *task)
{
    struct ready_key key = ready_key_of(run, task);
    if (task->read_state == TASK_QUEUED)
        db_bulk_add(&saver->bulks[SAVER_READY_LEFT], key.scope, (int64_t)key.class, key.lane,
                    key.rank, key.age_us, key.task);
    else if (task_waits_for_pool(task->read_state, task->read_reason))
        db_bulk_add(&saver->bulks[SAVER_POOL_WAIT_LEFT], task->id);
    else if (task->read_state == TASK_SCHEDULED)
        db_bulk_add(&saver->bulks[SAVER_GATE_LEFT], run->id, key.rank, key.task);
    else if (has_timer(task->read_state, task->read_due_at_us))
        db_bulk_add(&saver->bulks[SAVER_TIMER_LEFT], key.scope, task->read_due_at_us, task->id);
    else if (task->read_state == TASK_RUNNING)
        db_bulk_add(&saver->bulks[SAVER_RUNNING_LEFT], task->read_host, task->id);
    else if (task->read_expanding)
        db_bulk_add(&saver->bulks[SAVER_EXPANSION_LEFT], key.scope, task->id);
}

static void wait_for_pool(struct saver *saver, const struct run_row *run,
                          const struct task_row *task)
{
    struct ready_key key = ready_key_of(run, task);
    const struct task_def *def = task_row_def(run, task);
    CHECK(task->gate != 0);
    db_bulk_add(&saver->bulks[SAVER_POOL_WAIT_TAKEN], task->gate, key.lane, key.rank, key.age_us,
                key.task, task->reason == REASON_POOL ? def->slots : (int64_t)1,
                task->job != NULL ? task->job->namespace_ : run->dag->namespace_);
}

static void take_places(struct saver *saver, const struct run_row *run, const struct task_row *task)
{
    struct ready_key key = ready_key_of(run, task);
    if (task->state == TASK_QUEUED) {
        db_bulk_add(&saver->bulks[SAVER_READY_TAKEN], key.scope, (int64_t)key.class, key.lane,
                    key.rank, key.age_us, key.task, run->id);
        saver->freed_work |= key.scope == 0;
    } else if (task_waits_for_pool(task->state, task->reason)) {
        wait_for_pool(saver, run, task);
    } else if (task->state == TASK_SCHEDULED) {
        db_bulk_add(&saver->bulks[SAVER_GATE_TAKEN], run->id, key.rank, key.task);
    } else if (has_timer(task->state, task->due_at_us)) {
        db_bulk_add(&saver->bulks[SAVER_TIMER_TAKEN], key.scope, task->due_at_us, task->id);
        /* Who makes it wait for a retry knows when; of a job that comes later nobody does. */
        saver->freed_work |= key.scope == 0 && task->read_state != TASK_RUNNING;
    } else if (task->state == TASK_RUNNING) {
        db_bulk_add(&saver->bulks[SAVER_RUNNING_TAKEN], task->host, task->id, key.lane);
    } else if (task_row_is_expanding(task)) {
        db_bulk_add(&saver->bulks[SAVER_EXPANSION_TAKEN], key.scope, task->id);
        saver->freed_work |= key.scope == 0;
    }
}

/* Of those that are held there are two kinds, in two tables, and one of them in several lines. */
static bool is_held_elsewhere(const struct task_row *task)
{
    bool waits = task_waits_for_pool(task->state, task->reason);
    return task->state == TASK_SCHEDULED &&
           (waits != task_waits_for_pool(task->read_state, task->read_reason) ||
            (waits && task->gate != task->read_gate));
}

static bool places_stay(const struct task_row *task)
{
    return !task->fresh && !is_held_elsewhere(task) && task->state == task->read_state &&
           task->host == task->read_host && task->due_at_us == task->read_due_at_us &&
           task_row_is_expanding(task) == task->read_expanding;
}

static void insert_task(struct saver *saver, const struct task_row *t)
{
    db_bulk_add(&saver->bulks[SAVER_TASK_NEW], t->id, t->run, t->node, t->map_index, t->generation,
                (int64_t)t->state, t->attempt, t->has_nonce ? &t->nonce : NULL, sizeof t->nonce,
                t->host, t->failures, t->losses, t->counts.total, t->counts.success,
                t->counts.failed, t->counts.upstream_failed, t->counts.skipped, t->counts.removed,
                t->instance_base, t->inserted, t->due_at_us, t->queued_at_us, t->started_at_us,
                t->ended_at_us, (int64_t)t->reason, t->row_version);
}

static void change_task(struct saver *saver, const struct task_row *t)
{
    db_bulk_add(&saver->bulks[SAVER_TASK_CHANGED], t->id, (int64_t)t->read_state, t->read_attempt,
                t->row_version, t->generation, (int64_t)t->state, t->attempt,
                t->has_nonce ? &t->nonce : NULL, sizeof t->nonce, t->host, t->failures, t->losses,
                t->counts.total, t->counts.success, t->counts.failed, t->counts.upstream_failed,
                t->counts.skipped, t->counts.removed, t->instance_base, t->inserted, t->due_at_us,
                t->queued_at_us, t->started_at_us, t->ended_at_us, (int64_t)t->reason, t->exit_code,
                t->detail, t->label, t->log_bytes, t->cpu_ms, t->rss_kb);
}

/* Nothing but a claim leads from queued to running. */
static bool is_claim(const struct task_row *task)
{
    return task->read_state == TASK_QUEUED && task->state == TASK_RUNNING;
}

/* A row that goes on waiting changed only in what it counts. */
static bool is_count(const struct task_row *task)
{
    return task->state == task->read_state && task->generation == task->read_generation &&
           task->wish == task->read_wish &&
           (task->state == TASK_NONE || task->state == TASK_DEFERRED);
}

/* The attempt that was claimed got its verdict. */
static bool is_end(const struct task_row *task)
{
    return task->read_state == TASK_RUNNING && task_state_is_final(task->state) &&
           task->generation == task->read_generation && task->attempt == task->read_attempt &&
           task->host == task->read_host && task->instance_base == 0;
}

static void update_task(struct saver *saver, const struct task_row *t)
{
    if (is_claim(t))
        db_bulk_add(&saver->bulks[SAVER_TASK_CLAIMED], t->id, (int64_t)t->read_state,
                    t->read_attempt, t->row_version, (int64_t)t->state, t->attempt, &t->nonce,
                    sizeof t->nonce, t->host, t->queued_at_us, t->started_at_us);
    else if (is_count(t))
        db_bulk_add(&saver->bulks[SAVER_TASK_COUNTED], t->id, (int64_t)t->read_state,
                    t->read_attempt, t->row_version, t->counts.total, t->counts.success,
                    t->counts.failed, t->counts.upstream_failed, t->counts.skipped,
                    t->counts.removed, t->inserted);
    else if (is_end(t))
        db_bulk_add(&saver->bulks[SAVER_TASK_ENDED], t->id, (int64_t)t->read_state, t->read_attempt,
                    t->row_version, (int64_t)t->state, t->failures, t->losses, t->started_at_us,
                    t->ended_at_us, (int64_t)t->reason, t->exit_code, t->detail, t->label,
                    t->log_bytes, t->cpu_ms, t->rss_kb);
    else
        change_task(saver, t);
}

static void note_saved(struct task_row *task)
{
    task->row_version += !task->fresh;
    task->fresh = false;
    task->dirty = false;
    task_row_note_read(task);
}

void saver_task(struct saver *saver, const struct run_row *run, struct task_row *task)
{
    bool move = !places_stay(task);
    if (task_row_left_slots(run, task))
        db_bulk_add(&saver->bulks[SAVER_SLOT_LEFT], task->id);
    saver->moved_timers |= move && (has_timer(task->state, task->due_at_us) ||
                                    has_timer(task->read_state, task->read_due_at_us));
    if (move && !task->fresh)
        leave_places(saver, run, task);
    if (ends_wait(run, task))
        db_bulk_add(&saver->bulks[SAVER_WAIT_LEFT], task->id);
    if (task->read_wish != WISH_NONE && task->wish == WISH_NONE)
        db_bulk_add(&saver->bulks[SAVER_WISH_LEFT], task->id);
    if (task->fresh)
        insert_task(saver, task);
    else
        update_task(saver, task);
    if (move)
        take_places(saver, run, task);
    note_saved(task);
}

void saver_run(struct saver *saver, struct run_row *run)
{
    CHECK(run->locked);
    db_bulk_add(&saver->bulks[SAVER_RUN_CHANGED], run->id, (int64_t)run->read_state,
                run->row_version, run->scope, (int64_t)run->state, run->cancel_asked,
                run->open_main, run->open_finally, run->failures, run->started_at_us,
                run->ended_at_us, run->active);
    run->row_version++;
    run->read_state = run->state;
    run->dirty = false;
}

/* With event_after_commit: the caller's commit is then only that of the events. */
static enum status save_events_apart(struct saver *saver, struct db *db, struct err *err)
{
    struct db_bulk *events = &saver->bulks[SAVER_EVENT];
    if (db_commit(db, err) != STATUS_OK || db_begin(db, err) != STATUS_OK)
        return err->code;
    return db_bulk_run(db, events, (int64_t)events->rows, err);
}

enum status saver_flush(struct saver *saver, struct db *db, struct err *err)
{
    for (enum saver_table table = 0; table < SAVER_TABLES; table++) {
        struct db_bulk *bulk = &saver->bulks[table];
        if (SABOTAGE("event_after_commit") && table == SAVER_EVENT)
            continue;
        bool any = table == SAVER_VALUE || table == SAVER_DEAD || table == SAVER_SLOT_LEFT ||
                   table == SAVER_WAIT_LEFT || table == SAVER_WISH_LEFT;
        if (db_bulk_run(db, bulk, any ? DB_ANY_CHANGES : (int64_t)bulk->rows, err) != STATUS_OK)
            return err_wrap(err, "save");
    }
    if (saver->freed_work && db_notify(db, STORE_CHANNEL_WORK, "", err) != STATUS_OK)
        return err_wrap(err, "tell others");
    saver->freed_work = false;
    if (SABOTAGE("event_after_commit"))
        return save_events_apart(saver, db, err);
    return STATUS_OK;
}
