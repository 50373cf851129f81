/*
 * DAGs and their runs as in Airflow's stable API. The table is fenced off from the formatter
 * because it is read by column.
 */
#include "base/attrs.h"
#include "serve/airflow_around.h"
#include "serve/airflow_dag.h"
#include "serve/airflow_rows.h"
#include "serve/airflow_run.h"
#include "serve/airflow_vault.h"

/* clang-format off */
SCHEMA(DAGS_QUERY, PAGE_FIELDS, ORDER_FIELD, ONLY_FIELDS,
    {"tags", FIELD_STRINGS, false, "only those with one of these tags"},
    {"only_active", FIELD_BOOLEAN, false, "false: those whose files are gone, too"},
    {"paused", FIELD_BOOLEAN, false, "only those that are paused, or are not"},
    {"dag_id_pattern", FIELD_STRING, false, "only those with this in their id"});
SCHEMA(DAGS_PATCH_QUERY, PAGE_FIELDS, MASK_FIELD,
    {"tags", FIELD_STRINGS, false, "only those with one of these tags"},
    {"only_active", FIELD_BOOLEAN, false, "false: those whose files are gone, too"},
    {"dag_id_pattern", FIELD_STRING, true, "those with this in their id; ~ means all"});
SCHEMA(DAG_QUERY, ONLY_FIELDS);
SCHEMA(MASK_QUERY, MASK_FIELD);
SCHEMA(ORDER_QUERY, ORDER_FIELD);
SCHEMA(DEFINITION_BODY,
    {"dag_id", FIELD_STRING, false, "its id, as `dag` has it in a file"},
    {"dag", FIELD_STRING, false, "the same"},
    {"tasks", FIELD_OBJECT, false, "by their ids; all keys: `eider schema dag`"});
#define DAG_NEW .body = &DEFINITION_BODY, .takes_more = true
SCHEMA(DAG_BODY, {"is_paused", FIELD_BOOLEAN, false, "nothing of it starts by itself"});
#define DAG_MEMBERS                                                                               \
    {"dag_id", FIELD_STRING, false, "its id"},                                                     \
    {"dag_display_name", FIELD_STRING, false, "a name for people"},                                \
    {"description", FIELD_STRING, false, "what it does"},                                          \
    {"fileloc", FIELD_STRING, false, "where it is written"},                                       \
    {"file_token", FIELD_STRING, false, "what dagSources knows it by"},                            \
    {"owners", FIELD_STRINGS, false, "who answers for it"},                                        \
    {"tags", FIELD_ARRAY, false, "each with its name"},                                            \
    {"schedule_interval", FIELD_ANY, false, "when it runs by itself"},                             \
    {"timetable_description", FIELD_STRING, false, "the same as it is written"},                   \
    {"is_paused", FIELD_BOOLEAN, false, "nothing of it starts by itself"},                         \
    {"is_active", FIELD_BOOLEAN, false, "false: its file is gone"},                                \
    {"is_subdag", FIELD_BOOLEAN, false, "never"},                                                  \
    {"has_import_errors", FIELD_BOOLEAN, false, "its file has problems"},                          \
    {"has_task_concurrency_limits", FIELD_BOOLEAN, false, "its tasks are limited"},                \
    {"max_active_runs", FIELD_INTEGER, false, "runs at once"},                                     \
    {"max_active_tasks", FIELD_INTEGER, false, "tasks of a run at once; 0: no bound"},             \
    {"next_dagrun", FIELD_INSTANT, false, "when it starts by itself"},                             \
    {"next_dagrun_create_after", FIELD_INSTANT, false, "the same"},                                \
    {"next_dagrun_data_interval_start", FIELD_INSTANT, false, "not told"},                         \
    {"next_dagrun_data_interval_end", FIELD_INSTANT, false, "not told"},                           \
    {"default_view", FIELD_STRING, false, "grid"},                                                 \
    {"last_parsed_time", FIELD_INSTANT, false, "not told"},                                        \
    {"last_expired", FIELD_INSTANT, false, "never"},                                               \
    {"last_pickled", FIELD_INSTANT, false, "never"},                                               \
    {"pickle_id", FIELD_STRING, false, "none"},                                                    \
    {"root_dag_id", FIELD_STRING, false, "none"},                                                  \
    {"scheduler_lock", FIELD_BOOLEAN, false, "none"},                                              \
    {"max_consecutive_failed_dag_runs", FIELD_INTEGER, false, "none"},                             \
    {"namespace", FIELD_STRING, false, "scope of grants and names"},                               \
    {"dag_version", FIELD_INTEGER, false, "its current version"}
