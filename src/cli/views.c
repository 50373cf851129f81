#include "cli/views.h"

#define COLUMNS(table) .columns = (table), .columns_count = ARRAY_LEN(table)

/* Fenced off because a table is read by column. */
/* clang-format off */
static const struct column RUNS[] = {
    {"NUMBER", "number", COLUMN_NUMBER, false},
    {"DAG", "dag_id", COLUMN_TEXT, false},
    {"RUN", "dag_run_id", COLUMN_TEXT, false},
    {"TYPE", "run_type", COLUMN_TEXT, false},
    {"STATE", "state", COLUMN_STATE, false},
    {"LATE", "late", COLUMN_TEXT, false},
    {"STARTED", "start_date", COLUMN_INSTANT, false},
    {"DURATION", "duration", COLUMN_DURATION, false},
    {"TASKS", "tasks_total", COLUMN_NUMBER, false},
    {"FAILED", "counts.failed", COLUMN_NUMBER, true},
    {"LOGICAL DATE", "logical_date", COLUMN_INSTANT, true},
    {"NOTE", "note", COLUMN_TEXT, true},
};
const struct view VIEW_RUNS = {.list = "dag_runs", COLUMNS(RUNS), .name = "number",
    .empty = "no runs"};

static const struct column RUN[] = {
    {"Number", "number", COLUMN_TEXT, false},
    {"DAG", "dag_id", COLUMN_TEXT, false},
    {"Run", "dag_run_id", COLUMN_TEXT, false},
    {"State", "state", COLUMN_STATE, false},
    {"Late", "late", COLUMN_TEXT, false},
    {"Reason", "reason", COLUMN_TEXT, false},
    {"Stopped by", "stopped_by", COLUMN_TEXT, false},
    {"Stopped at", "stopped_at", COLUMN_INSTANT, false},
    {"Stopped because", "stop_reason", COLUMN_TEXT, false},
    {"Stops", "stops", COLUMN_LIST, false},
    {"Replaced by", "replaced_by", COLUMN_TEXT, false},
    {"Waits", "waits_because", COLUMN_TEXT, false},
    {"Type", "run_type", COLUMN_TEXT, false},
    {"Logical date", "logical_date", COLUMN_INSTANT, false},
    {"Interval start", "data_interval_start", COLUMN_INSTANT, false},
    {"Interval end", "data_interval_end", COLUMN_INSTANT, false},
    {"Queued", "queued_at", COLUMN_INSTANT, false},
    {"Started", "start_date", COLUMN_INSTANT, false},
    {"Ended", "end_date", COLUMN_INSTANT, false},
    {"Duration", "duration", COLUMN_DURATION, false},
    {"Tasks", "counts", COLUMN_COUNTS, false},
    {"Params", "params", COLUMN_JSON, false},
    {"Conf", "conf", COLUMN_JSON, true},
    {"Caused by", "caused_by", COLUMN_RECORDS, false},
    {"By", "actor", COLUMN_TEXT, false},
    {"Note", "note", COLUMN_TEXT, false},
    {"Version", "dag_version", COLUMN_TEXT, true},
};
const struct view VIEW_RUN = {COLUMNS(RUN), .name = "number"};

static const struct column TASK_INSTANCES[] = {
    {"TASK", "task_id", COLUMN_TEXT, false},
    {"INDEX", "map_index", COLUMN_INDEX, false},
    {"STATE", "state", COLUMN_STATE, false},
    {"TRY", "try_number", COLUMN_NUMBER, false},
    {"STARTED", "start_date", COLUMN_INSTANT, false},
    {"DURATION", "duration", COLUMN_DURATION, false},
    {"REASON", "reason", COLUMN_TEXT, false},
    {"MESSAGE", "message", COLUMN_TEXT, true},
    {"NOTE", "note", COLUMN_TEXT, true},
    {"LABEL", "label", COLUMN_TEXT, true},
    {"KIND", "operator", COLUMN_TEXT, true},
    {"MAX TRIES", "max_tries", COLUMN_NUMBER, true},
    {"EXIT", "exit_code", COLUMN_NUMBER, true},
    {"POOL", "pool", COLUMN_TEXT, true},
    {"QUEUE", "queue", COLUMN_TEXT, true},
    {"HOST", "hostname", COLUMN_TEXT, true},
    {"PID", "pid", COLUMN_NUMBER, true},
};
const struct view VIEW_TASK_INSTANCES = {.list = "task_instances", COLUMNS(TASK_INSTANCES),
    .empty = "no tasks"};
