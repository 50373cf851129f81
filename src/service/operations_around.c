/*
 * Rows of what surrounds runs: versions of DAGs, datasets, variables, connections, secrets,
 * deadlines, messages, pools and limits.
 */
#include "service/operation_rows.h"
#include "service/operations.h"

/* clang-format off */
#define DAG_ID {"dag", FIELD_STRING, true, "id of the DAG"}
static const struct operation_field REQUEST_DAG_ID[] = {DAG_ID};
static const struct operation_field RECORD_VERSION[] = {
    {"version_number", FIELD_INTEGER, true, "its number, from 1"},
    {"dag_id", FIELD_STRING, true, "its DAG"},
    {"hash", FIELD_STRING, true, "SHA-256 of its meaning"},
    {"created_at", FIELD_INSTANT, true, "when it was first seen"},
    {"actor", FIELD_STRING, false, "who made it"},
    {"file", FIELD_STRING, true, "where it was written"},
    {"is_current", FIELD_BOOLEAN, true, "what new runs get"},
    {"is_filed", FIELD_BOOLEAN, true, "what the DAG's file means; not current after a rollback"},
};
static const struct operation_field LIST_VERSIONS[] = {
    {"dag_id", FIELD_STRING, true, "their DAG"},
    {"versions", FIELD_ARRAY, true, "the highest number first"}, TOTAL,
};
static const struct operation_field REQUEST_DIFF[] = {
    DAG_ID,
    {"from", FIELD_INTEGER, false, "number of a version; the one before `to` by default"},
    {"to", FIELD_INTEGER, false, "number of a version; the current one by default"},
};
static const struct operation_field RESPONSE_DIFF[] = {
    {"dag_id", FIELD_STRING, true, "the DAG"},
    {"from", FIELD_INTEGER, true, "number of the version before"},
    {"to", FIELD_INTEGER, true, "number of the version after"},
    {"changes", FIELD_ARRAY, true, "what (added, removed, changed), task (null: the DAG itself) and keys of each"},
    {"text", FIELD_STRING, true, "unified diff of the sources and of the files that tasks name"},
};
static const struct operation_field REQUEST_ROLLBACK[] = {
    DAG_ID, {"version", FIELD_INTEGER, true, "number of the version to go to"}, REASON, DRY_RUN,
};
static const struct operation_field REQUEST_DAG_ERRORS[] = {
    {"dag", FIELD_STRING, false, "only of files that offer this DAG"},
};
static const struct operation_field LIST_ERRORS[] = {
    {"errors", FIELD_ARRAY, true, "file, line, column, length, message, source (the line), since, hostname "
        "and dags (what the file had before and still offers) of each"}, TOTAL,
};
static const struct operation_field REQUEST_DAG_DELETE[] = {DAG_ID, REASON, DRY_RUN};
static const struct operation_field RESPONSE_DAG_DELETE[] = {
    {"dag_id", FIELD_STRING, true, "the DAG"},
    {"runs", FIELD_INTEGER, true, "of its runs, all of which go"},
    {"deleted", FIELD_BOOLEAN, true, "false: nothing was changed"},
};

