/*
 * The rows. Fenced off from the formatter because a table is read by column.
 */
#include "service/operations.h"

#include "service/graph_part.h"
#include "service/operation_rows.h"

/* clang-format off */
static const struct operation_field REQUEST_DAG[] = {DAG_OF_VERSION};
static const struct operation_field REQUEST_DAG_SHOW[] = {
    DAG_OF_VERSION,
    {"brief", FIELD_BOOLEAN, false, "without its tasks"},
};
static const struct operation_field REQUEST_RERUN[] = {
    RUN, {"version", FIELD_STRING, false, "original (by default), current, newest, or its number"},
    REASON, DRY_RUN,
};
static const struct operation_field REQUEST_TRIGGER[] = {
    {"dag", FIELD_STRING, false, "id of the DAG; with a file, which of its DAGs"},
    DAG_FILE,
    {"params", FIELD_OBJECT, false, "parameters as texts, converted by their types"},
    {"conf", FIELD_OBJECT, false, "parameters as values"},
    {"logical_date", FIELD_INSTANT, false, "the date it is for; now by default"}, DATA_INTERVAL,
    {"run_id", FIELD_STRING, false, "name of the run"},
    {"note", FIELD_STRING, false, "a note kept with the run"},
    {"tasks", FIELD_STRINGS, false, "only these"},
    {"needs_worker", FIELD_BOOLEAN, false, "fail when nobody is there to run it"},
    REASON, DRY_RUN, BRIEF,
};
static const struct operation_field REQUEST_NEXT[] = {
    {"dag", FIELD_STRING, false, "id of the DAG; with a file, which of its DAGs"},
    DAG_FILE,
    {"count", FIELD_INTEGER, false, "how many ticks; 5 by default"},
    {"from", FIELD_INSTANT, false, "ticks from there on; now by default"},
};
static const struct operation_field RESPONSE_NEXT[] = {
    {"dag_id", FIELD_STRING, true, "the DAG"},
    {"schedule", FIELD_ANY, false, "as it is written"},
    {"is_paused", FIELD_BOOLEAN, true, "nothing of it starts by itself"},
    {"is_scheduled", FIELD_BOOLEAN, true, "a scheduler acts on it"},
    {"next_run", FIELD_INSTANT, false, "when it starts by itself"},
    {"ticks", FIELD_ARRAY, true, "run_after, logical_date, data_interval_* and local of each"},
    {"missed", FIELD_ARRAY, true, "first, last, count and because of each stretch, newest first"},
};
static const struct operation_field REQUEST_PAUSE[] = {
    {"dags", FIELD_STRINGS, true, "ids of DAGs"},
    REASON,
};
static const struct operation_field LIST_PAUSED[] = {
    {"dags", FIELD_ARRAY, true, "dag_id, is_paused and changed of each"}, TOTAL,
};
static const struct operation_field REQUEST_DAG_TASK[] = {
    {"dag", FIELD_STRING, false, "id of the DAG; with a file, which of its DAGs"},
    DAG_FILE,
    TASK,
};
static const struct operation_field REQUEST_RENDER[] = {
    {"dag", FIELD_STRING, false, "id of the DAG; with a file, which of its DAGs"},
    DAG_FILE,
    TASK,
    {"params", FIELD_OBJECT, false, "parameters as texts, as typed on a command line"},
    {"conf", FIELD_OBJECT, false, "configuration of the run, typed values"},
    {"logical_date", FIELD_STRING, false, "date of the run; now when absent"},
};
static const struct operation_field RECORD_RENDERED[] = {
    {"task_id", FIELD_STRING, true, "the task"},
    {"fields", FIELD_ARRAY, true, "field and value of each template, error where one cannot be"},
};
static const struct operation_field REQUEST_RUN_SHOW[] = {RUN, BRIEF};
static const struct operation_field REQUEST_DRY[] = {RUN, REASON, DRY_RUN};
static const struct operation_field REQUEST_PATH[] = {{"path", FIELD_PATH, true, "file of the copy"}};