const struct view VIEW_TASK_INSTANCE = {COLUMNS(TASK_INSTANCES)};

static const struct column CLEARED[] = {
    {"TASK", "task_id", COLUMN_TEXT, false},
    {"INDEX", "map_index", COLUMN_INDEX, false},
    {"STATE", "state", COLUMN_STATE, false},
    {"STOPS FIRST", "stops_first", COLUMN_TEXT, false},
    {"TRY", "try_number", COLUMN_NUMBER, false},
    {"STARTED", "start_date", COLUMN_INSTANT, false},
    {"DURATION", "duration", COLUMN_DURATION, false},
    {"REASON", "reason", COLUMN_TEXT, false},
    {"MESSAGE", "message", COLUMN_TEXT, true},
    {"NOTE", "note", COLUMN_TEXT, true},
};
const struct view VIEW_CLEARED = {.list = "task_instances", COLUMNS(CLEARED), .empty = "no tasks"};

static const struct column ACTIVE[] = {
    {"NUMBER", "number", COLUMN_NUMBER, false},
    {"DAG", "dag_id", COLUMN_TEXT, false},
    {"TASK", "task_id", COLUMN_TEXT, false},
    {"INDEX", "map_index", COLUMN_INDEX, false},
    {"STATE", "state", COLUMN_STATE, false},
    {"TRY", "try_number", COLUMN_NUMBER, false},
    {"STARTED", "start_date", COLUMN_INSTANT, false},
    {"ELAPSED", "duration", COLUMN_DURATION, false},
    {"RUN", "dag_run_id", COLUMN_TEXT, true},
    {"HOST", "hostname", COLUMN_TEXT, true},
    {"PID", "pid", COLUMN_NUMBER, true},
};
const struct view VIEW_ACTIVE = {.list = "task_instances", COLUMNS(ACTIVE), .name = "task_id",
    .empty = "nothing runs"};

static const struct column VALUES[] = {
    {"TASK", "task_id", COLUMN_TEXT, false},
    {"INDEX", "map_index", COLUMN_INDEX, false},
    {"KEY", "key", COLUMN_TEXT, false},
    {"VALUE", "value", COLUMN_JSON, false},
};
const struct view VIEW_VALUES = {.list = "values", COLUMNS(VALUES), .name = "key",
    .empty = "no values"};

static const struct column EXPLAIN[] = {
    {"TASK", "task_id", COLUMN_TEXT, false},
    {"INDEX", "map_index", COLUMN_INDEX, false},
    {"STATE", "state", COLUMN_STATE, false},
    {"BECAUSE", "because", COLUMN_TEXT, false},
    {"WAITS FOR", "waits_for", COLUMN_LIST, false},
};
const struct view VIEW_EXPLAIN = {.list = "tasks", COLUMNS(EXPLAIN)};

static const struct column EXPLAIN_DAG[] = {
    {"CODE", "code", COLUMN_TEXT, false},
    {"BECAUSE", "because", COLUMN_TEXT, false},
    {"CHANGE", "change", COLUMN_TEXT, false},
};
const struct view VIEW_EXPLAIN_DAG = {.list = "conditions", COLUMNS(EXPLAIN_DAG)};