static const struct operation_field REQUEST_SLA_LIST[] = {
    {"dag", FIELD_STRING, false, "only of this DAG"},
    {"open", FIELD_BOOLEAN, false, "only what is late now"},
    LIMIT,
    WITH_TOTAL,
};
static const struct operation_field LIST_MISSES[] = {
    {"misses", FIELD_ARRAY, true, "number, dag_id, task_id, map_index, sla, expected, actual, duration late, open, notified of each"},
    PAGED_TOTAL,
};
static const struct operation_field REQUEST_SLA_REPORT[] = {
    {"dag", FIELD_STRING, false, "only of this DAG"},
    {"last", FIELD_INTEGER, false, "runs that count; 20 by default"},
};
static const struct operation_field LIST_SLAS[] = {
    {"dags", FIELD_ARRAY, true, "dag_id, runs, late, on_time_rate, misses, open, worst (seconds), next_deadline of each"},
    TOTAL,
};
static const struct operation_field REQUEST_NOTICE_LIST[] = {
    {"dag", FIELD_STRING, false, "only of this DAG"},
    {"state", FIELD_STRING, false, "pending, sending, sent, failed, dropped or folded"},
    LIMIT,
    WITH_TOTAL,
    NEXT_PAGE,
};
static const struct operation_field LIST_NOTICES[] = {
    {"notices", FIELD_ARRAY, true, "messages, newest first"}, PAGED_TOTAL, CURSOR,
};
static const struct operation_field REQUEST_NOTICE[] = {{"id", FIELD_ID, true, "its number"}, REASON};
static const struct operation_field RECORD_NOTICE[] = {
    {"id", FIELD_ID, true, "its number"},
    {"delivery", FIELD_STRING, true, "what its receiver knows it by"},
    {"state", FIELD_STRING, true, "pending, sending, sent, failed, dropped or folded"},
    {"event", FIELD_STRING, true, "success, failure, retry, skip or sla_miss"},
    {"target", FIELD_STRING, true, "command, webhook, slack, pagerduty or email"},
    {"dag_id", FIELD_STRING, true, "the DAG it is about"},
    {"number", FIELD_ID, true, "the run"},
    {"task_id", FIELD_STRING, false, "the task; null: about the run"},
    {"happened_at", FIELD_INSTANT, true, "when it happened"},
    {"next_try", FIELD_INSTANT, false, "while it waits"},
    {"ended_at", FIELD_INSTANT, false, "when it was sent or given up"},
    {"attempts", FIELD_INTEGER, true, "how often it was tried"},
    {"answer", FIELD_STRING, false, "what the receiver said, or what went wrong"},
    {"has_sender", FIELD_BOOLEAN, false, "of a retry: a daemon is there that sends it"},
};
static const struct operation_field REQUEST_NOTIFY_TEST[] = {
    {"target", FIELD_STRING, true, "a DAG or its file; or slack:NAME, webhook:URL, ..., an entry as JSON"},
    {"text", FIELD_STRING, false, "the DAG file itself, from whoever is elsewhere; `target` is its name"},
    {"kind", FIELD_STRING, false, "success, failure, retry, skip or sla_miss; failure by default"},
};
static const struct operation_field RESPONSE_NOTIFY_TEST[] = {
    {"results", FIELD_ARRAY, true, "target, connection, task_id, state, answer of each"},
    TOTAL,
    {"ok", FIELD_BOOLEAN, true, "all arrived"},
};