SCHEMA(DAG_RESPONSE, DAG_MEMBERS);
SCHEMA(DETAILS_RESPONSE, DAG_MEMBERS,
    {"params", FIELD_OBJECT, false, "declarations of parameters"},
    {"doc_md", FIELD_STRING, false, "what is written about it"},
    {"dag_run_timeout", FIELD_ANY, false, "for a run"},
    {"timezone", FIELD_STRING, false, "of dates"});
SCHEMA(DAGS_RESPONSE, {"dags", FIELD_ARRAY, true, "DAGs by id"}, TOTAL_FIELD);
SCHEMA(TASKS_RESPONSE, {"tasks", FIELD_ARRAY, true, "tasks of the DAG"}, TOTAL_FIELD);
SCHEMA(TASK_RESPONSE,
    {"task_id", FIELD_STRING, true, "its id"},
    {"class_ref", FIELD_OBJECT, true, "its kind"},
    {"downstream_task_ids", FIELD_STRINGS, true, "tasks after it"},
    {"trigger_rule", FIELD_STRING, true, "when it may run"},
    {"retries", FIELD_NUMBER, true, "after the first attempt"});
SCHEMA(SOURCE_RESPONSE, {"content", FIELD_STRING, true, "the DAG as its author wrote it"});
SCHEMA(STATS_QUERY, {"dag_ids", FIELD_STRINGS, true, "of these DAGs"});
SCHEMA(STATS_RESPONSE, {"dags", FIELD_ARRAY, true, "dag_id and stats of each"}, TOTAL_FIELD);
SCHEMA(WARNINGS_QUERY, PAGE_FIELDS, ORDER_FIELD,
    {"dag_id", FIELD_STRING, false, "only of this DAG"},
    {"warning_type", FIELD_STRING, false, "only of this type"});
SCHEMA(WARNINGS_RESPONSE, {"dag_warnings", FIELD_ARRAY, true, "warnings"}, TOTAL_FIELD);

SCHEMA(RUNS_QUERY, PAGE_FIELDS, ORDER_FIELD, ONLY_FIELDS, ALL_RANGES,
    {"state", FIELD_STRINGS, false, "only in these states"},
    {"cursor", FIELD_STRING, false, "of an answer: what comes after it; only by id"});
SCHEMA(RUNS_FORM, ORDER_FIELD, ALL_RANGES,
    {"cursor", FIELD_STRING, false, "of an answer: what comes after it; only by id"},
    {"page_limit", FIELD_INTEGER, false, "at most so many"},
    {"page_offset", FIELD_INTEGER, false, "leave out the first"},
    {"dag_ids", FIELD_STRINGS, false, "only of these DAGs"},
    {"states", FIELD_STRINGS, false, "only in these states"});
SCHEMA(RUNS_RESPONSE, {"dag_runs", FIELD_ARRAY, true, "runs"}, TOTAL_FIELD,
    {"total_is_more", FIELD_BOOLEAN, false, "there are more than total_entries"},
    {"cursor", FIELD_STRING, false, "for the next page; null: that was all, or another order"});
SCHEMA(RUN_BODY,
    {"dag_run_id", FIELD_STRING, false, "its name; made of the date by default"},
    {"logical_date", FIELD_INSTANT, false, "what it is for; now by default"},
    {"execution_date", FIELD_INSTANT, false, "the same"},
    {"data_interval_start", FIELD_INSTANT, false, "of what it is about"},
    {"data_interval_end", FIELD_INSTANT, false, "the end of that"},
    {"conf", FIELD_OBJECT, false, "parameters"},
    {"note", FIELD_STRING, false, "a note kept with it"});