static const struct column DAGS[] = {
    {"DAG", "dag_id", COLUMN_TEXT, false},
    {"STATUS", "status", COLUMN_STATUS, false},
    {"TITLE", "title", COLUMN_TEXT, false},
    {"OWNER", "owner", COLUMN_TEXT, false},
    {"TAGS", "tags", COLUMN_LIST, false},
    {"TASKS", "tasks_total", COLUMN_NUMBER, false},
    {"LAST RUN", "last_run.state", COLUMN_STATE, false},
    {"AT", "last_run.start_date", COLUMN_INSTANT, false},
    {"NEXT", "next_run", COLUMN_INSTANT, false},
    {"PAUSED", "is_paused", COLUMN_TEXT, true},
    {"VERSION", "dag_version", COLUMN_NUMBER, true},
    {"NAMESPACE", "namespace", COLUMN_TEXT, true},
    {"FILE", "file", COLUMN_TEXT, true},
};
const struct view VIEW_DAGS = {.list = "dags", COLUMNS(DAGS), .empty = "no DAGs"};

static const struct column DAG[] = {
    {"DAG", "dag_id", COLUMN_TEXT, false},
    {"Title", "title", COLUMN_TEXT, false},
    {"Description", "description", COLUMN_TEXT, false},
    {"Owner", "owner", COLUMN_TEXT, false},
    {"Namespace", "namespace", COLUMN_TEXT, false},
    {"Tags", "tags", COLUMN_LIST, false},
    {"File", "file", COLUMN_TEXT, false},
    {"Version", "dag_version", COLUMN_TEXT, false},
    {"Status", "status", COLUMN_TEXT, false},
    {"Tasks", "tasks_total", COLUMN_NUMBER, false},
    {"Params", "params", COLUMN_JSON, false},
    {"Timeout", "timeout", COLUMN_DURATION, false},
    {"Last run", "last_run.state", COLUMN_STATE, false},
    {"At", "last_run.start_date", COLUMN_INSTANT, false},
    {"Schedule", "schedule", COLUMN_WORDS, false},
    {"Paused", "is_paused", COLUMN_TEXT, false},
    {"Next run", "next_run", COLUMN_INSTANT, false},
    {"Going", "runs_going", COLUMN_NUMBER, false},
    {"Waiting", "runs_waiting", COLUMN_NUMBER, false},
    {"Missed", "missed", COLUMN_RECORDS, false},
    {"Waits for", "missing", COLUMN_TEXT, false},
    {"Refused", "refused.why", COLUMN_TEXT, false},
    {"Refused was", "refused.what", COLUMN_TEXT, false},
    {"Refused at", "refused.at", COLUMN_INSTANT, false},
    {"Deadlines", "sla", COLUMN_WORDS, false},
};
const struct view VIEW_DAG = {COLUMNS(DAG)};

static const struct column VERSIONS[] = {
    {"VERSION", "version_number", COLUMN_NUMBER, false},
    {"CURRENT", "is_current", COLUMN_TEXT, false},
    {"FILE'S", "is_filed", COLUMN_TEXT, false},
    {"CREATED", "created_at", COLUMN_INSTANT, false},
    {"BY", "actor", COLUMN_TEXT, false},
    {"FILE", "file", COLUMN_TEXT, false},
    {"HASH", "hash", COLUMN_TEXT, true},
};
const struct view VIEW_VERSIONS = {.list = "versions", COLUMNS(VERSIONS), .name = "version_number"};
const struct view VIEW_VERSION_OF_DAG = {COLUMNS(VERSIONS), .name = "version_number"};

static const struct column DAG_ERRORS[] = {
    {"FILE", "file", COLUMN_TEXT, false},
    {"LINE", "line", COLUMN_NUMBER, false},
    {"COLUMN", "column", COLUMN_NUMBER, false},
    {"MESSAGE", "message", COLUMN_TEXT, false},
    {"SINCE", "since", COLUMN_INSTANT, false},
    {"HOST", "hostname", COLUMN_TEXT, true},
};
const struct view VIEW_DAG_ERRORS = {.list = "errors", COLUMNS(DAG_ERRORS), .name = "file",
    .empty = "no DAG file has problems"};