static const struct operation_field REQUEST_EVENTS[] = {
    {"dag", FIELD_STRING, false, "only of this DAG"},
    {"run", FIELD_STRING, false, "only of this run"},
    {"task", FIELD_STRING, false, "only of tasks with this id"},
    {"kinds", FIELD_STRINGS, false, "only of these kinds; a word that several begin with, such as task, is all of them"},
    {"host", FIELD_STRING, false, "only of the host with this id"},
    {"cursor", FIELD_STRING, false, "of an answer: what came after it; the newest ones when absent"},
    {"until", FIELD_STRING, false, "of a later answer without more: only up to there"},
    {"cursors", FIELD_BOOLEAN, false, "tell with each event the cursor that goes on behind it"},
    {"limit", FIELD_INTEGER, false, "at most so many are looked at; 100 by default"},
    {"starts", FIELD_BOOLEAN, false, "of a stream: tell also which tasks run and start, as task.started"},
};
static const struct operation_field LIST_EVENTS[] = {
    {"events", FIELD_ARRAY, true, "id, at, kind, object, state, actor, namespace, dag_id, number, task_id, reason, details of each, newest last"},
    TOTAL,
    {"cursor", FIELD_STRING, false, "to go on from here; null: there is no store yet"},
    {"more", FIELD_BOOLEAN, true, "there are more already"},
    {"live", FIELD_BOOLEAN, true, "more may come: false of a run that is over"},
    {"gap", FIELD_STRING, false, "`removed`: some that came after the cursor are gone; `history`: it is of another past; absent: none is missing"},
    {"gap_text", FIELD_STRING, false, "the same in a sentence"},
};
static const struct operation_field REQUEST_ASSET_LIST[] = {
    {"contains", FIELD_STRING, false, "part of the URI"},
    {"dags", FIELD_STRINGS, false, "only those that one of these DAGs waits for or wrote"},
    {"order_by", FIELD_STRING, false, "uri, as by default, or -uri"},
    {"limit", FIELD_INTEGER, false, "at most so many; 100 by default"},
    {"offset", FIELD_INTEGER, false, "leave out the first"},
    {"with_users", FIELD_BOOLEAN, false, "who updated each, and who waits for it"},
    WITH_TOTAL,
};
static const struct operation_field REQUEST_ASSET[] = {
    {"uri", FIELD_STRING, true, "URI of the dataset"},
    {"limit", FIELD_INTEGER, false, "at most so many events; 20 by default"},
};
static const struct operation_field REQUEST_EMIT[] = {
    {"uri", FIELD_STRING, true, "URI of the dataset"},
    {"extra", FIELD_OBJECT, false, "told to those who wait for it"},
    REASON,
};
static const struct operation_field RECORD_ASSET[] = {
    {"uri", FIELD_STRING, true, "what names it"},
    {"updates", FIELD_INTEGER, true, "how many are known"},
    {"last_update", FIELD_INSTANT, false, "the newest of them"},
    {"waiters", FIELD_INTEGER, true, "DAGs that wait for it"},
    {"events", FIELD_ARRAY, true, "updates, newest first, with the task that made each"},
    {"waiting_dags", FIELD_ARRAY, true, "DAGs that wait for it, and what each still needs"},
};
static const struct operation_field LIST_ASSETS[] = {
    PAGED_TOTAL, {"assets", FIELD_ARRAY, true, "datasets by URI"},
};
#define NAMED {"name", FIELD_STRING, true, "its name"}
#define SPACE {"namespace", FIELD_STRING, false, "the scope it belongs to; `default` when absent"}
#define ONLY_SPACE {"namespace", FIELD_STRING, false, "only of this namespace, and what counts for all"}
#define DOC {"doc", FIELD_STRING, false, "what it is for; stays as it is when absent"}
#define VAULT_RECORD                                                                               \
    NAMED,                                                                                         \
    {"namespace", FIELD_STRING, false, "its scope; null: it counts for all"},                      \
    {"source", FIELD_STRING, true, "environment, file or store"},                                  \
    {"place", FIELD_STRING, false, "the variable or file it comes from; null in the store"},       \
    {"problem", FIELD_STRING, false, "why it cannot be used"},                                     \
    {"doc", FIELD_STRING, false, "what it is for"},                                                \
    {"updated_by", FIELD_STRING, false, "who changed it last"},                                    \
    {"updated_at", FIELD_INSTANT, false, "when"},                                                  \
    {"hidden", FIELD_BOOLEAN, true, "the same name from somewhere else counts more"}

static const struct operation_field REQUEST_VAULT_LIST[] = {ONLY_SPACE};
static const struct operation_field REQUEST_VAULT_NAME[] = {NAMED, SPACE};
static const struct operation_field REQUEST_VAULT_DELETE[] = {NAMED, SPACE, REASON, DRY_RUN};
static const struct operation_field RESPONSE_VAULT_DELETE[] = {
    NAMED, SPACE, {"deleted", FIELD_BOOLEAN, true, "false: nothing was changed"},
};
static const struct operation_field RECORD_VARIABLE[] = {
    VAULT_RECORD, {"value", FIELD_ANY, true, "a text; from a file any value"},
};
static const struct operation_field LIST_VARIABLES[] = {
    {"variables", FIELD_ARRAY, true, "by name, what counts first"}, TOTAL,
};
static const struct operation_field REQUEST_VARIABLE_SET[] = {
    NAMED, SPACE, DOC, REASON, {"value", FIELD_ANY, true, "a text; other values are kept as JSON"},
};
static const struct operation_field RECORD_CONNECTION[] = {
    VAULT_RECORD,
    {"value", FIELD_OBJECT, false, "type, host, port, login, schema, extra; secrets are ***"},
    {"key_id", FIELD_STRING, false, "of the key that sealed it; null: it has no secrets"},
};
static const struct operation_field LIST_CONNECTIONS[] = {
    {"connections", FIELD_ARRAY, true, "by name, what counts first"}, TOTAL,
};
static const struct operation_field REQUEST_CONNECTION_SET[] = {
    NAMED, SPACE, DOC, REASON, {"value", FIELD_ANY, true, "a URI, or an object of its parts"},
    {"merge", FIELD_BOOLEAN, false, "parts that are not given stay as they are"},
};
static const struct operation_field RESPONSE_CONNECTION_TEST[] = {
    NAMED,
    {"host", FIELD_STRING, true, "what was reached"},
    {"port", FIELD_INTEGER, true, "where it listens"},
    {"detail", FIELD_STRING, true, "how it answered"},
    {"duration", FIELD_NUMBER, true, "seconds it took"},
};
static const struct operation_field RECORD_SECRET[] = {
    VAULT_RECORD, {"key_id", FIELD_STRING, false, "of the key that sealed it"},
};
static const struct operation_field LIST_SECRETS[] = {
    {"secrets", FIELD_ARRAY, true, "by name, what counts first; never their values"}, TOTAL,
};
static const struct operation_field REQUEST_SECRET_SET[] = {
    NAMED, SPACE, DOC, REASON, {"value", FIELD_STRING, true, "the secret, which nobody can read back"},
};
static const struct operation_field RESPONSE_ROTATE[] = {
    {"resealed", FIELD_INTEGER, true, "values sealed anew"},
    {"current", FIELD_INTEGER, true, "values that had this key already"},
    {"key_id", FIELD_STRING, true, "the key they are sealed with now"},
};

