#include "store/upkeep.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "model/attempt.h"
#include "model/backfill.h"
#include "model/event_kind.h"
#include "model/run_state.h"
#include "model/task_state.h"
#include "store/store_priv.h"

/* --- check ----------------------------------------------------------------------------------- */

/* Each counts the rows that break its rule. Numbers are those of enum task_state. */
_Static_assert(TASK_QUEUED == 2 && TASK_RUNNING == 3 && TASK_UP_FOR_RETRY == 8, "as in the SQL");
_Static_assert(TASK_NONE == 0 && TASK_SCHEDULED == 1 && TASK_DEFERRED == 10, "as in the SQL");
#define FINAL_STATES "(4, 5, 6, 7, 12, 13)"

_Static_assert(REASON_STOPPING == 22 && REASON_CLEARING == 23, "as in the SQL");
_Static_assert(ACTION_CREATE == 0 && ACTION_REDO == 1 && ACTION_KEEP == 2, "as in the SQL");
_Static_assert(RUN_SUCCESS == 2 && RUN_FAILED == 3 && RUN_CANCELLED == 4, "as in the SQL");

static const struct {
    const char *rule;
    const char *sql;
} RULES[] = {
    {"every queued task is in ready, and nothing else is",
     "SELECT (SELECT count(*) FROM task t WHERE t.state = 2 AND NOT EXISTS"
     " (SELECT 1 FROM ready r WHERE r.run = t.run AND r.task = t.id))"
     " + (SELECT count(*) FROM ready r LEFT JOIN task t ON t.id = r.task"
     " WHERE t.id IS NULL OR t.state <> 2)"},
    {"every running task is held by its host, and nothing else is",
     "SELECT (SELECT count(*) FROM task t WHERE t.state = 3 AND NOT EXISTS"
     " (SELECT 1 FROM running r WHERE r.task = t.id AND r.host = t.host))"
     " + (SELECT count(*) FROM running r LEFT JOIN task t ON t.id = r.task"
     " WHERE t.id IS NULL OR t.state <> 3)"},
    {"every task that waits for its time has its timer, and nothing else has",
     "SELECT (SELECT count(*) FROM task t WHERE (t.state = 8 OR (t.state = 10"
     " AND t.instance_base IS NULL)) AND NOT EXISTS"
     " (SELECT 1 FROM timer r WHERE r.task = t.id AND r.due_at_us = t.due_at_us))"
     " + (SELECT count(*) FROM timer r LEFT JOIN task t ON t.id = r.task"
     " WHERE t.id IS NULL OR t.state NOT IN (8, 10) OR t.instance_base IS NOT NULL)"},
    {"every task that waits for something outside says for what, and no task that is over does",
     "SELECT (SELECT count(*) FROM task t WHERE t.state = 10 AND t.instance_base IS NULL"
     " AND NOT EXISTS (SELECT 1 FROM wait w WHERE w.task = t.id))"
     " + (SELECT count(*) FROM wait w LEFT JOIN task t ON t.id = w.task"
     " WHERE t.id IS NULL OR t.state NOT IN (1, 2, 3, 10))"},
    {"every task held by a limit is at one gate, and nothing else is",
     "SELECT (SELECT count(*) FROM task t WHERE t.state = 1 AND 1 <>"
     " (SELECT count(*) FROM gate g WHERE g.run = t.run AND g.task = t.id)"
     " + (SELECT count(*) FROM pool_wait w WHERE w.task = t.id))"
     " + (SELECT count(*) FROM gate g LEFT JOIN task t ON t.id = g.task"
     " WHERE t.id IS NULL OR t.state <> 1)"
     " + (SELECT count(*) FROM pool_wait w LEFT JOIN task t ON t.id = w.task"
     " WHERE t.id IS NULL OR t.state <> 1)"},
    {"slots of pools are held by attempts that run",
     "SELECT count(*) FROM pool_slot s LEFT JOIN task t ON t.id = s.task"
     " WHERE t.id IS NULL OR t.state <> 3 OR t.attempt <> s.attempt"},
    /* More than it has are held only from before it was made smaller. */
    {"no pool has more slots held than it has",
     "SELECT count(*) FROM pool_slot s LEFT JOIN pool p ON p.id = s.pool AND p.kind = 0"
     " WHERE p.id IS NULL OR s.slot < 1"
     " OR s.slot > CASE WHEN p.retiring > p.slots THEN p.retiring ELSE p.slots END"},
    {"what waits for a pool waits for one that could be",
     "SELECT count(*) FROM pool_wait w LEFT JOIN pool p ON p.id = w.pool WHERE p.id IS NULL"},
    {"a run that limits its running tasks counts them",
     "SELECT count(*) FROM run r WHERE r.active <> 0 AND r.active <>"
     " (SELECT count(*) FROM running h JOIN task t ON t.id = h.task WHERE t.run = r.id)"},
    {"a running task has a nonce, an attempt and a host",
     "SELECT count(*) FROM task WHERE state = 3"
     " AND (nonce IS NULL OR attempt < 1 OR host IS NULL)"},
    {"every task belongs to a run",
     "SELECT count(*) FROM task t LEFT JOIN run r ON r.id = t.run"
     " LEFT JOIN job j ON j.id = t.id AND t.run = 0 WHERE r.id IS NULL AND j.id IS NULL"},
    {"every task lies in a block of its run",
     "SELECT count(*) FROM task t WHERE t.run <> 0"
     " AND NOT EXISTS (SELECT 1 FROM block b WHERE b.run = t.run"
     " AND t.id >= b.first AND t.id < b.first + b.count)"},
    /* Instances without rows are unfinished as well. */
    {"a run counts its unfinished tasks",
     "SELECT count(*) FROM run r LEFT JOIN (SELECT run, count(*) + sum(CASE WHEN state = 10"
     " AND instance_base IS NOT NULL THEN parents - coalesce(inserted, 0) ELSE 0 END) AS open"
     " FROM task WHERE state NOT IN " FINAL_STATES " GROUP BY run) t ON t.run = r.id"
     " WHERE r.open_main + r.open_finally <> coalesce(t.open, 0)"},
    {"a finished run has no unfinished task",
     "SELECT count(*) FROM run r JOIN task t ON t.run = r.id"
     " WHERE r.state IN (2, 3, 4) AND t.state NOT IN " FINAL_STATES},
    {"a finished run has nothing open",
     "SELECT count(*) FROM run WHERE state IN (2, 3, 4)"
     " AND (open_main <> 0 OR open_finally <> 0 OR ended_at_us IS NULL)"},
    {"every finished task has its event",
     "SELECT count(*) FROM task t WHERE t.state IN " FINAL_STATES
     " AND NOT EXISTS (SELECT 1 FROM event e WHERE e.run = t.run AND e.task = t.id"
     " AND e.new_state = t.state AND e.generation = t.generation)"},
    {"superseded attempts are older than the current one",
     "SELECT count(*) FROM attempt a JOIN task t ON t.id = a.task WHERE a.attempt > t.attempt"},
    {"a job that did not complete says how it ended",
     "SELECT count(*) FROM job j JOIN task t ON t.id = j.id WHERE coalesce(j.ended_as, 0) <>"
     " CASE WHEN t.state IN (5, 6, 7, 12, 13) THEN t.state ELSE 0 END"},
    {"dead letters are of tasks that failed",
     "SELECT count(*) FROM dead d LEFT JOIN task t ON t.id = d.task"
     " WHERE t.id IS NULL OR t.state <> 5"},
    {"values belong to tasks",
     "SELECT count(*) FROM value v LEFT JOIN task t ON t.id = v.task WHERE t.id IS NULL"},
    {"every DAG has its current version, and the one of its file",
     "SELECT count(*) FROM dag d WHERE NOT EXISTS"
     " (SELECT 1 FROM version v WHERE v.id = d.version AND v.dag = d.id) OR NOT EXISTS"
     " (SELECT 1 FROM version v WHERE v.id = d.filed AND v.dag = d.id)"},
    {"what is offered can be run, and was offered by a file",
     "SELECT count(*) FROM dag_offer o LEFT JOIN dag d ON d.id = o.dag"
     " LEFT JOIN dag_file f ON f.id = o.file WHERE d.id IS NULL OR f.id IS NULL OR d.watched = 0"},
    {"the files that versions name are there",
     "SELECT count(*) FROM version_file f LEFT JOIN version v ON v.id = f.version"
     " LEFT JOIN named_file n ON n.hash = f.hash WHERE v.id IS NULL OR n.hash IS NULL"},
    {"updates of datasets were not given to two runs of a DAG",
     "SELECT count(*) FROM (SELECT r.dag, c.source FROM run_cause c JOIN run r ON r.id = c.run"
     " WHERE c.kind = 0 GROUP BY r.dag, c.source HAVING count(*) > 1) twice"},
    {"what was given to a run does not wait for another",
     "SELECT count(*) FROM trigger_pending p JOIN run_cause c ON c.kind = p.kind"
     " AND c.source = p.source JOIN run r ON r.id = c.run AND r.dag = p.dag WHERE p.kind = 0"},
    {"every run that waits is in its line, and nothing else is",
     "SELECT (SELECT count(*) FROM run r WHERE r.admission = 2 AND r.state IN (0, 1)"
     " AND NOT EXISTS (SELECT 1 FROM waiting w WHERE w.dag = r.dag AND w.run = r.id))"
     " + (SELECT count(*) FROM waiting w LEFT JOIN run r ON r.id = w.run"
     " WHERE r.id IS NULL OR r.admission <> 2 OR r.state NOT IN (0, 1))"},
    {"what waits for its past is undecided",
     "SELECT count(*) FROM past p LEFT JOIN task t ON t.id = p.task"
     " WHERE t.id IS NULL OR t.state <> 0"},
    {"every DAG has its schedule",
     "SELECT count(*) FROM dag d LEFT JOIN schedule s ON s.dag = d.id WHERE s.dag IS NULL"},
    {"a key is taken with its answer or not at all",
     "SELECT count(*) FROM answered WHERE status = 0"},
    {"deadlines and missed ones belong to runs",
     "SELECT (SELECT count(*) FROM deadline d LEFT JOIN run r ON r.id = d.run WHERE r.id IS NULL)"
     " + (SELECT count(*) FROM sla_miss m LEFT JOIN run r ON r.id = m.run WHERE r.id IS NULL)"},
    {"what is over is not late any more",
     "SELECT count(*) FROM sla_miss m JOIN run r ON r.id = m.run"
     " WHERE m.ended_at_us IS NULL AND r.state IN (2, 3, 4)"},
    {"a folded message goes with one that is there",
     "SELECT count(*) FROM notice n LEFT JOIN notice h ON h.id = n.head"
     " WHERE n.state = 5 AND h.id IS NULL"},
    {"a backfill counts its dates, and what its runs ended as",
     "SELECT (SELECT count(*) FROM backfill b LEFT JOIN (SELECT backfill,"
     " count(CASE WHEN action = 0 THEN 1 END) AS created,"
     " count(CASE WHEN action = 1 THEN 1 END) AS redone,"
     " count(CASE WHEN action = 2 THEN 1 END) AS kept,"
     " count(CASE WHEN action <> 2 AND outcome = 2 THEN 1 END) AS succeeded,"
     " count(CASE WHEN action <> 2 AND outcome = 3 THEN 1 END) AS failed,"
     " count(CASE WHEN action <> 2 AND outcome = 4 THEN 1 END) AS cancelled"
     " FROM backfill_run GROUP BY backfill) o ON o.backfill = b.id"
     " WHERE b.created <> coalesce(o.created, 0) OR b.redone <> coalesce(o.redone, 0)"
     " OR b.kept <> coalesce(o.kept, 0) OR b.succeeded <> coalesce(o.succeeded, 0)"
     " OR b.failed <> coalesce(o.failed, 0) OR b.cancelled <> coalesce(o.cancelled, 0))"
     " + (SELECT count(*) FROM backfill_run o LEFT JOIN backfill b ON b.id = o.backfill"
     " WHERE b.id IS NULL)"},
    {"notes of tasks belong to runs",
     "SELECT count(*) FROM task_note n LEFT JOIN run r ON r.id = n.run WHERE r.id IS NULL"},
    {"what somebody wants of a task is of an attempt that runs, and says who wants it",
     "SELECT (SELECT count(*) FROM task_wish w LEFT JOIN task t ON t.id = w.task"
     " WHERE t.id IS NULL OR t.state NOT IN (3, 10) OR t.reason NOT IN (22, 23)"
     " OR t.attempt <> w.attempt) + (SELECT count(*) FROM task t WHERE t.state IN (3, 10)"
     " AND t.reason IN (22, 23) AND NOT EXISTS"
     " (SELECT 1 FROM task_wish w WHERE w.task = t.id))"},
    {"tokens and sessions are of users who are there",
     "SELECT (SELECT count(*) FROM token t LEFT JOIN account a ON a.id = t.account"
     " WHERE t.account IS NOT NULL AND a.id IS NULL)"
     " + (SELECT count(*) FROM session s LEFT JOIN account a ON a.id = s.account"
     " WHERE a.id IS NULL)"},
    {"every run has its version",
     "SELECT count(*) FROM run r LEFT JOIN version v ON v.id = r.version WHERE v.id IS NULL"},
};