static const struct column DAG_DELETED[] = {
    {"DAG", "dag_id", COLUMN_TEXT, false},
    {"Runs", "runs", COLUMN_NUMBER, false},
};
const struct view VIEW_DAG_DELETED = {COLUMNS(DAG_DELETED)};

static const struct column TICKS[] = {
    {"RUNS AFTER", "run_after", COLUMN_INSTANT, false},
    {"LOCAL", "local", COLUMN_TEXT, false},
    {"LOGICAL DATE", "logical_date", COLUMN_INSTANT, false},
    {"INTERVAL START", "data_interval_start", COLUMN_INSTANT, false},
    {"INTERVAL END", "data_interval_end", COLUMN_INSTANT, false},
};
const struct view VIEW_TICKS = {.list = "ticks", COLUMNS(TICKS), .name = "logical_date",
    .empty = "it does not run by itself"};

static const struct column MISSED_TICKS[] = {
    {"FIRST", "first", COLUMN_INSTANT, false},
    {"LAST", "last", COLUMN_INSTANT, false},
    {"TICKS", "count", COLUMN_NUMBER, false},
    {"BECAUSE", "because", COLUMN_TEXT, false},
    {"MORE", "is_more", COLUMN_TEXT, true},
    {"DECIDED", "decided_at", COLUMN_INSTANT, true},
};
const struct view VIEW_MISSED = {.list = "missed", COLUMNS(MISSED_TICKS), .name = "first",
    .empty = "no ticks were missed"};

static const struct column PAUSED[] = {
    {"DAG", "dag_id", COLUMN_TEXT, false},
    {"PAUSED", "is_paused", COLUMN_TEXT, false},
    {"CHANGED", "changed", COLUMN_TEXT, false},
};
const struct view VIEW_PAUSED = {.list = "dags", COLUMNS(PAUSED)};

static const struct column TASKS[] = {
    {"TASK", "task_id", COLUMN_TEXT, false},
    {"KIND", "operator", COLUMN_TEXT, false},
    {"NEEDS", "needs", COLUMN_LIST, false},
    {"RULE", "trigger_rule", COLUMN_TEXT, false},
    {"RETRIES", "retries", COLUMN_NUMBER, false},
    {"MAPPED", "is_mapped", COLUMN_TEXT, true},
    {"POOL", "pool", COLUMN_TEXT, true},
    {"QUEUE", "queue", COLUMN_TEXT, true},
    {"TIMEOUT", "timeout", COLUMN_DURATION, true},
};
const struct view VIEW_TASKS = {.list = "tasks", COLUMNS(TASKS), .empty = "no tasks"};

static const struct column TASK[] = {
    {"Task", "task_id", COLUMN_TEXT, false},
    {"Kind", "operator", COLUMN_TEXT, false},
    {"Doc", "doc", COLUMN_TEXT, false},
    {"Group", "group", COLUMN_TEXT, false},
    {"Needs", "needs", COLUMN_LIST, false},
    {"Dependants", "dependants", COLUMN_LIST, false},
    {"Rule", "trigger_rule", COLUMN_TEXT, false},
    {"If", "if", COLUMN_TEXT, false},
    {"Mapped", "is_mapped", COLUMN_TEXT, false},
    {"Retries", "retries", COLUMN_NUMBER, false},
    {"Timeout", "timeout", COLUMN_DURATION, false},
    {"Pool", "pool", COLUMN_TEXT, false},
    {"Queue", "queue", COLUMN_TEXT, false},
    {"Settings", "settings", COLUMN_JSON, false},
};
const struct view VIEW_TASK = {COLUMNS(TASK)};

static const struct column FIELDS[] = {
    {"FIELD", "field", COLUMN_TEXT, false},
    {"VALUE", "value", COLUMN_JSON, false},
};
const struct view VIEW_FIELDS = {.list = "fields", COLUMNS(FIELDS)};