#define POOL_NAME {"name", FIELD_STRING, true, "its name"}
#define POOL_NAMESPACE {"namespace", FIELD_STRING, false, "whose it is; default: default"}
static const struct operation_field RECORD_POOL[] = {
    POOL_NAME,
    {"namespace", FIELD_STRING, true, "whose it is; those of default serve all that have none of that name"},
    {"slots", FIELD_INTEGER, true, "how many there are"},
    {"occupied_slots", FIELD_INTEGER, true, "held by running tasks"},
    {"open_slots", FIELD_INTEGER, true, "free"},
    {"queued_slots", FIELD_INTEGER, true, "that tasks wait for"},
    {"running", FIELD_INTEGER, true, "tasks that hold slots"},
    {"waiting", FIELD_INTEGER, true, "tasks that wait for slots"},
    {"description", FIELD_STRING, true, "what it is for"},
};
static const struct operation_field LIST_POOLS[] = {
    {"pools", FIELD_ARRAY, true, "by name, then namespace"}, TOTAL,
};
static const struct operation_field REQUEST_POOL[] = {POOL_NAME, POOL_NAMESPACE};
static const struct operation_field REQUEST_POOL_DELETE[] = {
    POOL_NAME, POOL_NAMESPACE, REASON, DRY_RUN,
};
static const struct operation_field REQUEST_POOL_SET[] = {
    POOL_NAME, POOL_NAMESPACE, REASON, DRY_RUN,
    {"slots", FIELD_INTEGER, false, "how many there are; a new one needs them"},
    {"description", FIELD_STRING, false, "what it is for"},
};
#define LIMIT_KIND {"kind", FIELD_STRING, true, "namespace, dag or tier"}
#define LIMIT_NAME {"name", FIELD_STRING, true, "of the namespace, the DAG or the tier"}
static const struct operation_field LIST_LIMITS[] = {
    {"limits", FIELD_ARRAY, true, "each with kind, name, max_running, running and waiting"}, TOTAL,
    {"warning", FIELD_STRING, false, "of a limit that was set: nobody has such a name"},
};
static const struct operation_field REQUEST_LIMIT[] = {LIMIT_KIND, LIMIT_NAME, REASON, DRY_RUN};
static const struct operation_field REQUEST_LIMIT_SET[] = {
    LIMIT_KIND, LIMIT_NAME, REASON,
    {"max_running", FIELD_INTEGER, true, "tasks that run at once on all hosts"},
};