enum status store_check(struct store *store, struct check_report *out, struct err *err)
{
    struct check_report report = {.rules = ARRAY_LEN(RULES)};
    _Static_assert(ARRAY_LEN(RULES) <= ARRAY_LEN(report.findings), "room for every finding");
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_verify(db, err) != STATUS_OK || db_begin_read(db, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < ARRAY_LEN(RULES); i++) {
        int64_t count = 0;
        if (db_get_int(db, 0, &count, err, RULES[i].sql, "") != STATUS_OK)
            return err_wrap(err, "check '%s'", RULES[i].rule);
        if (count > 0)
            report.findings[report.count++] =
                (struct check_finding){.rule = RULES[i].rule, .count = count};
    }
    *out = report;
    return STATUS_OK;
}

/* --- backup and restore ---------------------------------------------------------------------- */

enum status store_backup(struct store *store, const char *path, struct err *err)
{
    return db_backup(store->db, path, err);
}

static const char EPOCH_RAISE[] = "UPDATE store SET epoch = epoch + 1 WHERE id = 1";

static enum status raise_epoch(struct store *store, const char *actor, struct err *err)
{
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK || db_do(db, err, EPOCH_RAISE, "") != STATUS_OK ||
        store_tell(store, EVENT_STORE_RESTORED, actor, "{\"from\":\"backup\"}", err) != STATUS_OK ||
        db_commit(db, err) != STATUS_OK)
        return err->code;
    return STATUS_OK;
}

