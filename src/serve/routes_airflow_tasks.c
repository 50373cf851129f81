/*
 * Task instances as in Airflow's stable API. The table is fenced off from the formatter because it
 * is read by column.
 */
#include "base/attrs.h"
#include "serve/airflow_rows.h"
#include "serve/airflow_run_data.h"
#include "serve/airflow_task.h"

/* clang-format off */
#define TASK_FILTERS ALL_RANGES,                                                                   \
    {"state", FIELD_STRINGS, false, "only in these states; none: not begun"},                      \
    {"pool", FIELD_STRINGS, false, "only of these pools; default_pool: of none"},                                         \
    {"queue", FIELD_STRINGS, false, "only of these queues"},                                       \
    {"executor", FIELD_STRINGS, false, "counts for nothing here"},                                 \
    {"duration_gte", FIELD_NUMBER, false, "took so many seconds or more"},                         \
    {"duration_lte", FIELD_NUMBER, false, "took so many seconds or less"}
SCHEMA(TASKS_QUERY, PAGE_FIELDS, TASK_FILTERS,
    {"cursor", FIELD_STRING, false, "of an answer: what comes after it"});
SCHEMA(TASKS_FORM,
    {"dag_ids", FIELD_STRINGS, false, "only of these DAGs"},
    {"dag_run_ids", FIELD_STRINGS, false, "only of runs with these names"},
    {"task_ids", FIELD_STRINGS, false, "only of these tasks"},
    ALL_RANGES,
    {"state", FIELD_ARRAY, false, "only in these states; null: not begun"},
    {"pool", FIELD_STRINGS, false, "only of these pools; default_pool: of none"},
    {"queue", FIELD_STRINGS, false, "only of these queues"},
    {"executor", FIELD_STRINGS, false, "counts for nothing here"},
    {"duration_gte", FIELD_NUMBER, false, "took so many seconds or more"},
    {"duration_lte", FIELD_NUMBER, false, "took so many seconds or less"},
    {"page_limit", FIELD_INTEGER, false, "at most so many"},
    {"page_offset", FIELD_INTEGER, false, "leave out the first"},
    {"cursor", FIELD_STRING, false, "of an answer: what comes after it"});
SCHEMA(TASKS_RESPONSE, {"task_instances", FIELD_ARRAY, true, "newest run first"}, TOTAL_FIELD,
    {"total_is_more", FIELD_BOOLEAN, false, "not all were looked at"},
    {"cursor", FIELD_STRING, false, "for the next page; null: that was all"});
SCHEMA(TRIES_QUERY, PAGE_FIELDS, ORDER_FIELD);
SCHEMA(TRIES_RESPONSE, {"task_instances", FIELD_ARRAY, true, "oldest first"}, TOTAL_FIELD);
SCHEMA(TASK_RESPONSE,
    {"task_id", FIELD_STRING, true, "its task"},
    {"dag_id", FIELD_STRING, true, "its DAG"},
    {"dag_run_id", FIELD_STRING, true, "its run"},
    {"map_index", FIELD_INTEGER, true, "-1 unless it is an instance of a mapped task"},
    {"state", FIELD_STRING, false, "null: not begun"},
    {"try_number", FIELD_INTEGER, true, "attempts so far"},
    {"max_tries", FIELD_INTEGER, true, "retries allowed"},
    {"execution_date", FIELD_INSTANT, false, "what its run is for"},
    {"start_date", FIELD_INSTANT, false, "of its attempt"},
    {"end_date", FIELD_INSTANT, false, "of its attempt"},
    {"duration", FIELD_NUMBER, false, "seconds"},
    {"reason", FIELD_STRING, false, "why it is in its state"},
    {"retries_left", FIELD_INTEGER, true, "of its budget"},
    {"log_url", FIELD_STRING, false, "where its output is"});
SCHEMA(REFERENCE_RESPONSE,
    {"task_id", FIELD_STRING, true, "its task"},
    {"dag_id", FIELD_STRING, true, "its DAG"},
    {"dag_run_id", FIELD_STRING, true, "its run"},
    {"execution_date", FIELD_INSTANT, false, "what its run is for"});
SCHEMA(NOTE_BODY, {"note", FIELD_STRING, true, "the note; empty removes it"});
SCHEMA(STATE_BODY,
    {"new_state", FIELD_STRING, true, "success, failed or skipped"},
    {"dry_run", FIELD_BOOLEAN, false, "only say what would happen, as by default"});