SCHEMA(RUN_RESPONSE,
    {"dag_run_id", FIELD_STRING, false, "its name"},
    {"dag_id", FIELD_STRING, false, "its DAG"},
    {"logical_date", FIELD_INSTANT, false, "what it is for"},
    {"execution_date", FIELD_INSTANT, false, "the same"},
    {"data_interval_start", FIELD_INSTANT, false, "of what it is about"},
    {"data_interval_end", FIELD_INSTANT, false, "the end of that"},
    {"state", FIELD_STRING, false, "queued, running, success or failed"},
    {"run_type", FIELD_STRING, false, "manual, scheduled, backfill or dataset_triggered"},
    {"external_trigger", FIELD_BOOLEAN, false, "somebody started it"},
    {"start_date", FIELD_INSTANT, false, "when it started"},
    {"end_date", FIELD_INSTANT, false, "when it ended"},
    {"last_scheduling_decision", FIELD_INSTANT, false, "not told"},
    {"conf", FIELD_OBJECT, false, "what was given when it was made"},
    {"note", FIELD_STRING, false, "what people wrote about it"});
SCHEMA(RUN_STATE_BODY, {"state", FIELD_STRING, true, "success, failed or queued"});
SCHEMA(NOTE_BODY, {"note", FIELD_STRING, true, "the note; empty removes it"});
SCHEMA(CLEAR_BODY, {"dry_run", FIELD_BOOLEAN, false, "only say what would happen, as by default"});
SCHEMA(UPSTREAM_RESPONSE, {"dataset_events", FIELD_ARRAY, true, "updates it was made of"},
    TOTAL_FIELD);

#define RUN V1 "/dags/{dag_id}/dagRuns/{dag_run_id}"