/* A verified copy of the backup beside the target, ready to take its place. */
static enum status prepare_copy(const struct restore_request *request, const char *copy,
                                struct err *err)
{
    const char *path = request->path;
    CLEANUP(mem_freep) char *source_url = mem_format("sqlite:%s", path);
    CLEANUP(mem_freep) char *copy_url = mem_format("sqlite:%s", copy);
    CLEANUP(store_closep) struct store *backup = NULL;
    struct store_options read = {.url = source_url, .mode = DB_READ_ONLY};
    if (access(path, R_OK) != 0)
        return err_errno(err, errno, "read '%s'", path);
    if (store_open(&read, &backup, err) != STATUS_OK || db_verify(backup->db, err) != STATUS_OK ||
        db_backup(backup->db, copy, err) != STATUS_OK)
        return err_wrap(err, "backup '%s'", path);
    CLEANUP(store_closep) struct store *restored = NULL;
    struct store_options write = {.url = copy_url, .mode = DB_READ_WRITE};
    if (store_open(&write, &restored, err) != STATUS_OK)
        return err->code;
    store_set_reason(restored, request->reason);
    return raise_epoch(restored, request->actor, err);
}

static void remove_companions(const char *path)
{
    static const char *const SUFFIXES[] = {"-wal", "-shm", ".lock"};
    for (size_t i = 0; i < ARRAY_LEN(SUFFIXES); i++) {
        CLEANUP(mem_freep) char *name = mem_format("%s%s", path, SUFFIXES[i]);
        (void)unlink(name);
    }
}