static const struct column CHECKS[] = {
    {"CHECK", "name", COLUMN_TEXT, false},
    {"STATE", "state", COLUMN_STATE, false},
    {"DETAIL", "detail", COLUMN_TEXT, false},
    {"ADVICE", "advice", COLUMN_TEXT, false},
};
const struct view VIEW_CHECKS = {.list = "checks", COLUMNS(CHECKS)};

static const struct column PROOFS[] = {
    {"PROOF", "name", COLUMN_TEXT, false},
    {"WHAT", "summary", COLUMN_TEXT, false},
};
const struct view VIEW_PROOFS = {.list = "proofs", COLUMNS(PROOFS)};

static const struct column PROOF[] = {
    {"WHAT", "what", COLUMN_TEXT, false},
    {"EXPECTED", "expected", COLUMN_NUMBER, false},
    {"SEEN", "seen", COLUMN_NUMBER, false},
    {"OK", "ok", COLUMN_TEXT, false},
};
const struct view VIEW_PROOF = {.list = "checks", COLUMNS(PROOF)};

static const struct column BACKUP[] = {
    {"Path", "path", COLUMN_TEXT, false},
    {"Size", "bytes", COLUMN_BYTES, false},
    {"Schema", "schema", COLUMN_NUMBER, false},
};
const struct view VIEW_BACKUP = {COLUMNS(BACKUP)};

static const struct column MOVE[] = {
    {"Path", "path", COLUMN_TEXT, false},     {"Size", "bytes", COLUMN_BYTES, false},
    {"Rows", "rows", COLUMN_NUMBER, false},   {"Files", "files", COLUMN_NUMBER, false},
    {"Schema", "schema", COLUMN_NUMBER, false},
};
const struct view VIEW_MOVE = {COLUMNS(MOVE)};

static const struct column FORECAST[] = {
    {"HOUR", "hour", COLUMN_INSTANT, false},
    {"RUNS", "runs", COLUMN_NUMBER, false},
    {"TASKS", "tasks", COLUMN_NUMBER, false},
    {"BUSY %", "busy_percent", COLUMN_NUMBER, false},
    {"MOST RUNNING", "most_running", COLUMN_NUMBER, false},
    {"MOST WAITING", "most_waiting", COLUMN_NUMBER, false},
};
const struct view VIEW_FORECAST = {.list = "hours", COLUMNS(FORECAST), .empty = "no hours"};

static const struct column FORECAST_DAGS[] = {
    {"DAG", "dag_id", COLUMN_TEXT, false},
    {"RUNS", "runs", COLUMN_NUMBER, false},
    {"FAILED", "failed", COLUMN_NUMBER, false},
    {"TASKS", "tasks", COLUMN_NUMBER, false},
    {"BUSY", "busy", COLUMN_DURATION, false},
    {"LONGEST RUN", "longest_run", COLUMN_DURATION, false},
    {"GUESSED", "unknown", COLUMN_NUMBER, false},
    {"UNFINISHED", "unfinished", COLUMN_NUMBER, false},
};
const struct view VIEW_FORECAST_DAGS = {
    .list = "dags", COLUMNS(FORECAST_DAGS), .empty = "no DAG is due in this time"};

static const struct column FORECAST_POOLS[] = {
    {"POOL", "name", COLUMN_TEXT, false},
    {"NAMESPACE", "namespace", COLUMN_TEXT, true},
    {"MOST USED", "most_used", COLUMN_NUMBER, false},
    {"SLOTS", "slots", COLUMN_NUMBER, false},
    {"TASKS", "tasks", COLUMN_NUMBER, false},
    {"HOURS WAITED", "hours_waited", COLUMN_NUMBER, false},
    {"MOST WAITING", "most_waiting", COLUMN_NUMBER, false},
    {"LONGEST WAIT", "longest_wait", COLUMN_DURATION, false},
};
const struct view VIEW_FORECAST_POOLS = {
    .list = "pools", COLUMNS(FORECAST_POOLS), .empty = "no pool is used in this time"};