static const struct operation_field RECORD_RUN[] = {
    {"number", FIELD_ID, true, "what names it most briefly"},
    {"dag_id", FIELD_STRING, true, "its DAG"},
    {"dag_run_id", FIELD_STRING, true, "its name within the DAG"},
    {"state", FIELD_STRING, true, "queued, running, success, failed or cancelled"},
    {"reason", FIELD_STRING, false, "why it is in that state"},
    {"stopped_by", FIELD_STRING, false, "who asked it to stop"},
    {"stopped_at", FIELD_INSTANT, false, "when"},
    {"stop_reason", FIELD_STRING, false, "and why"},
    {"stops", FIELD_ARRAY, false, "what run.cancel of one task stops, with the state it is in"},
    {"replaced_by", FIELD_ID, false, "the run that took its place (overlap: replace)"},
    {"waits_because", FIELD_STRING, false, "why it may not start yet"},
    {"run_type", FIELD_STRING, true, "manual, scheduled, backfill, dataset or event"},
    {"late", FIELD_BOOLEAN, false, "it missed a deadline of its own"},
    {"logical_date", FIELD_INSTANT, false, "what it is for"},
    {"queued_at", FIELD_INSTANT, true, "when it was made"},
    {"start_date", FIELD_INSTANT, false, "when its first task started"},
    {"end_date", FIELD_INSTANT, false, "when it ended"},
    {"duration", FIELD_NUMBER, false, "seconds, so far while it runs"},
    {"tasks_total", FIELD_INTEGER, false, "tasks, instances one by one; not if `brief`"},
    {"counts", FIELD_OBJECT, false, "how many are in which state; not if `brief`"},
    {"params", FIELD_OBJECT, true, "parameters in force"},
    {"conf", FIELD_OBJECT, true, "what was given when it was made"},
    {"note", FIELD_STRING, false, "what people wrote about it"},
    {"dag_version", FIELD_INTEGER, true, "version of the DAG it runs"},
    {"caused_by", FIELD_ARRAY, false, "events that it was made of"},
};
static const struct operation_field RECORD_TASK_INSTANCE[] = {
    {"number", FIELD_ID, true, "its run"},
    {"dag_id", FIELD_STRING, true, "its DAG"},
    {"dag_run_id", FIELD_STRING, true, "name of its run"},
    {"task_id", FIELD_STRING, true, "its task"},
    {"map_index", FIELD_INTEGER, true, "-1 unless it is an instance of a mapped task"},
    {"label", FIELD_STRING, false, "of an instance"},
    {"state", FIELD_STRING, true, "none, queued, running, success, failed, ..."},
    {"try_number", FIELD_INTEGER, true, "attempts so far"},
    {"max_tries", FIELD_INTEGER, true, "retries allowed"},
    {"start_date", FIELD_INSTANT, false, "of its attempt"},
    {"end_date", FIELD_INSTANT, false, "of its attempt"},
    {"duration", FIELD_NUMBER, false, "seconds, so far while it runs"},
    {"operator", FIELD_STRING, true, "its kind"},
    {"reason", FIELD_STRING, false, "from the closed list"},
    {"message", FIELD_STRING, false, "what explains the reason"},
    {"exit_code", FIELD_INTEGER, false, "of its process"},
    {"signal", FIELD_INTEGER, false, "that ended its process"},
    {"queue", FIELD_STRING, true, "where it waits"},
    {"hostname", FIELD_STRING, false, "who runs it"},
    {"pid", FIELD_INTEGER, false, "of the process that owns it"},
    {"retries_left", FIELD_INTEGER, true, "of its budget"},
    {"note", FIELD_STRING, false, "what people wrote about it"},
    {"stops_first", FIELD_BOOLEAN, false, "of a clear: it runs, and is cleared when it has stopped"},
};
static const struct operation_field RECORD_DAG[] = {
    {"dag_id", FIELD_STRING, true, "its id"},
    {"title", FIELD_STRING, false, "a name for people"},
    {"description", FIELD_STRING, false, "what it does"},
    {"owner", FIELD_STRING, false, "who answers for it"},
    {"namespace", FIELD_STRING, true, "scope of grants and names"},
    {"tier", FIELD_STRING, true, "which DAGs it shares a limit with"},
    {"tags", FIELD_STRINGS, true, "words to find it by"},
    {"file", FIELD_STRING, false, "where it is written"},
    {"dag_version", FIELD_INTEGER, false, "current version in the store"},
    {"status", FIELD_STRING, false, "active, broken, rolled_back or inactive"},
    {"is_active", FIELD_BOOLEAN, false, "false: its file is gone"},
    {"is_rolled_back", FIELD_BOOLEAN, false, "its file means another version"},
    {"has_import_errors", FIELD_BOOLEAN, false, "its file has problems; what it had before counts"},
    {"tasks_total", FIELD_INTEGER, true, "tasks"},
    {"params", FIELD_OBJECT, true, "declarations of parameters"},
    {"timeout", FIELD_NUMBER, false, "seconds for a run"},
    {"schedule", FIELD_ANY, false, "when it runs by itself"},
    {"waits_for", FIELD_ARRAY, false, "datasets, DAGs, files and webhooks that start it"},
    {"missing", FIELD_STRING, false, "what has to happen before events start it, in words"},
    {"refused", FIELD_OBJECT, false, "the last event that no run could be made of: at, what, why"},
    {"is_paused", FIELD_BOOLEAN, true, "nothing of it starts by itself"},
    {"is_scheduled", FIELD_BOOLEAN, true, "a scheduler acts on it"},
    {"next_run", FIELD_INSTANT, false, "when it starts by itself"},
    {"runs_going", FIELD_INTEGER, true, "limited runs that go"},
    {"runs_waiting", FIELD_INTEGER, true, "runs that wait for others of the DAG"},
    {"missed", FIELD_ARRAY, true, "ticks that became no run, the last stretches"},
    {"last_run", FIELD_OBJECT, false, "its newest run"},
    {"sla", FIELD_OBJECT, false, "how its last runs kept their deadlines: runs, late, on_time_rate, ..."},
    {"tasks", FIELD_ARRAY, false, "tasks, parents first"},
    {"keys", FIELD_OBJECT, true, "the other keys of its file: start_date, catchup, sla, hooks, ..."},
};
static const struct operation_field RECORD_TASK[] = {
    {"task_id", FIELD_STRING, true, "its id"},
    {"operator", FIELD_STRING, true, "its kind"},
    {"doc", FIELD_STRING, false, "what it does"},
    {"group", FIELD_STRING, false, "innermost group"},
    {"needs", FIELD_STRINGS, true, "tasks before it"},
    {"dependants", FIELD_STRINGS, true, "tasks after it"},
    {"trigger_rule", FIELD_STRING, true, "when it may run"},
    {"if", FIELD_STRING, false, "condition"},
    {"is_mapped", FIELD_BOOLEAN, true, "has instances"},
    {"retries", FIELD_INTEGER, true, "after the first attempt"},
    {"timeout", FIELD_NUMBER, false, "seconds for an attempt"},
    {"pool", FIELD_STRING, false, "whose slots it takes"},
    {"queue", FIELD_STRING, true, "where it waits"},
    {"settings", FIELD_ANY, true, "value of the kind key"},
};
static const struct operation_field RECORD_SETTING[] = {
    {"key", FIELD_STRING, true, "its name"},
    {"value", FIELD_ANY, true, "the value in force"},
    {"origin", FIELD_STRING, true, "where the value came from"},
    {"environment", FIELD_STRING, true, "variable that sets it"},
    {"flag", FIELD_STRING, false, "option that sets it"},
    {"help", FIELD_STRING, true, "what it means"},
};