static const struct operation_field REQUEST_REASON[] = {REASON};
static const struct operation_field REQUEST_AUDIT[] = {
    {"actor", FIELD_STRING, false, "only of this one; schedulers and hosts have names, too"},
    {"dag", FIELD_STRING, false, "only of this DAG"},
    {"run", FIELD_STRING, false, "only of this run; of a deleted one its number"},
    {"from", FIELD_INSTANT, false, "not before"},
    {"to", FIELD_INSTANT, false, "before that"},
    {"all", FIELD_BOOLEAN, false, "what the program did by itself, too"},
    {"before", FIELD_ID, false, "only older ones than this id, for the next page"},
    LIMIT,
    WITH_TOTAL,
};
static const struct operation_field LIST_AUDIT[] = {
    {"entries", FIELD_ARRAY, true, "id, at, actor, action, object, objects, count, dag_id, number, reason, details of each, newest first"},
    PAGED_TOTAL,
};
static const struct operation_field REQUEST_TASK_NOTE[] = {
    RUN, TASK, INDEX, {"note", FIELD_STRING, true, "the note; empty removes it"}, REASON,
};
static const struct operation_field RECORD_TASK_NOTE[] = {
    {"number", FIELD_ID, true, "the run"},
    {"dag_id", FIELD_STRING, true, "its DAG"},
    {"task_id", FIELD_STRING, true, "the task, with everything that `run.tasks` tells of it"},
    {"map_index", FIELD_INTEGER, true, "-1 unless it is an instance of a mapped task"},
    {"state", FIELD_STRING, true, "of the task"},
    {"note", FIELD_STRING, false, "what people wrote about it"},
};

static const struct operation_field REQUEST_OVERVIEW[] = {
    {"since", FIELD_INSTANT, false, "throughput from there on; the last minute by default"},
    {"limit", FIELD_INTEGER, false, "at most so many runs; 50 by default"},
};
static const struct operation_field RESPONSE_OVERVIEW[] = {
    {"now", FIELD_INSTANT, true, "by the clock of whoever answers"},
    {"runs", FIELD_OBJECT, true, "queued and running ones; of the last hour success, failed and cancelled"},
    {"tasks", FIELD_OBJECT, true, "running, ready, held (by a limit of their run) and later ones"},
    {"hosts", FIELD_OBJECT, true, "active, draining and gone daemons, slots and slots_used"},
    {"dead_letters", FIELD_INTEGER, true, "what failed for good or was put aside"},
    {"broken_files", FIELD_INTEGER, true, "DAG files with problems"},
    {"throughput", FIELD_OBJECT, true, "from, finished (tasks in each second), estimated"},
    {"dag_runs", FIELD_ARRAY, true, "what goes on first, then what was, newest first"},
};
static const struct operation_field REQUEST_TOP_TASKS[] = {
    RUN,
    {"open", FIELD_STRINGS, false, "mapped tasks whose instances are listed, too"},
    {"limit", FIELD_INTEGER, false, "at most so many instances of each; 100 by default"},
};
static const struct operation_field RESPONSE_TOP_TASKS[] = {
    {"run", FIELD_OBJECT, true, "the run"},
    {"tasks", FIELD_ARRAY, true, "as a tree: each with its depth, below a task that it needs"},
    TOTAL,
    {"now", FIELD_INSTANT, true, "by the clock of whoever answers"},
};