SCHEMA(STATES_BODY,
    {"task_id", FIELD_STRING, true, "the task"},
    {"new_state", FIELD_STRING, true, "success, failed or skipped"},
    {"dag_run_id", FIELD_STRING, false, "the run"},
    {"execution_date", FIELD_INSTANT, false, "its date, instead of its name"},
    {"dry_run", FIELD_BOOLEAN, false, "only say what would happen, as by default"},
    {"include_upstream", FIELD_BOOLEAN, false, "what it needs, too"},
    {"include_downstream", FIELD_BOOLEAN, false, "what needs it, too"},
    {"include_past", FIELD_BOOLEAN, false, "in runs of earlier dates, too"},
    {"include_future", FIELD_BOOLEAN, false, "in runs of later dates, too"});
SCHEMA(CLEAR_BODY,
    {"task_ids", FIELD_STRINGS, false, "these; all by default"},
    {"dag_run_id", FIELD_STRING, false, "of this run; of all in the range by default"},
    {"start_date", FIELD_INSTANT, false, "of runs for this date or a later one"},
    {"end_date", FIELD_INSTANT, false, "of runs for this date or an earlier one"},
    {"dry_run", FIELD_BOOLEAN, false, "only say what would happen, as by default"},
    {"only_failed", FIELD_BOOLEAN, false, "only what failed, as by default"},
    {"only_running", FIELD_BOOLEAN, false, "only what runs"},
    {"include_upstream", FIELD_BOOLEAN, false, "what they need, too"},
    {"include_downstream", FIELD_BOOLEAN, false, "what needs them, too"},
    {"include_past", FIELD_BOOLEAN, false, "in runs of earlier dates, too"},
    {"include_future", FIELD_BOOLEAN, false, "in runs of later dates, too"},
    {"reset_dag_runs", FIELD_BOOLEAN, false, "runs go on by themselves: counts for nothing"},
    {"include_subdags", FIELD_BOOLEAN, false, "there are none: counts for nothing"},
    {"include_parentdag", FIELD_BOOLEAN, false, "there are none: counts for nothing"});
SCHEMA(REFERENCES_RESPONSE, {"task_instances", FIELD_ARRAY, true, "what is changed"}, TOTAL_FIELD);
SCHEMA(DEPENDENCIES_RESPONSE,
    {"dependencies", FIELD_ARRAY, true, "name and reason of each that holds it up"});
SCHEMA(LINKS_RESPONSE, {"extra_links", FIELD_ARRAY, true, "none"}, TOTAL_FIELD);
SCHEMA(LOG_QUERY,
    {"full_content", FIELD_BOOLEAN, false, "all of it, not only the next part; as text it always is"},
    {"map_index", FIELD_INTEGER, false, "of this instance"},
    {"token", FIELD_STRING, false, "continuation_token of the answer before"});
SCHEMA(LOG_RESPONSE,
    {"content", FIELD_STRING, true, "what was printed"},
    {"continuation_token", FIELD_STRING, false, "for what comes next; absent: that was all"});
SCHEMA(XCOMS_QUERY, PAGE_FIELDS,
    {"map_index", FIELD_INTEGER, false, "of this instance"},
    {"xcom_key", FIELD_STRING, false, "only this one"});
SCHEMA(XCOMS_RESPONSE, {"xcom_entries", FIELD_ARRAY, true, "without their values"}, TOTAL_FIELD);
SCHEMA(XCOM_QUERY,
    {"map_index", FIELD_INTEGER, false, "of this instance"},
    {"deserialize", FIELD_BOOLEAN, false, "the value as it is"},
    {"stringify", FIELD_BOOLEAN, false, "the value as a text, as by default"});
SCHEMA(XCOM_RESPONSE,
    {"key", FIELD_STRING, true, "its name"},
    {"task_id", FIELD_STRING, true, "the task that left it"},
    {"value", FIELD_ANY, false, "the value"});

#define TASKS V1 "/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances"
#define TASK TASKS "/{task_id}"
#define ONE TASK "/{map_index}"