#define BACKFILL {"backfill", FIELD_ID, true, "its number"}
static const struct operation_field REQUEST_BACKFILL[] = {
    {"dag", FIELD_STRING, false, "id of the DAG; with a file, which of its DAGs"},
    DAG_FILE,
    {"from", FIELD_INSTANT, true, "first logical date"},
    {"to", FIELD_INSTANT, true, "last logical date, included"},
    {"order", FIELD_STRING, false, "asc, the oldest date first, or desc"},
    {"redo", FIELD_STRING, false, "dates that have a run: none, failed or all are done again"},
    {"max_active", FIELD_INTEGER, false, "runs at once; the DAG's max_active_runs by default"},
    {"queue", FIELD_STRING, false, "where all their tasks wait; their own queues by default"},
    {"params", FIELD_OBJECT, false, "parameters as texts, converted by their types"},
    {"conf", FIELD_OBJECT, false, "parameters as values"},
    {"tasks", FIELD_STRINGS, false, "only these"},
    {"upstream", FIELD_BOOLEAN, false, "and what they need"},
    {"downstream", FIELD_BOOLEAN, false, "and what comes after them"},
    {"version", FIELD_STRING, false, "for new runs: current (by default), newest, original (current; what is redone keeps its own) or a number"},
    {"note", FIELD_STRING, false, "a note kept with every run"},
    REASON,
    {"dates", FIELD_INTEGER, false, "of a plan: list so many dates"},
};
static const struct operation_field RECORD_PLAN[] = {
    {"dag_id", FIELD_STRING, true, "its DAG"},
    {"dag_version", FIELD_INTEGER, false, "version of new runs; none: of the file"},
    {"size", FIELD_INTEGER, true, "dates in the range"},
    {"from", FIELD_INSTANT, true, "the first of them"},
    {"to", FIELD_INSTANT, true, "the last of them"},
    {"order", FIELD_STRING, true, "asc or desc"},
    {"redo", FIELD_STRING, true, "none, failed or all"},
    {"max_active", FIELD_INTEGER, true, "runs at once"},
    {"queue", FIELD_STRING, false, "where all their tasks wait"},
    {"tasks", FIELD_STRINGS, true, "only these; empty: all"},
    {"left_out", FIELD_STRING, false, "dates of the range that its schedule does not have"},
    {"tasks_total", FIELD_INTEGER, true, "tasks of a run"},
    {"to_create", FIELD_INTEGER, true, "dates that get a run"},
    {"to_redo", FIELD_INTEGER, true, "dates whose run is done again"},
    {"to_keep", FIELD_INTEGER, true, "dates whose run is left as it is"},
    {"existing", FIELD_OBJECT, true, "runs that are there, by state"},
    {"usual_duration", FIELD_NUMBER, false, "seconds of a run, from its history"},
    {"estimate", FIELD_NUMBER, false, "seconds for all of it"},
    {"needs_approval", FIELD_BOOLEAN, true, "it is larger than backfill_approval"},
    {"dates", FIELD_ARRAY, true, "logical_date, action and state of each that was asked for"},
};
static const struct operation_field RECORD_BACKFILL[] = {
    {"backfill", FIELD_ID, true, "its number"},
    {"dag_id", FIELD_STRING, true, "its DAG"},
    {"dag_version", FIELD_INTEGER, true, "version of the runs that it makes"},
    {"state", FIELD_STRING, true, "awaiting_approval, running, paused, cancelling, success, ..."},
    {"held_because", FIELD_STRING, false, "why it does not go on by itself, and what helps"},
    {"from", FIELD_INSTANT, true, "first logical date"},
    {"to", FIELD_INSTANT, true, "last logical date"},
    {"order", FIELD_STRING, true, "asc or desc"},
    {"redo", FIELD_STRING, true, "none, failed or all"},
    {"max_active", FIELD_INTEGER, true, "runs at once"},
    {"queue", FIELD_STRING, false, "where all their tasks wait"},
    {"params", FIELD_OBJECT, true, "parameters of its runs"},
    {"conf", FIELD_OBJECT, true, "what was given for them"},
    {"tasks", FIELD_STRINGS, true, "only these; empty: all"},
    {"note", FIELD_STRING, true, "of its runs"},
    {"reason", FIELD_STRING, true, "why people wanted it"},
    {"actor", FIELD_STRING, true, "who made it"},
    {"size", FIELD_INTEGER, true, "dates in the range"},
    {"left", FIELD_INTEGER, true, "dates that were not decided on yet"},
    {"active", FIELD_INTEGER, true, "runs that go on"},
    {"succeeded", FIELD_INTEGER, true, "runs that succeeded"},
    {"failed", FIELD_INTEGER, true, "runs that failed"},
    {"cancelled", FIELD_INTEGER, true, "runs that were cancelled or deleted"},
    {"created", FIELD_INTEGER, true, "dates that got a run"},
    {"redone", FIELD_INTEGER, true, "dates whose run was done again"},
    {"kept", FIELD_INTEGER, true, "dates whose run was left as it was"},
    {"created_at", FIELD_INSTANT, true, "when it was made"},
    {"start_date", FIELD_INSTANT, false, "when it began"},
    {"end_date", FIELD_INSTANT, false, "when it ended"},
    {"estimate_left", FIELD_NUMBER, false, "seconds, from the history of the DAG"},
    {"left_out", FIELD_STRING, false, "dates of the range that its schedule does not have"},
    {"dates", FIELD_ARRAY, false, "logical_date, action, run, dag_run_id and state of each"},
};
static const struct operation_field REQUEST_BACKFILL_LIST[] = {
    {"dag", FIELD_STRING, false, "only of this DAG"},
    {"state", FIELD_STRING, false, "only in this state"},
    {"limit", FIELD_INTEGER, false, "at most so many"},
    WITH_TOTAL,
};
static const struct operation_field LIST_BACKFILLS[] = {
    {"backfills", FIELD_ARRAY, true, "backfills, newest first"}, PAGED_TOTAL,
};
static const struct operation_field REQUEST_BACKFILL_SHOW[] = {
    BACKFILL, {"dates", FIELD_INTEGER, false, "list so many dates that were decided on"},
};
static const struct operation_field REQUEST_BACKFILL_CHANGE[] = {BACKFILL, REASON};
static const struct operation_field REQUEST_BACKFILL_CANCEL[] = {
    BACKFILL, REASON, {"running", FIELD_BOOLEAN, false, "stop what runs, too"}, DRY_RUN,
};
static const struct operation_field REQUEST_CONFIG_GET[] = {
    {"key", FIELD_STRING, true, "name of the setting"},
};
static const struct operation_field LIST_SETTINGS[] = {
    {"settings", FIELD_ARRAY, true, "every setting"}, TOTAL,
};
static const struct operation_field REQUEST_GRAPH[] = {
    {"dag", FIELD_STRING, false, "id of the DAG; with a file, which of its DAGs"},
    DAG_FILE,
    {"run", FIELD_STRING, false, "draw this run with its states"},
    {"format", FIELD_STRING, false, "text, dot, mermaid or svg"},
    {"width", FIELD_INTEGER, false, "columns for text; 0: no limit"},
    {"ascii", FIELD_BOOLEAN, false, "text without box characters"}, GRAPH_PART,
};
static const struct operation_field RESPONSE_GRAPH[] = {
    {"dag_id", FIELD_STRING, true, "what was drawn"},
    {"format", FIELD_STRING, true, "form of the text"},
    {"text", FIELD_STRING, true, "the picture"},
};
static const struct operation_field REQUEST_DAG_LIST[] = {
    {"tag", FIELD_STRING, false, "only those with this tag"},
    {"all", FIELD_BOOLEAN, false, "inactive ones, too"}, DAG_FILTER, BRIEF,
    {"order_by", FIELD_STRING, false, "dag_id, as by default, or -dag_id"},
};
static const struct operation_field LIST_DAGS[] = {{"dags", FIELD_ARRAY, true, "DAGs by id"}, TOTAL};
static const struct operation_field RESPONSE_SOURCE[] = {
    {"dag_id", FIELD_STRING, true, "its id"},
    {"file", FIELD_STRING, false, "where it is written"},
    {"text", FIELD_STRING, true, "as its author wrote it"},
};
static const struct operation_field REQUEST_VALIDATE[] = {
    {"paths", FIELD_PATHS, false, "files and folders"},
    {"texts", FIELD_OBJECT, false, "file name to text, for files that are not saved"},
    {"files", FIELD_ARRAY, false, "name and text of files that are elsewhere, or why one is unreadable"},
};
static const struct operation_field RESPONSE_VALIDATE[] = {
    {"files", FIELD_ARRAY, true, "path, ok, dags, tasks_total and problems of each"},
    {"errors", FIELD_INTEGER, true, "of all files"},
    {"warnings", FIELD_INTEGER, true, "of all files"},
};
static const struct operation_field RESPONSE_CHECKS[] = {
    {"ok", FIELD_BOOLEAN, true, "nothing failed"},
    {"checks", FIELD_ARRAY, true, "name, state, detail and advice of each"},
};
static const struct operation_field REQUEST_LOG[] = {
    RUN,
    {"task", FIELD_STRING, false, "only of this task"},
    INDEX,
    LOG_PART,
};
static const struct operation_field RESPONSE_LOG[] = {
    {"entries", FIELD_ARRAY, true, "task_id, map_index, label, try_number, text; base64 of bytes that are no text"},
    {"cursor", FIELD_STRING, true, "for the next part"},
    {"more", FIELD_BOOLEAN, true, "another part is there at once"},
    {"live", FIELD_BOOLEAN, true, "more may come later"},
    {"arriving", FIELD_BOOLEAN, true, "the end of a log is still on the host that ran its task"},
    {"removed", FIELD_BOOLEAN, false, "a task has printed something that is not kept any more"},
};
static const struct operation_field LIST_TASK_INSTANCES[] = {{"task_instances", FIELD_ARRAY, true, "task instances"}, TOTAL};
static const struct operation_field REQUEST_CANCEL[] = {
    RUN, {"task", FIELD_STRING, false, "only this task; one that runs is ended"}, INDEX, REASON,
    {"kill", FIELD_BOOLEAN, false, "of a run: its `finally` tasks, too"}, DRY_RUN,
};
static const struct operation_field REQUEST_EXPLAIN[] = {
    RUN, {"task", FIELD_STRING, false, "only of this task"}, INDEX};
