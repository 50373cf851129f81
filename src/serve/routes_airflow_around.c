/*
 * What surrounds runs as in Airflow's stable API: pools, variables, connections, datasets, problems
 * of files, events, settings, backfills. The table is fenced off from the formatter because it is
 * read by column.
 */
#include "base/attrs.h"
#include "serve/airflow_around.h"
#include "serve/airflow_rows.h"
#include "serve/airflow_vault.h"

/* clang-format off */
SCHEMA(LIST_QUERY, PAGE_FIELDS, ORDER_FIELD);
SCHEMA(PAGE_QUERY, PAGE_FIELDS);
#define SPACE_FIELD {"namespace", FIELD_STRING, false, "whose it is; the only one that you have, or default"}
SCHEMA(SPACE_QUERY, SPACE_FIELD);
SCHEMA(SPACED_QUERY, PAGE_FIELDS, ORDER_FIELD, SPACE_FIELD);
SCHEMA(MASK_QUERY, MASK_FIELD, SPACE_FIELD);
SCHEMA(POOLS_RESPONSE, {"pools", FIELD_ARRAY, true, "pools by name"}, TOTAL_FIELD);
SCHEMA(POOL_BODY,
    {"name", FIELD_STRING, false, "its name"},
    {"slots", FIELD_INTEGER, false, "how many there are"},
    {"description", FIELD_STRING, false, "what it is for"},
    {"include_deferred", FIELD_BOOLEAN, false, "only false"},
    SPACE_FIELD);
SCHEMA(POOL_NEW,
    {"name", FIELD_STRING, true, "its name"},
    {"slots", FIELD_INTEGER, true, "how many there are"},
    {"description", FIELD_STRING, false, "what it is for"},
    {"include_deferred", FIELD_BOOLEAN, false, "only false"},
    SPACE_FIELD);
SCHEMA(POOL_RESPONSE,
    {"name", FIELD_STRING, true, "its name"},
    {"slots", FIELD_INTEGER, true, "how many there are"},
    {"occupied_slots", FIELD_INTEGER, true, "held by running tasks"},
    {"running_slots", FIELD_INTEGER, true, "the same"},
    {"queued_slots", FIELD_INTEGER, true, "that tasks wait for"},
    {"scheduled_slots", FIELD_INTEGER, true, "0"},
    {"deferred_slots", FIELD_INTEGER, true, "0"},
    {"open_slots", FIELD_INTEGER, true, "free"},
    {"description", FIELD_STRING, false, "what it is for"},
    {"include_deferred", FIELD_BOOLEAN, true, "false"},
    {"namespace", FIELD_STRING, false, "whose it is"},
    {"running", FIELD_INTEGER, false, "tasks that hold slots"},
    {"waiting", FIELD_INTEGER, false, "tasks that wait for slots"});
SCHEMA(VARIABLES_RESPONSE, {"variables", FIELD_ARRAY, true, "variables by key"}, TOTAL_FIELD);
SCHEMA(VARIABLE_BODY,
    {"key", FIELD_STRING, false, "its name"},
    {"value", FIELD_STRING, false, "its value"},
    {"description", FIELD_STRING, false, "what it is for"},
    SPACE_FIELD);
SCHEMA(VARIABLE_NEW,
    {"key", FIELD_STRING, true, "its name"},
    {"value", FIELD_STRING, true, "its value"},
    {"description", FIELD_STRING, false, "what it is for"},
    SPACE_FIELD);
SCHEMA(VARIABLE_RESPONSE,
    {"key", FIELD_STRING, true, "its name"},
    {"value", FIELD_STRING, false, "its value"},
    {"description", FIELD_STRING, false, "what it is for"},
    {"source", FIELD_STRING, false, "environment, file or store"},
    {"namespace", FIELD_STRING, false, "whose it is; null: it counts for all"});
#define CONNECTION_PARTS                                                                           \
    {"description", FIELD_STRING, false, "what it is for"},                                        \
    {"host", FIELD_STRING, false, "where it is"},                                                  \
    {"port", FIELD_INTEGER, false, "where it listens"},                                            \
    {"login", FIELD_STRING, false, "who we are there"},                                            \
    {"schema", FIELD_STRING, false, "database or the like"},                                       \
    {"extra", FIELD_STRING, false, "the text of a JSON object with more"}
