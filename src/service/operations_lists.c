/*
 * Rows of lists over many runs, in pages, of what belongs to one task of a run, and of DAGs without
 * a file.
 */
#include "service/operation_rows.h"
#include "service/operations.h"

/* clang-format off */
static const struct operation_field REQUEST_INSTANCES[] = {
    {"run", FIELD_STRING, false, "only of this run: number, or DAG/RUN_ID"},
    {"runs", FIELD_STRINGS, false, "only of runs with these names"},
    {"dag", FIELD_STRING, false, "only of this DAG"},
    RUN_FILTER,
    {"tasks", FIELD_STRINGS, false, "only of these tasks"},
    {"pools", FIELD_STRINGS, false, "only of these pools; an empty name: of none"},
    {"queues", FIELD_STRINGS, false, "only of these queues"},
    INDEX,
    {"mapped", FIELD_BOOLEAN, false, "only instances of mapped tasks"},
    {"duration_from", FIELD_NUMBER, false, "took so many seconds or more"},
    {"duration_to", FIELD_NUMBER, false, "took so many seconds or less"},
    LIMIT,
    {"offset", FIELD_INTEGER, false, "leave out the first, up to 100000"},
    NEXT_PAGE,
    WITH_TOTAL,
};
static const struct operation_field LIST_INSTANCES[] = {
    {"task_instances", FIELD_ARRAY, true, "by run, the newest first, in a run in its order"},
    PAGED_TOTAL,
    CURSOR,
};
static const struct operation_field REQUEST_TASK_OF_RUN[] = {RUN, TASK, INDEX};
static const struct operation_field RECORD_INSTANCE[] = {
    {"number", FIELD_ID, true, "its run"},
    {"dag_id", FIELD_STRING, true, "its DAG"},
    {"dag_run_id", FIELD_STRING, true, "name of its run"},
    {"task_id", FIELD_STRING, true, "its task, with everything that `run.tasks` tells of it"},
    {"map_index", FIELD_INTEGER, true, "-1 unless it is an instance of a mapped task"},
    {"state", FIELD_STRING, true, "none, queued, running, success, failed, ..."},
    {"note", FIELD_STRING, false, "what people wrote about it"},
};
static const struct operation_field LIST_TRIES[] = {
    {"task_instances", FIELD_ARRAY, true, "oldest first, as they ended"}, TOTAL,
};

static const struct operation_field REQUEST_EVENT_LOG[] = {
    {"id", FIELD_ID, false, "only this one"},
    {"dag", FIELD_STRING, false, "only of this DAG"},
    {"run_id", FIELD_STRING, false, "only of runs of this name"},
    {"task", FIELD_STRING, false, "only of this task"},
    INDEX,
    {"try_number", FIELD_INTEGER, false, "only of this attempt"},
    {"kinds", FIELD_STRINGS, false, "only of these kinds"},
    {"without", FIELD_STRINGS, false, "not of these kinds"},
    {"actor", FIELD_STRING, false, "only of this one"},
    {"when_from", FIELD_INSTANT, false, "then or later"},
    {"when_to", FIELD_INSTANT, false, "by then"},
    {"order_by", FIELD_STRING, false, "id, or -id as by default"},
    LIMIT,
    {"offset", FIELD_INTEGER, false, "leave out the first, up to 100000"},
    NEXT_PAGE,
};
static const struct operation_field LIST_EVENT_LOG[] = {
    {"events", FIELD_ARRAY, true, "id, at, kind, object, state, actor, dag_id, dag_run_id, task_id, details of each"},
    {"total_entries", FIELD_INTEGER, true, "how many match, from a cursor on"},
    {"total_is_more", FIELD_BOOLEAN, false, "not all events were looked at"},
    CURSOR,
};
static const struct operation_field REQUEST_ASSET_EVENTS[] = {
    {"asset", FIELD_ID, false, "only of the dataset with this id"},
    {"dag", FIELD_STRING, false, "only by tasks of this DAG"},
    {"run_id", FIELD_STRING, false, "only by tasks of runs of this name"},
    {"task", FIELD_STRING, false, "only by this task"},
    INDEX,
    {"order_by", FIELD_STRING, false, "id, or -id as by default"},
    LIMIT,
    {"offset", FIELD_INTEGER, false, "leave out the first, up to 100000"},
    WITH_TOTAL,
};
static const struct operation_field LIST_ASSET_EVENTS[] = {
    {"events", FIELD_ARRAY, true, "id, asset, uri, timestamp, source_*, actor, extra and runs of each"},
    PAGED_TOTAL,
};

static const struct operation_field REQUEST_POST[] = {
    {"definition", FIELD_OBJECT, true, "the DAG as in a file, with its id as `dag`"},
    {"replace", FIELD_BOOLEAN, false, "instead of one of that id that was posted before"},
    REASON, DRY_RUN,
};
static const struct operation_field RECORD_POSTED[] = {
    {"dag_id", FIELD_STRING, true, "its id, with everything that `dag.show` tells of it"},
    {"dag_version", FIELD_INTEGER, true, "its version"},
};

static const struct operation_field REQUEST_LINEAGE[] = {
    {"dataset", FIELD_STRING, true, "URI of the dataset"},
};
static const struct operation_field RESPONSE_LINEAGE[] = {
    {"dataset", FIELD_STRING, true, "its URI"},
    {"upstream_datasets", FIELD_ARRAY, true,
        "what it is made of: dataset, source (DAG/TASK that updated it last, or who said so; null: nobody yet) and last_updated of each"},
    {"transformations", FIELD_ARRAY, true, "tasks that write it: dag_id, task_id, and code, what each runs"},
    {"downstream_datasets", FIELD_ARRAY, true,
        "what is made of it: dataset and dag_id of each; dataset is null where a DAG uses it and names no outputs"},
};

static const struct operation ROWS[] = {
    {"asset.events", "updates of datasets and the runs made of them", PERMISSION_VIEWER,
        FIELDS(REQUEST_ASSET_EVENTS), FIELDS(LIST_ASSET_EVENTS), op_asset_events, SCOPE_LIST},
    {"asset.lineage", "what a dataset is made of, and what is made of it", PERMISSION_VIEWER,
        FIELDS(REQUEST_LINEAGE), FIELDS(RESPONSE_LINEAGE), op_asset_lineage, SCOPE_ANY},
    {"dag.post", "make a DAG without a file, or another version of it", PERMISSION_EDITOR,
        FIELDS(REQUEST_POST), FIELDS(RECORD_POSTED), op_dag_post, SCOPE_ANY},
    {"event.log", "events that match, in pages", PERMISSION_VIEWER,
        FIELDS(REQUEST_EVENT_LOG), FIELDS(LIST_EVENT_LOG), op_event_log, SCOPE_LIST},
    {"task.instance", "a task of a run", PERMISSION_VIEWER,
        FIELDS(REQUEST_TASK_OF_RUN), FIELDS(RECORD_INSTANCE), op_task_instance, SCOPE_RUN},
    {"task.instances", "tasks of one run or of many, in pages", PERMISSION_VIEWER,
        FIELDS(REQUEST_INSTANCES), FIELDS(LIST_INSTANCES), op_task_instances, SCOPE_LIST},
    {"task.tries", "the attempts of a task", PERMISSION_VIEWER,
        FIELDS(REQUEST_TASK_OF_RUN), FIELDS(LIST_TRIES), op_task_tries, SCOPE_RUN},
};
/* clang-format on */

const struct operation_table OPERATIONS_LISTS = {ROWS, ARRAY_LEN(ROWS), &OPERATIONS_LOGS};