static const struct operation_field RESPONSE_EXPLAIN[] = {
    {"number", FIELD_ID, true, "the run"},
    {"dag_id", FIELD_STRING, true, "its DAG"},
    {"dag_run_id", FIELD_STRING, true, "its name"},
    {"state", FIELD_STRING, true, "of the run"},
    {"summary", FIELD_STRING, true, "the answer as sentences"},
    {"conditions", FIELD_ARRAY, true, "code, because, change of what holds up the whole run"},
    {"tasks", FIELD_ARRAY, true, "task_id, map_index, state, because, change, conditions of each"},
    {"left_out", FIELD_INTEGER, true, "tasks beyond what the list holds"},
};
static const struct operation_field REQUEST_DAG_EXPLAIN[] = {
    {"dag", FIELD_STRING, true, "id of the DAG"},
};
static const struct operation_field RESPONSE_DAG_EXPLAIN[] = {
    {"dag_id", FIELD_STRING, true, "the DAG"},
    {"is_paused", FIELD_BOOLEAN, true, "nothing of it starts by itself"},
    {"summary", FIELD_STRING, true, "the answer as sentences"},
    {"conditions", FIELD_ARRAY, true, "code, because, change and numbers of each"},
};
static const struct operation_field REQUEST_RUN_LIST[] = {
    {"dag", FIELD_STRING, false, "only of this DAG"},
    {"state", FIELD_STRING, false, "only in this state"},
    RUN_FILTER,
    {"order_by", FIELD_STRING, false, "id, logical_date, start_date, end_date or duration; - in front turns it round; -id by default"},
    LIMIT, {"offset", FIELD_INTEGER, false, "leave out the first, up to 100000"}, BRIEF, WITH_TOTAL, NEXT_BY_ID,
};
static const struct operation_field LIST_RUNS[] = {
    {"dag_runs", FIELD_ARRAY, true, "runs, newest first"}, PAGED_TOTAL, CURSOR_BY_ID,
};
static const struct operation_field REQUEST_NOTE[] = {
    RUN, {"note", FIELD_STRING, true, "the note; empty removes it"}, REASON,
};
static const struct operation_field REQUEST_RETRY[] = {
    RUN, {"tasks", FIELD_STRINGS, false, "these; by default what did not succeed"}, REASON,
    DRY_RUN,
};
static const struct operation_field REQUEST_RUN_TASKS[] = {
    RUN,
    {"state", FIELD_STRING, false, "only in this state"},
    {"task", FIELD_STRING, false, "only of this task"},
    {"folded", FIELD_BOOLEAN, false, "mapped tasks without their instances; false: only those"},
    {"limit", FIELD_INTEGER, false, "at most so many; all by default"},
    {"offset", FIELD_INTEGER, false, "leave out the first"},
};
static const struct operation_field REQUEST_VALUES[] = {
    RUN,
    {"task", FIELD_STRING, false, "only of this task"},
    {"key", FIELD_STRING, false, "only this key"},
    INDEX,
};
static const struct operation_field LIST_VALUES[] = {
    {"values", FIELD_ARRAY, true, "task_id, map_index, key, value, bytes and spilled of each"}, TOTAL,
};
static const struct operation_field RESPONSE_BACKUP[] = {
    {"path", FIELD_STRING, true, "the file"},
    {"bytes", FIELD_INTEGER, true, "its size"},
    {"schema", FIELD_INTEGER, true, "its schema"},
};
static const struct operation_field REQUEST_EXPORT[] = {
    {"path", FIELD_PATH, true, "the file, which must not exist, or something under /dev"},
    {"logs", FIELD_BOOLEAN, false, "the output of tasks, too"},
};
static const struct operation_field REQUEST_IMPORT[] = {
    {"path", FIELD_PATH, true, "the file of an export, or something under /dev"},
};
static const struct operation_field RESPONSE_MOVE[] = {
    {"path", FIELD_STRING, true, "the file"},
    {"bytes", FIELD_INTEGER, true, "its size"},
    {"rows", FIELD_INTEGER, true, "rows in it"},
    {"files", FIELD_INTEGER, true, "logs and large values in it"},
    {"schema", FIELD_INTEGER, true, "schema of the store"},
    {"uuid", FIELD_STRING, true, "which store it is"},
    {"epoch", FIELD_INTEGER, true, "how often it was restored or moved, from 1"},
};
static const struct operation_field REQUEST_MIGRATE[] = {DRY_RUN};
static const struct operation_field RESPONSE_MIGRATE[] = {
    {"from", FIELD_INTEGER, true, "schema before"},
    {"to", FIELD_INTEGER, true, "schema afterwards"},
    {"applied", FIELD_STRINGS, true, "steps"},
};
static const struct operation_field REQUEST_SIMULATE[] = {
    {"from", FIELD_STRING, false, "first instant; default: now"},
    {"to", FIELD_STRING, false, "last instant; default: a day later"},
    {"slots", FIELD_INTEGER, false, "of the whole fleet; default: those of this machine"},
    {"unknown_ms", FIELD_INTEGER, false, "time of a task that has never run; default 60000"},
};
static const struct operation_field RESPONSE_SIMULATE[] = {
    {"hours", FIELD_ARRAY, true, "hour, runs, tasks, busy, busy_percent, most_running, most_waiting"},
    {"dags", FIELD_ARRAY, true, "dag_id, runs, failed, tasks, busy, longest_run, unknown, unfinished"},
    {"pools", FIELD_ARRAY, true, "name, namespace, slots, most_used, tasks, hours_waited, most_waiting, longest_wait"},
    {"misses", FIELD_ARRAY, true, "dag_id, task_id, kind, count, worst, first of expected SLA misses"},
    {"runs", FIELD_INTEGER, true, "that begin"},
    {"tasks", FIELD_INTEGER, true, "that begin"},
    {"slots", FIELD_INTEGER, true, "that were assumed"},
};
static const struct operation_field REQUEST_PRUNE[] = {REASON, DRY_RUN};
static const struct operation_field RESPONSE_PRUNE[] = {
    {"runs", FIELD_INTEGER, true, "removed with everything of theirs"},
    {"runs_without_logs", FIELD_INTEGER, true, "kept, but not their logs"},
    {"runs_without_values", FIELD_INTEGER, true, "kept, but not their values"},
    {"values", FIELD_INTEGER, true, "removed from runs that are kept"},
    {"jobs", FIELD_INTEGER, true, "removed"},
    {"dead_letters", FIELD_INTEGER, true, "forgotten"},
    {"events", FIELD_INTEGER, true, "removed: changes that concern no run, updates of datasets, calls of webhooks, missed ticks"},
    {"messages", FIELD_INTEGER, true, "of hooks, removed"},
    {"files", FIELD_INTEGER, true, "that arrived, forgotten"},
    {"backfills", FIELD_INTEGER, true, "removed"},
    {"versions", FIELD_INTEGER, true, "of DAGs, removed"},
    {"hosts", FIELD_INTEGER, true, "that left, forgotten"},
    {"dry_run", FIELD_BOOLEAN, true, "nothing was removed"},
};
static const struct operation_field REQUEST_CLEAR[] = {
    RUN,
    {"tasks", FIELD_STRINGS, true, "which"},
    {"downstream", FIELD_BOOLEAN, false, "what comes after them; what started of it in any case"},
    {"upstream", FIELD_BOOLEAN, false, "what they need, too"},
    {"failed", FIELD_BOOLEAN, false, "of all those only what did not succeed"},
    INDEX, REASON, DRY_RUN,
};
static const struct operation_field LIST_TASKS[] = {
    {"dag_id", FIELD_STRING, true, "their DAG"}, {"tasks", FIELD_ARRAY, true, "tasks, parents first"}, TOTAL,
};
static const struct operation_field REQUEST_MARK[] = {
    RUN, TASK, {"state", FIELD_STRING, true, "success, failed or skipped"}, INDEX, REASON,
    DRY_RUN,
};