SCHEMA(CONNECTIONS_RESPONSE, {"connections", FIELD_ARRAY, true, "connections by id"}, TOTAL_FIELD);
SCHEMA(CONNECTION_BODY, CONNECTION_PARTS,
    {"connection_id", FIELD_STRING, false, "its name"},
    {"conn_type", FIELD_STRING, false, "its kind"},
    {"password", FIELD_STRING, false, "goes in and never comes out"},
    SPACE_FIELD);
SCHEMA(CONNECTION_NEW, CONNECTION_PARTS,
    {"connection_id", FIELD_STRING, true, "its name"},
    {"conn_type", FIELD_STRING, true, "its kind"},
    {"password", FIELD_STRING, false, "goes in and never comes out"},
    SPACE_FIELD);
SCHEMA(CONNECTION_RESPONSE, CONNECTION_PARTS,
    {"connection_id", FIELD_STRING, true, "its name"},
    {"conn_type", FIELD_STRING, true, "its kind"},
    {"source", FIELD_STRING, false, "environment, file or store"},
    {"namespace", FIELD_STRING, false, "whose it is; null: it counts for all"});
SCHEMA(TEST_RESPONSE,
    {"status", FIELD_BOOLEAN, true, "somebody answered"},
    {"message", FIELD_STRING, true, "what, or why not"});
SCHEMA(DATASETS_QUERY, PAGE_FIELDS, ORDER_FIELD,
    {"uri_pattern", FIELD_STRING, false, "only those with this in their URI"},
    {"dag_ids", FIELD_STRINGS, false, "only those that one of these DAGs waits for or wrote"});
SCHEMA(DATASETS_RESPONSE, {"datasets", FIELD_ARRAY, true, "datasets by URI"}, TOTAL_FIELD);
SCHEMA(DATASET_RESPONSE,
    {"id", FIELD_INTEGER, true, "its number"},
    {"uri", FIELD_STRING, true, "what names it"},
    {"consuming_dags", FIELD_ARRAY, true, "DAGs that wait for it"},
    {"producing_tasks", FIELD_ARRAY, true, "tasks that updated it lately"});
SCHEMA(DATASET_EVENTS_QUERY, PAGE_FIELDS, ORDER_FIELD,
    {"dataset_id", FIELD_INTEGER, false, "only of this dataset"},
    {"source_dag_id", FIELD_STRING, false, "only by tasks of this DAG"},
    {"source_run_id", FIELD_STRING, false, "only by tasks of this run"},
    {"source_task_id", FIELD_STRING, false, "only by this task"},
    {"source_map_index", FIELD_INTEGER, false, "only by this instance"});
SCHEMA(DATASET_EVENTS_RESPONSE, {"dataset_events", FIELD_ARRAY, true, "updates"}, TOTAL_FIELD);
SCHEMA(DATASET_EVENT_BODY,
    {"dataset_uri", FIELD_STRING, true, "what was updated"},
    {"extra", FIELD_OBJECT, false, "told to those who wait for it"});
SCHEMA(DATASET_EVENT_RESPONSE,
    {"id", FIELD_INTEGER, true, "its number"},
    {"dataset_id", FIELD_INTEGER, true, "of the dataset"},
    {"dataset_uri", FIELD_STRING, true, "what was updated"},
    {"timestamp", FIELD_INSTANT, true, "when"});
SCHEMA(QUEUED_RESPONSE, {"queued_events", FIELD_ARRAY, true, "dag_id, uri and created_at of each"},
    TOTAL_FIELD);
SCHEMA(ERRORS_RESPONSE, {"import_errors", FIELD_ARRAY, true, "files with problems"}, TOTAL_FIELD);
SCHEMA(ERROR_RESPONSE,
    {"import_error_id", FIELD_INTEGER, true, "its number"},
    {"filename", FIELD_STRING, true, "the file"},
    {"stack_trace", FIELD_STRING, true, "its problems, a line each"},
    {"timestamp", FIELD_INSTANT, true, "since when"});
SCHEMA(EVENTS_QUERY, PAGE_FIELDS, ORDER_FIELD,
    {"dag_id", FIELD_STRING, false, "only of this DAG"},
    {"task_id", FIELD_STRING, false, "only of this task"},
    {"run_id", FIELD_STRING, false, "only of runs of this name"},
    {"map_index", FIELD_INTEGER, false, "only of this instance"},
    {"try_number", FIELD_INTEGER, false, "only of this attempt"},
    {"event", FIELD_STRING, false, "only of this kind"},
    {"owner", FIELD_STRING, false, "only of this one"},
    {"before", FIELD_INSTANT, false, "then or earlier"},
    {"after", FIELD_INSTANT, false, "then or later"},
    {"included_events", FIELD_STRINGS, false, "only of these kinds"},
    {"excluded_events", FIELD_STRINGS, false, "not of these kinds"},
    {"cursor", FIELD_STRING, false, "of an answer: what comes after it"});