static const struct route ROWS[] = {
    {HTTP_GET, TASKS, ROUTE_PERMISSION, "task.instances", .ask = airflow_ask_tasks,
        .row = airflow_task_shape, .rows = "task_instances", .query = &TASKS_QUERY, LIST(TASKS, TASK),
        .summary = "tasks of a run, or of all runs: ~"},
    {HTTP_POST, V1 "/dags/~/dagRuns/~/taskInstances/list", ROUTE_PERMISSION, "task.instances",
        .ask = airflow_ask_tasks_form, .row = airflow_task_shape, .rows = "task_instances", .body = &TASKS_FORM,
        LIST(TASKS, TASK)},
    {HTTP_GET, TASK, ROUTE_PERMISSION, "task.instance", .ask = airflow_ask_task,
        .answer = airflow_answer_task, .response = &TASK_RESPONSE},
    {HTTP_GET, ONE, ROUTE_PERMISSION, "task.instance", .ask = airflow_ask_task,
        .answer = airflow_answer_task, .response = &TASK_RESPONSE},
    {HTTP_PATCH, TASK, ROUTE_PERMISSION, "task.mark", .ask = airflow_ask_task_state,
        .answer = airflow_answer_reference, .body = &STATE_BODY, .response = &REFERENCE_RESPONSE},
    {HTTP_PATCH, ONE, ROUTE_PERMISSION, "task.mark", .ask = airflow_ask_task_state,
        .answer = airflow_answer_reference, .body = &STATE_BODY, .response = &REFERENCE_RESPONSE},
    {HTTP_GET, TASK "/listMapped", ROUTE_PERMISSION, "task.instances", .ask = airflow_ask_mapped,
        .answer = airflow_answer_mapped, .query = &TASKS_QUERY, LIST(TASKS, TASK)},
    {HTTP_PATCH, TASK "/setNote", ROUTE_PERMISSION, "task.note", .ask = airflow_ask_task_note,
        .answer = airflow_answer_task, .body = &NOTE_BODY, .response = &TASK_RESPONSE},
    {HTTP_PATCH, ONE "/setNote", ROUTE_PERMISSION, "task.note", .ask = airflow_ask_task_note,
        .answer = airflow_answer_task, .body = &NOTE_BODY, .response = &TASK_RESPONSE},
    {HTTP_GET, TASK "/tries", ROUTE_PERMISSION, "task.tries", .ask = airflow_ask_task,
        .answer = airflow_answer_tries, .query = &TRIES_QUERY, LIST(TRIES, TASK)},
    {HTTP_GET, ONE "/tries", ROUTE_PERMISSION, "task.tries", .ask = airflow_ask_task,
        .answer = airflow_answer_tries, .query = &TRIES_QUERY, LIST(TRIES, TASK)},
    {HTTP_GET, TASK "/tries/{task_try_number}", ROUTE_PERMISSION, "task.tries",
        .ask = airflow_ask_task, .answer = airflow_answer_try, .response = &TASK_RESPONSE},
    {HTTP_GET, ONE "/tries/{task_try_number}", ROUTE_PERMISSION, "task.tries",
        .ask = airflow_ask_task, .answer = airflow_answer_try, .response = &TASK_RESPONSE},
    {HTTP_GET, TASK "/dependencies", ROUTE_PERMISSION, "run.explain", .ask = airflow_ask_task,
        .answer = airflow_answer_dependencies, .response = &DEPENDENCIES_RESPONSE},
    {HTTP_GET, ONE "/dependencies", ROUTE_PERMISSION, "run.explain", .ask = airflow_ask_task,
        .answer = airflow_answer_dependencies, .response = &DEPENDENCIES_RESPONSE},
    {HTTP_GET, TASK "/links", ROUTE_PERMISSION, "task.instance", .ask = airflow_ask_task,
        .answer = airflow_answer_links, .response = &LINKS_RESPONSE,
        .summary = "links of a task: there are none"},
    {HTTP_GET, TASK "/logs", ROUTE_PERMISSION, .permission = PERMISSION_VIEWER,
        .handle = airflow_handle_log, .query = &LOG_QUERY, .response = &LOG_RESPONSE, TEXT_TOO,
        .summary = "what the newest attempt printed"},
    {HTTP_GET, TASK "/logs/{task_try_number}", ROUTE_PERMISSION, .permission = PERMISSION_VIEWER,
        .handle = airflow_handle_log, .query = &LOG_QUERY, .response = &LOG_RESPONSE, TEXT_TOO,
        .summary = "what an attempt printed"},
    {HTTP_GET, TASK "/xcomEntries", ROUTE_PERMISSION, "run.values", .ask = airflow_ask_xcoms,
        .answer = airflow_answer_xcoms, .query = &XCOMS_QUERY, .response = &XCOMS_RESPONSE},
    {HTTP_GET, TASK "/xcomEntries/{xcom_key}", ROUTE_PERMISSION, "run.values",
        .ask = airflow_ask_xcom, .answer = airflow_answer_xcom, .query = &XCOM_QUERY,
        .response = &XCOM_RESPONSE},
    {HTTP_POST, V1 "/dags/{dag_id}/clearTaskInstances", ROUTE_PERMISSION,
        .permission = PERMISSION_OPERATOR, .handle = airflow_handle_clear, .body = &CLEAR_BODY,
        LIST(REFERENCES, REFERENCE), .summary = "let tasks of runs run again"},
    {HTTP_POST, V1 "/dags/{dag_id}/updateTaskInstancesState", ROUTE_PERMISSION,
        .permission = PERMISSION_OPERATOR, .handle = airflow_handle_states, .body = &STATES_BODY,
        LIST(REFERENCES, REFERENCE), .summary = "set the state of a task in runs by hand"},
};
/* clang-format on */

const struct route_table ROUTES_AIRFLOW_TASKS = {ROWS, ARRAY_LEN(ROWS), NULL};