static const struct route ROWS[] = {
    {HTTP_GET, V1 "/dags", ROUTE_PERMISSION, "dag.list", .ask = airflow_ask_dags,
        .answer = airflow_answer_dags, .query = &DAGS_QUERY, LIST(DAGS, DAG)},
    {HTTP_POST, V1 "/dags", ROUTE_PERMISSION, "dag.post", .ask = airflow_ask_dag_post,
        .answer = airflow_answer_dag, DAG_NEW, .response = &DAG_RESPONSE},
    {HTTP_PUT, V1 "/dags/{dag_id}", ROUTE_PERMISSION, "dag.post", .ask = airflow_ask_dag_post,
        .answer = airflow_answer_dag, DAG_NEW, .response = &DAG_RESPONSE},
    {HTTP_PATCH, V1 "/dags", ROUTE_PERMISSION, .permission = PERMISSION_OPERATOR,
        .handle = airflow_handle_dags_patch, .query = &DAGS_PATCH_QUERY, .body = &DAG_BODY,
        LIST(DAGS, DAG), .summary = "pause DAGs, or let them start again", .takes_key = true},
    {HTTP_GET, V1 "/dags/{dag_id}", ROUTE_PERMISSION, "dag.show", .ask = airflow_ask_dag,
        .answer = airflow_answer_dag, .query = &DAG_QUERY, .response = &DAG_RESPONSE},
    {HTTP_PATCH, V1 "/dags/{dag_id}", ROUTE_PERMISSION, .permission = PERMISSION_OPERATOR,
        .handle = airflow_handle_dag_patch, .query = &MASK_QUERY, .body = &DAG_BODY,
        .response = &DAG_RESPONSE, .summary = "pause a DAG, or let it start again",
        .takes_key = true},
    {HTTP_DELETE, V1 "/dags/{dag_id}", ROUTE_PERMISSION, "dag.delete", .status = 204,
        .ask = airflow_ask_dag},
    {HTTP_GET, V1 "/dags/{dag_id}/details", ROUTE_PERMISSION, "dag.show", .ask = airflow_ask_dag,
        .answer = airflow_answer_details, .query = &DAG_QUERY, .response = &DETAILS_RESPONSE},
    {HTTP_GET, V1 "/dags/{dag_id}/tasks", ROUTE_PERMISSION, "task.list", .ask = airflow_ask_dag,
        .answer = airflow_answer_dag_tasks, .query = &ORDER_QUERY, LIST(TASKS, TASK)},
    {HTTP_GET, V1 "/dags/{dag_id}/tasks/{task_id}", ROUTE_PERMISSION, "task.show",
        .ask = airflow_ask_dag_task, .answer = airflow_answer_dag_task,
        .response = &TASK_RESPONSE},
    {HTTP_GET, V1 "/dags/{dag_id}/versions", ROUTE_PERMISSION, "dag.versions",
        .ask = airflow_ask_dag},
    {HTTP_GET, V1 "/dagSources/{file_token}", ROUTE_PERMISSION, .permission = PERMISSION_VIEWER,
        .handle = airflow_handle_source, .response = &SOURCE_RESPONSE, TEXT_TOO,
        .summary = "a DAG as its author wrote it"},
    {HTTP_GET, V1 "/dagStats", ROUTE_PERMISSION, .permission = PERMISSION_VIEWER,
        .handle = airflow_handle_stats, .query = &STATS_QUERY, .response = &STATS_RESPONSE,
        .summary = "how many runs are in which state"},
    {HTTP_GET, V1 "/dagWarnings", ROUTE_PERMISSION, "dag.errors", .ask = airflow_ask_warnings,
        .answer = airflow_answer_warnings, .query = &WARNINGS_QUERY,
        .response = &WARNINGS_RESPONSE, .summary = "what is odd about DAGs"},

    {HTTP_GET, V1 "/dags/{dag_id}/dagRuns", ROUTE_PERMISSION, "run.list", .ask = airflow_ask_runs,
        .answer = airflow_answer_runs, .query = &RUNS_QUERY, LIST(RUNS, RUN),
        .summary = "runs of a DAG, or of all: ~"},
    {HTTP_POST, V1 "/dags/~/dagRuns/list", ROUTE_PERMISSION, "run.list",
        .ask = airflow_ask_runs_form, .answer = airflow_answer_runs, .body = &RUNS_FORM,
        LIST(RUNS, RUN)},
    {HTTP_POST, V1 "/dags/{dag_id}/dagRuns", ROUTE_PERMISSION, "dag.trigger",
        .ask = airflow_ask_trigger, .answer = airflow_answer_run, .body = &RUN_BODY,
        .response = &RUN_RESPONSE, .is_grouped = true},
    {HTTP_GET, RUN, ROUTE_PERMISSION, "run.show", .ask = airflow_ask_run,
        .answer = airflow_answer_run, .query = &DAG_QUERY, .response = &RUN_RESPONSE},
    {HTTP_PATCH, RUN, ROUTE_PERMISSION, .permission = PERMISSION_OPERATOR,
        .handle = airflow_handle_run_state, .body = &RUN_STATE_BODY, .response = &RUN_RESPONSE,
        .summary = "set the state of a run", .takes_key = true},
    {HTTP_DELETE, RUN, ROUTE_PERMISSION, "run.delete", .status = 204,
        .ask = airflow_ask_run_plain},
    {HTTP_POST, RUN "/clear", ROUTE_PERMISSION, .permission = PERMISSION_OPERATOR,
        .handle = airflow_handle_run_clear, .body = &CLEAR_BODY, .response = &RUN_RESPONSE,
        .summary = "let all tasks of a run run again", .takes_key = true},
    {HTTP_PATCH, RUN "/setNote", ROUTE_PERMISSION, "run.note", .ask = airflow_ask_run_note,
        .answer = airflow_answer_run, .body = &NOTE_BODY, .response = &RUN_RESPONSE},
    {HTTP_GET, RUN "/upstreamDatasetEvents", ROUTE_PERMISSION, "run.show",
        .ask = airflow_ask_run_plain, .answer = airflow_answer_upstream,
        .response = &UPSTREAM_RESPONSE},
};
/* clang-format on */

const struct route_table ROUTES_AIRFLOW_DAGS = {ROWS, ARRAY_LEN(ROWS), NULL};