SCHEMA(EVENTS_RESPONSE, {"event_logs", FIELD_ARRAY, true, "events by id"}, TOTAL_FIELD,
    {"cursor", FIELD_STRING, false, "for the next page; null: that was all"});
SCHEMA(EVENT_RESPONSE,
    {"event_log_id", FIELD_INTEGER, true, "its number"},
    {"when", FIELD_INSTANT, true, "when it happened"},
    {"event", FIELD_STRING, true, "what happened"},
    {"owner", FIELD_STRING, false, "who did it"});
SCHEMA(CONFIG_QUERY, {"section", FIELD_STRING, false, "there is one: eider"});
SCHEMA(CONFIG_RESPONSE, {"sections", FIELD_ARRAY, true, "name and options of each"});
SCHEMA(PLUGINS_RESPONSE, {"plugins", FIELD_ARRAY, true, "none"}, TOTAL_FIELD);
SCHEMA(PROVIDERS_RESPONSE, {"providers", FIELD_ARRAY, true, "none"}, TOTAL_FIELD);
SCHEMA(BACKFILLS_QUERY, PAGE_FIELDS, ORDER_FIELD,
    {"dag_id", FIELD_STRING, false, "only of this DAG"},
    {"state", FIELD_STRING, false, "only in this state"});
SCHEMA(BACKFILLS_RESPONSE, {"backfills", FIELD_ARRAY, true, "backfills"}, TOTAL_FIELD);
SCHEMA(BACKFILL_BODY,
    {"dag_id", FIELD_STRING, true, "the DAG"},
    {"from_date", FIELD_INSTANT, true, "first logical date"},
    {"to_date", FIELD_INSTANT, true, "last logical date, included"},
    {"run_backwards", FIELD_BOOLEAN, false, "the newest date first"},
    {"max_active_runs", FIELD_INTEGER, false, "runs at once"},
    {"dag_run_conf", FIELD_OBJECT, false, "parameters"},
    {"reprocess_behavior", FIELD_STRING, false, "dates that have a run: none, failed or completed are done again"});
SCHEMA(BACKFILL_RESPONSE,
    {"id", FIELD_INTEGER, true, "its number"},
    {"dag_id", FIELD_STRING, true, "its DAG"},
    {"state", FIELD_STRING, true, "where it is"},
    {"is_paused", FIELD_BOOLEAN, true, "it begins nothing"});
SCHEMA(NO_BODY, {"reason", FIELD_STRING, false, "why; kept with the change"});

#define EDITS .permission = PERMISSION_EDITOR