static const struct operation ROWS[] = {
    {"asset.emit", "say that a dataset was updated", PERMISSION_OPERATOR,
        FIELDS(REQUEST_EMIT), FIELDS(RECORD_ASSET), op_asset_emit, SCOPE_ALL},
    {"asset.list", "datasets that were updated or are waited for", PERMISSION_VIEWER,
        FIELDS(REQUEST_ASSET_LIST), FIELDS(LIST_ASSETS), op_asset_list, SCOPE_ANY},
    {"asset.show", "a dataset with its updates and who waits for it", PERMISSION_VIEWER,
        FIELDS(REQUEST_ASSET), FIELDS(RECORD_ASSET), op_asset_show, SCOPE_ANY},
    {"audit.list", "what people changed, when, and why", PERMISSION_VIEWER,
        FIELDS(REQUEST_AUDIT), FIELDS(LIST_AUDIT), op_audit_list, SCOPE_LIST},
    {"connection.delete", "delete a connection from the store", PERMISSION_EDITOR,
        FIELDS(REQUEST_VAULT_DELETE), FIELDS(RESPONSE_VAULT_DELETE), op_connection_delete, SCOPE_NAMESPACE},
    {"connection.list", "connections of all sources, without secrets", PERMISSION_VIEWER,
        FIELDS(REQUEST_VAULT_LIST), FIELDS(LIST_CONNECTIONS), op_connection_list, SCOPE_LIST},
    {"connection.set", "keep a connection in the store, sealed", PERMISSION_EDITOR,
        FIELDS(REQUEST_CONNECTION_SET), FIELDS(RECORD_CONNECTION), op_connection_set, SCOPE_NAMESPACE},
    {"connection.show", "the connection that a name stands for, without secrets", PERMISSION_VIEWER,
        FIELDS(REQUEST_VAULT_NAME), FIELDS(RECORD_CONNECTION), op_connection_show, SCOPE_NAMESPACE},
    {"connection.test", "see whether a connection can be reached", PERMISSION_OPERATOR,
        FIELDS(REQUEST_VAULT_NAME), FIELDS(RESPONSE_CONNECTION_TEST), op_connection_test, SCOPE_NAMESPACE},
    {"dag.delete", "delete a DAG that nobody offers any more, with its runs", PERMISSION_EDITOR,
        FIELDS(REQUEST_DAG_DELETE), FIELDS(RESPONSE_DAG_DELETE), op_dag_delete, SCOPE_DAG},
    {"dag.diff", "what changed between two versions of a DAG", PERMISSION_VIEWER,
        FIELDS(REQUEST_DIFF), FIELDS(RESPONSE_DIFF), op_dag_diff, SCOPE_DAG},
    {"dag.errors", "problems of the DAG files that hosts watch", PERMISSION_VIEWER,
        FIELDS(REQUEST_DAG_ERRORS), FIELDS(LIST_ERRORS), op_dag_errors, SCOPE_LIST},
    {"dag.rollback", "make another version of a DAG the current one", PERMISSION_EDITOR,
        FIELDS(REQUEST_ROLLBACK), FIELDS(RECORD_VERSION), op_dag_rollback, SCOPE_DAG},
    {"dag.versions", "the versions of a DAG", PERMISSION_VIEWER,
        FIELDS(REQUEST_DAG_ID), FIELDS(LIST_VERSIONS), op_dag_versions, SCOPE_DAG},
    {"event.list", "what happened, newest last, and what comes after a cursor", PERMISSION_VIEWER,
        FIELDS(REQUEST_EVENTS), FIELDS(LIST_EVENTS), op_event_list, SCOPE_LIST},
    {"limit.delete", "let as many tasks of a namespace, DAG or tier run as there is room for",
        PERMISSION_EDITOR, FIELDS(REQUEST_LIMIT), FIELDS(LIST_LIMITS), op_limit_delete, SCOPE_LIMIT},
    {"limit.list", "how many tasks of a namespace, DAG or tier may run at once", PERMISSION_VIEWER,
        NO_FIELDS, FIELDS(LIST_LIMITS), op_limit_list, SCOPE_LIST},
    {"limit.set", "bound how many tasks of a namespace, DAG or tier run at once", PERMISSION_EDITOR,
        FIELDS(REQUEST_LIMIT_SET), FIELDS(LIST_LIMITS), op_limit_set, SCOPE_LIMIT},
    {"notify.list", "messages, newest first", PERMISSION_VIEWER,
        FIELDS(REQUEST_NOTICE_LIST), FIELDS(LIST_NOTICES), op_notify_list, SCOPE_LIST},
    {"notify.retry", "send a message again, now", PERMISSION_OPERATOR,
        FIELDS(REQUEST_NOTICE), FIELDS(RECORD_NOTICE), op_notify_retry, SCOPE_NOTICE},
    {"notify.test", "send a test message", PERMISSION_EDITOR,
        FIELDS(REQUEST_NOTIFY_TEST), FIELDS(RESPONSE_NOTIFY_TEST), op_notify_test, SCOPE_ALL},
    {"pool.delete", "delete a pool; what holds its slots runs on", PERMISSION_EDITOR,
        FIELDS(REQUEST_POOL_DELETE), FIELDS(RECORD_POOL), op_pool_delete, SCOPE_NAMESPACE},
    {"pool.list", "pools, who holds their slots and who waits", PERMISSION_VIEWER,
        NO_FIELDS, FIELDS(LIST_POOLS), op_pool_list, SCOPE_LIST},
    {"pool.set", "make or change a pool", PERMISSION_EDITOR,
        FIELDS(REQUEST_POOL_SET), FIELDS(RECORD_POOL), op_pool_set, SCOPE_NAMESPACE},
    {"pool.show", "a pool", PERMISSION_VIEWER,
        FIELDS(REQUEST_POOL), FIELDS(RECORD_POOL), op_pool_show, SCOPE_NAMESPACE},
    {"secret.delete", "delete a secret from the store", PERMISSION_EDITOR,
        FIELDS(REQUEST_VAULT_DELETE), FIELDS(RESPONSE_VAULT_DELETE), op_secret_delete, SCOPE_NAMESPACE},
    {"secret.list", "names of secrets of all sources", PERMISSION_VIEWER,
        FIELDS(REQUEST_VAULT_LIST), FIELDS(LIST_SECRETS), op_secret_list, SCOPE_LIST},
    {"secret.rotate", "seal everything anew with the first key", PERMISSION_EDITOR,
        FIELDS(REQUEST_REASON), FIELDS(RESPONSE_ROTATE), op_secret_rotate, SCOPE_ALL},
    {"secret.set", "keep a secret in the store, sealed", PERMISSION_EDITOR,
        FIELDS(REQUEST_SECRET_SET), FIELDS(RECORD_SECRET), op_secret_set, SCOPE_NAMESPACE},
    {"secret.show", "where a secret comes from, never its value", PERMISSION_VIEWER,
        FIELDS(REQUEST_VAULT_NAME), FIELDS(RECORD_SECRET), op_secret_show, SCOPE_NAMESPACE},
    {"sla.list", "deadlines that were missed, the latest first", PERMISSION_VIEWER,
        FIELDS(REQUEST_SLA_LIST), FIELDS(LIST_MISSES), op_sla_list, SCOPE_LIST},
    {"sla.report", "how DAGs keep their deadlines", PERMISSION_VIEWER,
        FIELDS(REQUEST_SLA_REPORT), FIELDS(LIST_SLAS), op_sla_report, SCOPE_LIST},
    {"task.note", "set the note of a task in a run", PERMISSION_OPERATOR,
        FIELDS(REQUEST_TASK_NOTE), FIELDS(RECORD_TASK_NOTE), op_task_note, SCOPE_RUN},
    {"top.overview", "everything at a glance: numbers, throughput and runs", PERMISSION_VIEWER,
        FIELDS(REQUEST_OVERVIEW), FIELDS(RESPONSE_OVERVIEW), op_top_overview, SCOPE_LIST},
    {"top.tasks", "the tasks of a run as a tree", PERMISSION_VIEWER,
        FIELDS(REQUEST_TOP_TASKS), FIELDS(RESPONSE_TOP_TASKS), op_top_tasks, SCOPE_RUN},
    {"variable.delete", "delete a variable from the store", PERMISSION_EDITOR,
        FIELDS(REQUEST_VAULT_DELETE), FIELDS(RESPONSE_VAULT_DELETE), op_variable_delete, SCOPE_NAMESPACE},
    {"variable.list", "variables of all sources", PERMISSION_VIEWER,
        FIELDS(REQUEST_VAULT_LIST), FIELDS(LIST_VARIABLES), op_variable_list, SCOPE_LIST},
    {"variable.set", "keep a variable in the store", PERMISSION_EDITOR,
        FIELDS(REQUEST_VARIABLE_SET), FIELDS(RECORD_VARIABLE), op_variable_set, SCOPE_NAMESPACE},
    {"variable.show", "the variable that a name stands for", PERMISSION_VIEWER,
        FIELDS(REQUEST_VAULT_NAME), FIELDS(RECORD_VARIABLE), op_variable_show, SCOPE_NAMESPACE},
};
/* clang-format on */

const struct operation_table OPERATIONS_AROUND = {ROWS, ARRAY_LEN(ROWS), &OPERATIONS_VIEWS};