static const struct column FORECAST_MISSES[] = {
    {"DAG", "dag_id", COLUMN_TEXT, false},
    {"TASK", "task_id", COLUMN_TEXT, false},
    {"DEADLINE", "kind", COLUMN_TEXT, false},
    {"MISSES", "count", COLUMN_NUMBER, false},
    {"WORST", "worst", COLUMN_DURATION, false},
    {"FIRST", "first", COLUMN_INSTANT, false},
};
const struct view VIEW_FORECAST_MISSES = {
    .list = "misses", COLUMNS(FORECAST_MISSES), .empty = "no deadline is missed in this time"};

static const struct column PRUNE[] = {
    {"Runs", "runs", COLUMN_NUMBER, false},
    {"Runs without logs", "runs_without_logs", COLUMN_NUMBER, false},
    {"Runs without values", "runs_without_values", COLUMN_NUMBER, false},
    {"Values", "values", COLUMN_NUMBER, false},
    {"Jobs", "jobs", COLUMN_NUMBER, false},
    {"Dead letters", "dead_letters", COLUMN_NUMBER, false},
    {"Events", "events", COLUMN_NUMBER, false},
    {"Messages", "messages", COLUMN_NUMBER, false},
    {"Arrivals of files", "files", COLUMN_NUMBER, false},
    {"Backfills", "backfills", COLUMN_NUMBER, false},
    {"Versions", "versions", COLUMN_NUMBER, false},
    {"Hosts", "hosts", COLUMN_NUMBER, false},
};
const struct view VIEW_PRUNE = {COLUMNS(PRUNE)};

static const struct column MIGRATION[] = {
    {"From", "from", COLUMN_NUMBER, false},
    {"To", "to", COLUMN_NUMBER, false},
    {"Steps", "applied", COLUMN_LIST, false},
};
const struct view VIEW_MIGRATION = {COLUMNS(MIGRATION), .name = "to"};

static const struct column SETTING_COLUMNS[] = {
    {"KEY", "key", COLUMN_TEXT, false},
    {"VALUE", "value", COLUMN_TEXT, false},
    {"ORIGIN", "origin", COLUMN_TEXT, false},
    {"ENVIRONMENT", "environment", COLUMN_TEXT, true},
    {"FLAG", "flag", COLUMN_TEXT, true},
    {"MEANING", "help", COLUMN_TEXT, true},
};
const struct view VIEW_SETTINGS = {.list = "settings", COLUMNS(SETTING_COLUMNS)};

static const struct column AUDIT[] = {
    {"AT", "at", COLUMN_INSTANT, false},
    {"BY", "actor", COLUMN_TEXT, false},
    {"ACTION", "action", COLUMN_TEXT, false},
    {"OBJECT", "object", COLUMN_TEXT, false},
    {"CHANGE", "change", COLUMN_TEXT, false},
    {"COUNT", "count", COLUMN_NUMBER, false},
    {"REASON", "reason", COLUMN_TEXT, false},
    {"DETAILS", "details", COLUMN_JSON, true},
    {"ID", "id", COLUMN_NUMBER, true},
};
const struct view VIEW_AUDIT = {.list = "entries", COLUMNS(AUDIT), .name = "id",
    .empty = "nothing was changed by hand"};

static const struct column EVENTS[] = {
    {"AT", "at", COLUMN_INSTANT, false},
    {"EVENT", "kind", COLUMN_TEXT, false},
    {"OBJECT", "object", COLUMN_TEXT, false},
    {"STATE", "state", COLUMN_STATE, false},
    {"BECAUSE", "reason", COLUMN_TEXT, false},
    {"BY", "actor", COLUMN_TEXT, false},
    {"DETAILS", "details", COLUMN_JSON, true},
    {"ID", "id", COLUMN_NUMBER, true},
};
const struct view VIEW_EVENTS = {.list = "events", COLUMNS(EVENTS), .name = "id",
    .empty = "nothing has happened"};

static const struct column VERSION[] = {
    {"Version", "version", COLUMN_TEXT, false},
};
const struct view VIEW_VERSION = {COLUMNS(VERSION)};
/* clang-format on */