#define QUEUE_NAME {"name", FIELD_STRING, true, "its name"}
#define ONLY_QUEUE {"queue", FIELD_STRING, false, "only of this queue"}
#define OLDER      {"older", FIELD_STRING, false, "only what is older, such as 7d"}
#define JOB        {"job", FIELD_ID, true, "its id"}
#define HOST       {"host", FIELD_STRING, true, "id, or name"}

static const struct operation_field REQUEST_DEAD_LIST[] = {
    ONLY_QUEUE, OLDER, LIMIT, WITH_TOTAL, NEXT_PAGE,
};
#define LETTERS {"letters", FIELD_ARRAY, true, "dead letters, newest first"}, PAGED_TOTAL
static const struct operation_field LIST_LETTERS[] = {LETTERS};
static const struct operation_field PAGE_LETTERS[] = {LETTERS, CURSOR};
static const struct operation_field REQUEST_LETTER[] = {{"id", FIELD_ID, true, "of the job or task"}};
static const struct operation_field RECORD_LETTER[] = {
    {"id", FIELD_ID, true, "of the job or task"},
    {"kind", FIELD_STRING, true, "job or task"},
    {"name", FIELD_STRING, true, "handler of a job; DAG/RUN_ID/TASK of a task"},
    {"queue", FIELD_STRING, true, "where it waited"},
    {"died_at", FIELD_INSTANT, true, "when it was given up"},
    {"reason", FIELD_STRING, true, "from the closed list"},
    {"attempts", FIELD_INTEGER, true, "how often it was tried"},
    {"message", FIELD_STRING, false, "what explains the reason"},
    {"payload", FIELD_ANY, false, "of a job"}, {"run", FIELD_ID, false, "number of a task's run"},
    {"task_id", FIELD_STRING, false, "of a task"}, {"map_index", FIELD_INTEGER, false, "its instance, or -1"},
};
static const struct operation_field REQUEST_REQUEUE[] = {
    {"id", FIELD_ID, false, "this one"},
    {"all", FIELD_BOOLEAN, false, "all of them, at most 1000 at a time"},
    ONLY_QUEUE, OLDER, LIMIT, REASON, DRY_RUN,
};
static const struct operation_field REQUEST_DEAD_PURGE[] = {
    ONLY_QUEUE, OLDER, LIMIT, REASON, DRY_RUN,
};
static const struct operation_field RESPONSE_PURGE[] = {
    {"purged", FIELD_INTEGER, true, "how many went, or would"},
    {"dry_run", FIELD_BOOLEAN, true, "nothing was changed"},
};
static const struct operation_field REQUEST_HOST_LIST[] = {
    {"all", FIELD_BOOLEAN, false, "those that ended, too"},
};
static const struct operation_field LIST_HOSTS[] = {{"hosts", FIELD_ARRAY, true, "newest first"}, TOTAL};
static const struct operation_field REQUEST_HOST[] = {HOST};
static const struct operation_field REQUEST_DRAIN[] = {
    HOST, {"drain", FIELD_BOOLEAN, false, "false: claim again"}, REASON,
};
static const struct operation_field RECORD_HOST[] = {
    {"id", FIELD_ID, true, "its number"},
    {"name", FIELD_STRING, true, "its name"},
    {"status", FIELD_STRING, true, "active, draining, stopping, expired, lost or left"},
    {"leader", FIELD_BOOLEAN, true, "the oldest living host"},
    {"kind", FIELD_STRING, true, "daemon, foreground or client"},
    {"machine", FIELD_STRING, false, "where it runs"},
    {"version", FIELD_STRING, false, "of its program"},
    {"pid", FIELD_INTEGER, true, "its process"},
    {"birth", FIELD_INSTANT, true, "when it came"},
    {"last_heartbeat", FIELD_INSTANT, false, "when it was heard of"},
    {"heartbeat_age", FIELD_NUMBER, false, "seconds since then"},
    {"ended_at", FIELD_INSTANT, false, "when it left or was lost"},
    {"slots", FIELD_INTEGER, true, "tasks it runs at once"},
    {"slots_used", FIELD_INTEGER, true, "tasks it runs now"},
    {"labels", FIELD_STRINGS, true, "what tasks may ask for"},
    {"queues", FIELD_STRINGS, true, "what it serves; empty: all"},
    {"roles", FIELD_STRINGS, true, "what it does"},
};
static const struct operation_field REQUEST_DESIRED[] = {
    {"min", FIELD_INTEGER, false, "never fewer"}, {"max", FIELD_INTEGER, false, "never more"},
};
static const struct operation_field RESPONSE_DESIRED[] = {
    {"desired", FIELD_INTEGER, true, "demand over slots per host, rounded up"},
    {"living", FIELD_INTEGER, true, "hosts that claim now"},
    {"demand", FIELD_INTEGER, true, "tasks and jobs that wait or run, by the bounds of their queues"},
    {"slots_per_host", FIELD_INTEGER, true, "on average; without hosts the setting `slots`"},
};
static const struct operation_field REQUEST_ENQUEUE[] = {
    {"queue", FIELD_STRING, false, "for jobs that name none"},
    {"jobs", FIELD_ARRAY, true, "what enqueue --batch takes as a line, each an object with at least a handler"},
};
static const struct operation_field RESPONSE_ENQUEUE[] = {
    {"jobs", FIELD_ARRAY, true, "id of each, and whether it existed"}, TOTAL,
    {"crowded", FIELD_BOOLEAN, true, "a queue is beyond its soft bound"},
};
static const struct operation_field REQUEST_JOB_LIST[] = {
    ONLY_QUEUE,
    {"status", FIELD_STRING, false, "only of this status"},
    {"before", FIELD_ID, false, "only ids below"},
    LIMIT, WITH_TOTAL, NEXT_PAGE,
};
static const struct operation_field LIST_JOBS[] = {
    {"jobs", FIELD_ARRAY, true, "newest first"}, PAGED_TOTAL, CURSOR,
};
static const struct operation_field REQUEST_JOB[] = {JOB};
static const struct operation_field REQUEST_JOB_CHANGE[] = {JOB, REASON};
static const struct operation_field REQUEST_JOB_LOG[] = {
    JOB,
    LOG_PART,
};
static const struct operation_field REQUEST_RESCHEDULE[] = {
    JOB,
    {"run_after", FIELD_INSTANT, false, "not before"},
    {"delay", FIELD_STRING, false, "the same, from now on, such as 5m"},
    REASON,
};
static const struct operation_field REQUEST_JOB_PURGE[] = {
    ONLY_QUEUE, {"status", FIELD_STRING, false, "only of this status"}, OLDER, LIMIT, REASON,
    DRY_RUN,
};
static const struct operation_field RECORD_JOB[] = {
    {"id", FIELD_ID, true, "its number"},
    {"status", FIELD_STRING, true, "pending, delayed, claimed, completed, failed, skipped or cancelled"},
    {"queue", FIELD_STRING, true, "where it waits"},
    {"handler", FIELD_STRING, true, "what runs"},
    {"priority", FIELD_INTEGER, true, "higher ones come first within their queue"},
    {"payload", FIELD_ANY, true, "what it is given"},
    {"claimed_by", FIELD_STRING, false, "host that has or had it"},
    {"attempts", FIELD_INTEGER, true, "how often it was tried"},
    {"retry_count", FIELD_INTEGER, true, "of its retries so far"},
    {"created_at", FIELD_INSTANT, true, "when it was made"},
    {"run_after", FIELD_INSTANT, true, "not before"},
    {"last_update", FIELD_INSTANT, true, "the last thing that happened to it"},
    {"result", FIELD_ANY, true, "what a completed one gave back"},
    {"error", FIELD_STRING, false, "of the last attempt that failed"},
    {"retries", FIELD_INTEGER, true, "after the first attempt"},
    {"timeout", FIELD_NUMBER, false, "seconds for an attempt"},
    {"reason", FIELD_STRING, false, "from the closed list"},
    {"message", FIELD_STRING, false, "what explains the reason"},
    {"dead", FIELD_BOOLEAN, true, "lies among the dead letters"},
};
static const struct operation_field RECORD_QUEUE[] = {
    QUEUE_NAME,
    {"state", FIELD_STRING, true, "READY, NOT_READY (no host serves it) or PAUSED"},
    {"late", FIELD_BOOLEAN, true, "something claimable waits for more than 15 s"},
    {"priority", FIELD_INTEGER, true, "higher ones are served first"},
    {"pending", FIELD_INTEGER, true, "claimable now"},
    {"delayed", FIELD_INTEGER, true, "jobs that wait for their time"},
    {"running", FIELD_INTEGER, true, "on all hosts"},
    {"oldest_wait", FIELD_NUMBER, false, "seconds that the oldest one waits"},
    {"hosts", FIELD_INTEGER, true, "that serve it"},
    {"max_running", FIELD_INTEGER, true, "on all hosts; 0: no bound"},
    {"max_share", FIELD_INTEGER, true, "percent of each host's slots; 0: no bound"},
    {"soft_pending", FIELD_INTEGER, true, "producers are warned from here on; 0: never"},
    {"hard_pending", FIELD_INTEGER, true, "producers are refused from here on; 0: never"},
};
static const struct operation_field LIST_QUEUES[] = {
    {"queues", FIELD_ARRAY, true, "by priority, then name"}, TOTAL,
};
static const struct operation_field REQUEST_QUEUE[] = {QUEUE_NAME};
static const struct operation_field REQUEST_QUEUE_DELETE[] = {QUEUE_NAME, REASON, DRY_RUN};
static const struct operation_field REQUEST_QUEUE_SET[] = {
    QUEUE_NAME,
    {"priority", FIELD_INTEGER, false, "higher ones are served first"},
    {"max_running", FIELD_INTEGER, false, "on all hosts; 0: no bound"},
    {"max_share", FIELD_INTEGER, false, "percent of each host's slots; 0: no bound"},
    {"soft_pending", FIELD_INTEGER, false, "warn producers from here on; 0: never"},
    {"hard_pending", FIELD_INTEGER, false, "refuse producers from here on; 0: never"},
    {"paused", FIELD_BOOLEAN, false, "nothing of it is claimed"},
    {"create", FIELD_BOOLEAN, false, "make it when it is not there; true by default"},
    REASON,
};
static const struct operation_field REQUEST_WEBHOOK_LIST[] = {
    {"dag", FIELD_STRING, false, "only those of this DAG"},
};
static const struct operation_field REQUEST_WEBHOOK_CREATE[] = {
    {"dag", FIELD_STRING, true, "id of the DAG"},
    {"name", FIELD_STRING, false, "as in the DAG's schedule; default when it says true"},
    REASON,
};
static const struct operation_field REQUEST_WEBHOOK[] = {
    {"id", FIELD_ID, true, "number of the webhook"}, REASON, DRY_RUN,
};
static const struct operation_field REQUEST_FIRE[] = {
    {"token", FIELD_STRING, true, "of the webhook"},
    {"body", FIELD_ANY, false, "an object is the conf of the run; else its member 'body'"},
    {"key", FIELD_STRING, false, "the same key again gives the same run"},
};
static const struct operation_field RECORD_WEBHOOK[] = {
    {"id", FIELD_ID, true, "its number"},
    {"dag_id", FIELD_STRING, true, "the DAG it starts"},
    {"name", FIELD_STRING, true, "as in the DAG's schedule"},
    {"token", FIELD_STRING, false, "only when it is made"},
    {"created_by", FIELD_STRING, true, "who made it"},
    {"created_at", FIELD_INSTANT, true, "when"},
    {"last_used", FIELD_INSTANT, false, "the last call that made a run"},
    {"calls", FIELD_INTEGER, true, "calls that made a run"},
    {"asked", FIELD_BOOLEAN, true, "the DAG waits for calls by this name"},
};
static const struct operation_field LIST_WEBHOOKS[] = {
    TOTAL, {"webhooks", FIELD_ARRAY, true, "webhooks by DAG"},
};