static const struct route ROWS[] = {
    {HTTP_GET, V1 "/pools", ROUTE_PERMISSION, "pool.list", .ask = airflow_ask_nothing,
        .answer = airflow_answer_pools, .query = &SPACED_QUERY, LIST(POOLS, POOL)},
    {HTTP_POST, V1 "/pools", ROUTE_PERMISSION, EDITS, .handle = airflow_handle_pool_post,
        .body = &POOL_NEW, .response = &POOL_RESPONSE, .summary = "make a pool", .takes_key = true},
    {HTTP_GET, V1 "/pools/{pool_name}", ROUTE_PERMISSION, "pool.show", .ask = airflow_ask_pool,
        .answer = airflow_answer_pool, .query = &SPACE_QUERY, .response = &POOL_RESPONSE},
    {HTTP_PATCH, V1 "/pools/{pool_name}", ROUTE_PERMISSION, EDITS,
        .handle = airflow_handle_pool_patch, .query = &MASK_QUERY, .body = &POOL_BODY,
        .response = &POOL_RESPONSE, .summary = "change a pool", .takes_key = true},
    {HTTP_DELETE, V1 "/pools/{pool_name}", ROUTE_PERMISSION, "pool.delete", .status = 204,
        .ask = airflow_ask_pool, .query = &SPACE_QUERY},

    {HTTP_GET, V1 "/variables", ROUTE_PERMISSION, "variable.list", .ask = airflow_ask_spaced,
        .answer = airflow_answer_variables, .query = &SPACED_QUERY, LIST(VARIABLES, VARIABLE)},
    {HTTP_POST, V1 "/variables", ROUTE_PERMISSION, "variable.set",
        .ask = airflow_ask_variable_post, .answer = airflow_answer_variable,
        .body = &VARIABLE_NEW, .response = &VARIABLE_RESPONSE},
    {HTTP_GET, V1 "/variables/{variable_key}", ROUTE_PERMISSION, "variable.show",
        .ask = airflow_ask_variable, .answer = airflow_answer_variable,
        .query = &SPACE_QUERY, .response = &VARIABLE_RESPONSE},
    {HTTP_PATCH, V1 "/variables/{variable_key}", ROUTE_PERMISSION, EDITS,
        .handle = airflow_handle_variable_patch, .query = &MASK_QUERY, .body = &VARIABLE_BODY,
        .response = &VARIABLE_RESPONSE, .summary = "change a variable"},
    {HTTP_DELETE, V1 "/variables/{variable_key}", ROUTE_PERMISSION, "variable.delete",
        .status = 204, .ask = airflow_ask_variable, .query = &SPACE_QUERY},

    {HTTP_GET, V1 "/connections", ROUTE_PERMISSION, "connection.list", .ask = airflow_ask_spaced,
        .answer = airflow_answer_connections, .query = &SPACED_QUERY,
        LIST(CONNECTIONS, CONNECTION)},
    {HTTP_POST, V1 "/connections", ROUTE_PERMISSION, EDITS,
        .handle = airflow_handle_connection_post, .body = &CONNECTION_NEW,
        .response = &CONNECTION_RESPONSE, .summary = "keep a connection, sealed"},
    {HTTP_POST, V1 "/connections/test", ROUTE_PERMISSION, .permission = PERMISSION_OPERATOR,
        .handle = airflow_handle_connection_test, .body = &CONNECTION_BODY,
        .response = &TEST_RESPONSE, .summary = "see whether a connection that is kept answers"},
    {HTTP_GET, V1 "/connections/{connection_id}", ROUTE_PERMISSION, "connection.show",
        .ask = airflow_ask_connection, .answer = airflow_answer_connection,
        .query = &SPACE_QUERY, .response = &CONNECTION_RESPONSE},
    {HTTP_PATCH, V1 "/connections/{connection_id}", ROUTE_PERMISSION, "connection.set",
        .ask = airflow_ask_connection_patch, .answer = airflow_answer_connection,
        .query = &MASK_QUERY, .body = &CONNECTION_BODY, .response = &CONNECTION_RESPONSE},
    {HTTP_DELETE, V1 "/connections/{connection_id}", ROUTE_PERMISSION, "connection.delete",
        .status = 204, .ask = airflow_ask_connection, .query = &SPACE_QUERY},

    {HTTP_GET, V1 "/datasets", ROUTE_PERMISSION, "asset.list", .ask = airflow_ask_datasets,
        .answer = airflow_answer_datasets, .query = &DATASETS_QUERY,
        LIST(DATASETS, DATASET)},
    {HTTP_GET, V1 "/datasets/events", ROUTE_PERMISSION, "asset.events",
        .ask = airflow_ask_dataset_events, .answer = airflow_answer_dataset_events,
        .query = &DATASET_EVENTS_QUERY, LIST(DATASET_EVENTS, DATASET_EVENT)},
    {HTTP_POST, V1 "/datasets/events", ROUTE_PERMISSION, "asset.emit",
        .ask = airflow_ask_dataset_emit, .answer = airflow_answer_dataset_emit,
        .body = &DATASET_EVENT_BODY, .response = &DATASET_EVENT_RESPONSE},
    {HTTP_GET, V1 "/datasets/queuedEvent/{uri}", ROUTE_PERMISSION, "asset.show",
        .ask = airflow_ask_dataset, .answer = airflow_answer_queued,
        .response = &QUEUED_RESPONSE, .summary = "updates that wait for runs of DAGs"},
    {HTTP_GET, V1 "/datasets/{uri}", ROUTE_PERMISSION, "asset.show", .ask = airflow_ask_dataset,
        .answer = airflow_answer_dataset, .response = &DATASET_RESPONSE},
    {HTTP_GET, V1 "/assets", ROUTE_PERMISSION, "asset.list", .ask = airflow_ask_datasets,
        .answer = airflow_answer_datasets, .query = &DATASETS_QUERY,
        LIST(DATASETS, DATASET)},
    {HTTP_GET, V1 "/assets/events", ROUTE_PERMISSION, "asset.events",
        .ask = airflow_ask_dataset_events, .answer = airflow_answer_dataset_events,
        .query = &DATASET_EVENTS_QUERY, LIST(DATASET_EVENTS, DATASET_EVENT)},
    {HTTP_POST, V1 "/assets/events", ROUTE_PERMISSION, "asset.emit",
        .ask = airflow_ask_dataset_emit, .answer = airflow_answer_dataset_emit,
        .body = &DATASET_EVENT_BODY, .response = &DATASET_EVENT_RESPONSE},
    {HTTP_GET, V1 "/assets/{uri}", ROUTE_PERMISSION, "asset.show", .ask = airflow_ask_dataset,
        .answer = airflow_answer_dataset, .response = &DATASET_RESPONSE},

    {HTTP_GET, V1 "/lineage/dataset", ROUTE_PERMISSION, .operation = "asset.lineage"},

    {HTTP_GET, V1 "/importErrors", ROUTE_PERMISSION, "dag.errors", .ask = airflow_ask_nothing,
        .answer = airflow_answer_errors, .query = &LIST_QUERY, LIST(ERRORS, ERROR)},
    {HTTP_GET, V1 "/importErrors/{import_error_id}", ROUTE_PERMISSION, "dag.errors",
        .ask = airflow_ask_nothing, .answer = airflow_answer_error, .response = &ERROR_RESPONSE},
    {HTTP_GET, V1 "/eventLogs", ROUTE_PERMISSION, "event.log", .ask = airflow_ask_event_logs,
        .answer = airflow_answer_event_logs, .query = &EVENTS_QUERY, LIST(EVENTS, EVENT)},
    {HTTP_GET, V1 "/eventLogs/{event_log_id}", ROUTE_PERMISSION, "event.log",
        .ask = airflow_ask_event_log, .answer = airflow_answer_event_log,
        .response = &EVENT_RESPONSE},
    {HTTP_GET, V1 "/config", ROUTE_PERMISSION, .permission = PERMISSION_VIEWER,
        .handle = airflow_handle_config, .query = &CONFIG_QUERY, .response = &CONFIG_RESPONSE,
        .summary = "settings, without secrets"},
    {HTTP_GET, V1 "/config/section/{section}/option/{option}", ROUTE_PERMISSION,
        .permission = PERMISSION_VIEWER, .handle = airflow_handle_config,
        .response = &CONFIG_RESPONSE, .summary = "a setting"},
    {HTTP_GET, V1 "/plugins", ROUTE_PERMISSION, .permission = PERMISSION_VIEWER,
        .handle = airflow_handle_plugins, .query = &PAGE_QUERY, .response = &PLUGINS_RESPONSE,
        .summary = "plugins: there are none"},
    {HTTP_GET, V1 "/providers", ROUTE_PERMISSION, .permission = PERMISSION_VIEWER,
        .handle = airflow_handle_providers, .response = &PROVIDERS_RESPONSE,
        .summary = "packages of operators: there are none"},

    {HTTP_GET, V1 "/backfills", ROUTE_PERMISSION, "backfill.list", .ask = airflow_ask_backfills,
        .answer = airflow_answer_backfills, .query = &BACKFILLS_QUERY,
        LIST(BACKFILLS, BACKFILL)},
    {HTTP_POST, V1 "/backfills", ROUTE_PERMISSION, "backfill.create",
        .ask = airflow_ask_backfill_post, .answer = airflow_answer_backfill,
        .body = &BACKFILL_BODY, .response = &BACKFILL_RESPONSE},
    {HTTP_GET, V1 "/backfills/{backfill_id}", ROUTE_PERMISSION, "backfill.show",
        .ask = airflow_ask_backfill, .answer = airflow_answer_backfill,
        .response = &BACKFILL_RESPONSE},
    {HTTP_PUT, V1 "/backfills/{backfill_id}/pause", ROUTE_PERMISSION, "backfill.pause",
        .ask = airflow_ask_backfill, .answer = airflow_answer_backfill, .body = &NO_BODY,
        .response = &BACKFILL_RESPONSE},
    {HTTP_PUT, V1 "/backfills/{backfill_id}/unpause", ROUTE_PERMISSION, "backfill.resume",
        .ask = airflow_ask_backfill, .answer = airflow_answer_backfill, .body = &NO_BODY,
        .response = &BACKFILL_RESPONSE},
    {HTTP_PUT, V1 "/backfills/{backfill_id}/cancel", ROUTE_PERMISSION, "backfill.cancel",
        .ask = airflow_ask_backfill, .answer = airflow_answer_backfill, .body = &NO_BODY,
        .response = &BACKFILL_RESPONSE},
};
/* clang-format on */

const struct route_table ROUTES_AIRFLOW_AROUND = {ROWS, ARRAY_LEN(ROWS), NULL};