/* Closing the last connection folds the log into the file; it can be moved alone then. */
static enum status fold_log(const char *target, struct err *err)
{
    CLEANUP(mem_freep) char *url = mem_format("sqlite:%s", target);
    CLEANUP(store_closep) struct store *old = NULL;
    return store_open(&(struct store_options){.url = url, .mode = DB_READ_WRITE}, &old, err);
}

enum status store_restore(const struct restore_request *request, char **out_kept_as,
                          struct err *err)
{
    const char *target = request->target;
    CLEANUP(mem_freep) char *copy = mem_format("%s.restoring", target);
    char stamp[INSTANT_TEXT_MAX];
    CLEANUP(mem_freep)
    char *kept = mem_format("%s.before-%s", target, instant_format(clock_wall_us(), stamp));
    (void)unlink(copy);
    remove_companions(copy);
    if (prepare_copy(request, copy, err) != STATUS_OK)
        return err_wrap(err, "restore");
    bool had_store = access(target, F_OK) == 0;
    if (had_store) {
        struct err ignored = {0};
        /* A damaged store may not open; it is kept as it is then. */
        (void)(fold_log(target, &ignored) == STATUS_OK);
        if (rename(target, kept) != 0)
            return err_errno(err, errno, "restore: keep '%s' as '%s'", target, kept);
        remove_companions(target);
    }
    if (rename(copy, target) != 0)
        return err_errno(err, errno, "restore: put '%s' in place", target);
    remove_companions(copy);
    *out_kept_as = had_store ? TAKE(kept) : NULL;
    return STATUS_OK;
}