static const struct operation ROWS[] = {
    {"backfill.approve", "let a large backfill begin", PERMISSION_ADMIN,
        FIELDS(REQUEST_BACKFILL_CHANGE), FIELDS(RECORD_BACKFILL), op_backfill_approve, SCOPE_BACKFILL},
    {"backfill.cancel", "begin nothing more of a backfill", PERMISSION_OPERATOR,
        FIELDS(REQUEST_BACKFILL_CANCEL), FIELDS(RECORD_BACKFILL), op_backfill_cancel, SCOPE_BACKFILL},
    {"backfill.create", "run a DAG for dates of the past", PERMISSION_OPERATOR,
        FIELDS(REQUEST_BACKFILL), FIELDS(RECORD_BACKFILL), op_backfill_create, SCOPE_DAG},
    {"backfill.list", "backfills with their progress", PERMISSION_VIEWER,
        FIELDS(REQUEST_BACKFILL_LIST), FIELDS(LIST_BACKFILLS), op_backfill_list, SCOPE_LIST},
    {"backfill.pause", "let a backfill begin nothing for a while", PERMISSION_OPERATOR,
        FIELDS(REQUEST_BACKFILL_CHANGE), FIELDS(RECORD_BACKFILL), op_backfill_pause, SCOPE_BACKFILL},
    {"backfill.plan", "what a backfill would do", PERMISSION_VIEWER,
        FIELDS(REQUEST_BACKFILL), FIELDS(RECORD_PLAN), op_backfill_plan, SCOPE_DAG},
    {"backfill.resume", "let a paused backfill go on", PERMISSION_OPERATOR,
        FIELDS(REQUEST_BACKFILL_CHANGE), FIELDS(RECORD_BACKFILL), op_backfill_resume, SCOPE_BACKFILL},
    {"backfill.show", "a backfill with its progress", PERMISSION_VIEWER,
        FIELDS(REQUEST_BACKFILL_SHOW), FIELDS(RECORD_BACKFILL), op_backfill_show, SCOPE_BACKFILL},
    {"config.get", "the value of a setting", PERMISSION_VIEWER,
        FIELDS(REQUEST_CONFIG_GET), FIELDS(RECORD_SETTING), op_config_get, SCOPE_ALL},
    {"config.list", "every setting and where its value came from", PERMISSION_VIEWER,
        NO_FIELDS, FIELDS(LIST_SETTINGS), op_config_list, SCOPE_ALL},
    {"dag.explain", "why a DAG starts no run now", PERMISSION_VIEWER,
        FIELDS(REQUEST_DAG_EXPLAIN), FIELDS(RESPONSE_DAG_EXPLAIN), op_dag_explain, SCOPE_DAG},
    {"dag.graph", "draw a DAG, with the states of a run if one is named", PERMISSION_VIEWER,
        FIELDS(REQUEST_GRAPH), FIELDS(RESPONSE_GRAPH), op_dag_graph, SCOPE_DAG},
    {"dag.list", "DAGs that ran or lie in the folder of DAG files", PERMISSION_VIEWER,
        FIELDS(REQUEST_DAG_LIST), FIELDS(LIST_DAGS), op_dag_list, SCOPE_LIST},
    {"dag.next", "the next ticks of a DAG's schedule, and those that were missed",
        PERMISSION_VIEWER, FIELDS(REQUEST_NEXT), FIELDS(RESPONSE_NEXT), op_dag_next, SCOPE_DAG},
    {"dag.pause", "let DAGs start nothing by themselves", PERMISSION_OPERATOR,
        FIELDS(REQUEST_PAUSE), FIELDS(LIST_PAUSED), op_dag_pause, SCOPE_DAGS},
    {"dag.show", "a DAG with its tasks", PERMISSION_VIEWER,
        FIELDS(REQUEST_DAG_SHOW), FIELDS(RECORD_DAG), op_dag_show, SCOPE_DAG},
    {"dag.source", "a DAG as its author wrote it", PERMISSION_VIEWER,
        FIELDS(REQUEST_DAG), FIELDS(RESPONSE_SOURCE), op_dag_source, SCOPE_DAG},
    {"dag.trigger", "make a run for daemons to work off", PERMISSION_OPERATOR,
        FIELDS(REQUEST_TRIGGER), FIELDS(RECORD_RUN), op_dag_trigger, SCOPE_DAG},
    {"dag.unpause", "let DAGs start by themselves again", PERMISSION_OPERATOR,
        FIELDS(REQUEST_PAUSE), FIELDS(LIST_PAUSED), op_dag_unpause, SCOPE_DAGS},
    {"dag.validate", "check DAG files", PERMISSION_VIEWER,
        FIELDS(REQUEST_VALIDATE), FIELDS(RESPONSE_VALIDATE), op_dag_validate, SCOPE_ANY},
    {"dead.list", "dead letters: what failed for good or was put aside", PERMISSION_VIEWER,
        FIELDS(REQUEST_DEAD_LIST), FIELDS(PAGE_LETTERS), op_dead_list, SCOPE_LIST},
    {"dead.purge", "forget dead letters", PERMISSION_EDITOR,
        FIELDS(REQUEST_DEAD_PURGE), FIELDS(RESPONSE_PURGE), op_dead_purge, SCOPE_ALL},
    {"dead.requeue", "let dead letters run again", PERMISSION_OPERATOR,
        FIELDS(REQUEST_REQUEUE), FIELDS(LIST_LETTERS), op_dead_requeue, SCOPE_LETTER},
    {"dead.show", "a dead letter", PERMISSION_VIEWER,
        FIELDS(REQUEST_LETTER), FIELDS(RECORD_LETTER), op_dead_show, SCOPE_LETTER},
    {"doctor.check", "check that this machine has what is needed", PERMISSION_VIEWER,
        NO_FIELDS, FIELDS(RESPONSE_CHECKS), op_doctor_check, SCOPE_ALL},
    {"host.desired", "how many hosts the work that is there asks for", PERMISSION_VIEWER,
        FIELDS(REQUEST_DESIRED), FIELDS(RESPONSE_DESIRED), op_host_desired, SCOPE_ANY},
    {"host.drain", "ask a host to claim nothing more, or to claim again", PERMISSION_OPERATOR,
        FIELDS(REQUEST_DRAIN), FIELDS(RECORD_HOST), op_host_drain, SCOPE_ALL},
    {"host.list", "processes that run tasks", PERMISSION_VIEWER,
        FIELDS(REQUEST_HOST_LIST), FIELDS(LIST_HOSTS), op_host_list, SCOPE_ANY},
    {"host.show", "a host", PERMISSION_VIEWER,
        FIELDS(REQUEST_HOST), FIELDS(RECORD_HOST), op_host_show, SCOPE_ANY},
    {"job.cancel", "stop a job", PERMISSION_OPERATOR,
        FIELDS(REQUEST_JOB_CHANGE), FIELDS(RECORD_JOB), op_job_cancel, SCOPE_JOB},
    {"job.enqueue", "put jobs in a queue, all or none", PERMISSION_OPERATOR,
        FIELDS(REQUEST_ENQUEUE), FIELDS(RESPONSE_ENQUEUE), op_job_enqueue, SCOPE_JOBS},
    {"job.list", "jobs, newest first", PERMISSION_VIEWER,
        FIELDS(REQUEST_JOB_LIST), FIELDS(LIST_JOBS), op_job_list, SCOPE_LIST},
    {"job.log", "what a job printed, in parts", PERMISSION_VIEWER,
        FIELDS(REQUEST_JOB_LOG), FIELDS(RESPONSE_LOG), op_job_log, SCOPE_JOB},
    {"job.purge", "remove jobs that are over", PERMISSION_EDITOR,
        FIELDS(REQUEST_JOB_PURGE), FIELDS(RESPONSE_PURGE), op_job_purge, SCOPE_ALL},
    {"job.reschedule", "another time for a job that waits", PERMISSION_OPERATOR,
        FIELDS(REQUEST_RESCHEDULE), FIELDS(RECORD_JOB), op_job_reschedule, SCOPE_JOB},
    {"job.retry", "run a job again, or now", PERMISSION_OPERATOR,
        FIELDS(REQUEST_JOB_CHANGE), FIELDS(RECORD_JOB), op_job_retry, SCOPE_JOB},
    {"job.show", "a job", PERMISSION_VIEWER,
        FIELDS(REQUEST_JOB), FIELDS(RECORD_JOB), op_job_show, SCOPE_JOB},
    {"log.read", "what tasks printed, in parts", PERMISSION_VIEWER,
        FIELDS(REQUEST_LOG), FIELDS(RESPONSE_LOG), op_log_read, SCOPE_RUN},
    {"queue.delete", "delete an empty queue", PERMISSION_EDITOR,
        FIELDS(REQUEST_QUEUE_DELETE), FIELDS(RECORD_QUEUE), op_queue_delete, SCOPE_ALL},
    {"queue.list", "queues, what waits in them and whether somebody serves them", PERMISSION_VIEWER,
        NO_FIELDS, FIELDS(LIST_QUEUES), op_queue_list, SCOPE_ANY},
    {"queue.set", "make or change a queue", PERMISSION_EDITOR,
        FIELDS(REQUEST_QUEUE_SET), FIELDS(RECORD_QUEUE), op_queue_set, SCOPE_ALL},
    {"queue.show", "a queue", PERMISSION_VIEWER,
        FIELDS(REQUEST_QUEUE), FIELDS(RECORD_QUEUE), op_queue_show, SCOPE_ANY},
    {"run.active", "what runs now, over all runs", PERMISSION_VIEWER,
        NO_FIELDS, FIELDS(LIST_TASK_INSTANCES), op_run_active, SCOPE_LIST},
    {"run.cancel", "stop a run or one of its tasks", PERMISSION_OPERATOR,
        FIELDS(REQUEST_CANCEL), FIELDS(RECORD_RUN), op_run_cancel, SCOPE_RUN},
    {"run.delete", "delete a run with its logs and values", PERMISSION_EDITOR,
        FIELDS(REQUEST_DRY), FIELDS(RECORD_RUN), op_run_delete, SCOPE_RUN},
    {"run.explain", "why tasks are or are not running", PERMISSION_VIEWER,
        FIELDS(REQUEST_EXPLAIN), FIELDS(RESPONSE_EXPLAIN), op_run_explain, SCOPE_RUN},
    {"run.list", "runs, newest first", PERMISSION_VIEWER,
        FIELDS(REQUEST_RUN_LIST), FIELDS(LIST_RUNS), op_run_list, SCOPE_LIST},
    {"run.note", "set the note of a run", PERMISSION_OPERATOR,
        FIELDS(REQUEST_NOTE), FIELDS(RECORD_RUN), op_run_note, SCOPE_RUN},
    {"run.rerun", "make a new run of what another run was", PERMISSION_OPERATOR,
        FIELDS(REQUEST_RERUN), FIELDS(RECORD_RUN), op_run_rerun, SCOPE_RUN},
    {"run.retry", "let run again what did not succeed", PERMISSION_OPERATOR,
        FIELDS(REQUEST_RETRY), FIELDS(LIST_TASK_INSTANCES), op_run_retry, SCOPE_RUN},
    {"run.show", "a run", PERMISSION_VIEWER,
        FIELDS(REQUEST_RUN_SHOW), FIELDS(RECORD_RUN), op_run_show, SCOPE_RUN},
    {"run.tasks", "the tasks of a run and the instances of mapped ones", PERMISSION_VIEWER,
        FIELDS(REQUEST_RUN_TASKS), FIELDS(LIST_TASK_INSTANCES), op_run_tasks, SCOPE_RUN},
    {"run.values", "what tasks returned", PERMISSION_VIEWER,
        FIELDS(REQUEST_VALUES), FIELDS(LIST_VALUES), op_run_values, SCOPE_RUN},
    {"schedule.simulate", "what the schedules of the coming hours will bring", PERMISSION_VIEWER,
        FIELDS(REQUEST_SIMULATE), FIELDS(RESPONSE_SIMULATE), op_simulate, SCOPE_ALL},
    {"store.backup", "copy the store while it is in use", PERMISSION_ADMIN,
        FIELDS(REQUEST_PATH), FIELDS(RESPONSE_BACKUP), op_store_backup, SCOPE_ALL},
    {"store.check", "check the store for damage", PERMISSION_ADMIN,
        NO_FIELDS, FIELDS(RESPONSE_CHECKS), op_store_check, SCOPE_ALL},
    {"store.export", "write the store as a file that another one reads", PERMISSION_ADMIN,
        FIELDS(REQUEST_EXPORT), FIELDS(RESPONSE_MOVE), op_store_export, SCOPE_ALL},
    {"store.import", "fill an empty store from an export", PERMISSION_ADMIN,
        FIELDS(REQUEST_IMPORT), FIELDS(RESPONSE_MOVE), op_store_import, SCOPE_ALL},
    {"store.migrate", "bring the store to this program's schema", PERMISSION_ADMIN,
        FIELDS(REQUEST_MIGRATE), FIELDS(RESPONSE_MIGRATE), op_store_migrate, SCOPE_ALL},
    {"store.prune", "remove what is older than the settings keep", PERMISSION_ADMIN,
        FIELDS(REQUEST_PRUNE), FIELDS(RESPONSE_PRUNE), op_store_prune, SCOPE_ALL},
    {"store.restore", "put a backup in the place of the store", PERMISSION_ADMIN,
        FIELDS(REQUEST_PATH), FIELDS(RESPONSE_BACKUP), op_store_restore, SCOPE_ALL},
    {"task.clear", "forget the outcome of tasks, so that they run again", PERMISSION_OPERATOR,
        FIELDS(REQUEST_CLEAR), FIELDS(LIST_TASK_INSTANCES), op_task_clear, SCOPE_RUN},
    {"task.list", "the tasks of a DAG", PERMISSION_VIEWER,
        FIELDS(REQUEST_DAG), FIELDS(LIST_TASKS), op_task_list, SCOPE_DAG},
    {"task.mark", "set the state of a task by hand", PERMISSION_OPERATOR,
        FIELDS(REQUEST_MARK), FIELDS(RECORD_TASK_INSTANCE), op_task_mark, SCOPE_RUN},
    {"task.render", "the templates of a task, filled in", PERMISSION_VIEWER,
        FIELDS(REQUEST_RENDER), FIELDS(RECORD_RENDERED), op_task_render, SCOPE_DAG},
    {"task.show", "a task of a DAG", PERMISSION_VIEWER,
        FIELDS(REQUEST_DAG_TASK), FIELDS(RECORD_TASK), op_task_show, SCOPE_DAG},
    {"webhook.create", "make a token that starts a DAG", PERMISSION_EDITOR,
        FIELDS(REQUEST_WEBHOOK_CREATE), FIELDS(RECORD_WEBHOOK), op_webhook_create, SCOPE_DAG},
    {"webhook.delete", "make a token useless", PERMISSION_EDITOR,
        FIELDS(REQUEST_WEBHOOK), FIELDS(RECORD_WEBHOOK), op_webhook_delete, SCOPE_WEBHOOK},
    {"webhook.fire", "start a DAG by a token", PERMISSION_VIEWER,
        FIELDS(REQUEST_FIRE), FIELDS(RECORD_RUN), op_webhook_fire, SCOPE_ANY},
    {"webhook.list", "tokens that start DAGs, without the tokens themselves", PERMISSION_VIEWER,
        FIELDS(REQUEST_WEBHOOK_LIST), FIELDS(LIST_WEBHOOKS), op_webhook_list, SCOPE_LIST},
};
/* clang-format on */

const struct operation_table OPERATIONS = {ROWS, ARRAY_LEN(ROWS), &OPERATIONS_AROUND};
