/*
 * Rows of what people look at: many things at once, in the form that a picture of them needs.
 */
#include "service/graph_part.h"
#include "service/operation_rows.h"
#include "service/operations.h"

/* clang-format off */
#define DAG_ID {"dag", FIELD_STRING, true, "id of the DAG"}
static const struct operation_field REQUEST_CALENDAR[] = {
    DAG_ID, {"year", FIELD_INTEGER, false, "this one by default"},
};
static const struct operation_field RESPONSE_CALENDAR[] = {
    {"dag_id", FIELD_STRING, true, "the DAG"},
    {"year", FIELD_INTEGER, true, "the year"},
    {"is_paused", FIELD_BOOLEAN, true, "nothing of it starts by itself"},
    {"is_scheduled", FIELD_BOOLEAN, true, "a scheduler acts on it"},
    {"next_run", FIELD_INSTANT, false, "when it starts by itself"},
    {"days", FIELD_ARRAY, true, "date, counts (runs by state), total and planned of each day that has some, in the zone of its schedule"},
    TOTAL,
    {"has_more", FIELD_BOOLEAN, true, "only the last 100000 runs were counted"},
    {"planned_until", FIELD_INSTANT, false, "ticks after that were not counted"},
};
static const struct operation_field REQUEST_GRID[] = {
    DAG_ID,
    {"limit", FIELD_INTEGER, false, "at most so many runs, up to 1000; 25 by default"},
    {"before", FIELD_INSTANT, false, "only runs with an earlier logical date, for the page before"},
};
static const struct operation_field RESPONSE_GRID[] = {
    {"dag_id", FIELD_STRING, true, "the DAG"},
    {"dag_version", FIELD_INTEGER, true, "the current one; 0: the store has none"},
    {"states", FIELD_STRINGS, true, "names of states by their number"},
    {"runs", FIELD_ARRAY, true, "by logical date, each with number, dag_run_id, state, run_type, its dates, duration, dag_version and has_note"},
    {"tasks", FIELD_ARRAY, true, "parents first: task_id, group, operator, is_mapped, is_finally, is_current, "
        "states (a letter per run: 0-9, a-z the number of the state, . no such task) and "
        "instances (by run: total, success, failed, skipped)"},
    TOTAL,
    {"has_more", FIELD_BOOLEAN, true, "there are earlier runs"},
};
static const struct operation_field REQUEST_LAYOUT[] = {
    {"dag", FIELD_STRING, false, "id of the DAG"},
    {"run", FIELD_STRING, false, "with the states of this run: number, or DAG/RUN_ID"},
    {"version", FIELD_INTEGER, false, "number of a version; the current one by default"}, GRAPH_PART,
};
static const struct operation_field RESPONSE_LAYOUT[] = {
    {"dag_id", FIELD_STRING, true, "the DAG"},
    {"dag_version", FIELD_INTEGER, true, "its version; 0: the store has none"},
    {"number", FIELD_ID, false, "the run"},
    {"state", FIELD_STRING, false, "of the run"},
    {"width", FIELD_INTEGER, true, "of the whole, in pixels"},
    {"height", FIELD_INTEGER, true, "of the whole"},
    {"tasks_total", FIELD_INTEGER, true, "of the DAG, shown or not"},
    {"nodes", FIELD_ARRAY, true, "task_id, group, is_group, operator, is_mapped, is_finally, hidden_up and hidden_down "
        "(edges to tasks that are left out), layer, x, y, width, height of each, and of a run state, try_number and "
        "instances; of a group its name as task_id, tasks, and of a run state and states (how many are in each)"},
    {"edges", FIELD_ARRAY, true, "from, to and points (x and y in turn) of each"},
    {"groups", FIELD_ARRAY, true, "group, above (the group around it), x, y, width and height of each"},
};
static const struct operation_field REQUEST_RUNNING[] = {
    {"limit", FIELD_INTEGER, false, "look at so many at most; 100 by default"},
};
static const struct operation_field LIST_RUNNING[] = {
    {"tasks", FIELD_ARRAY, true, "task (its number), at (when it started), kind, state, namespace, dag_id, dag_run_id, number, "
        "task_id, map_index, label, attempt, try_number and details (host) of each, in no order"},
    TOTAL,
    {"more", FIELD_BOOLEAN, true, "more run than were looked at"},
};
static const struct operation_field REQUEST_ROWS[] = {
    {"dags", FIELD_STRINGS, false, "only these; all by default"},
    {"runs", FIELD_INTEGER, false, "the last so many runs of each, up to 100; 30 by default"},
    {"all", FIELD_BOOLEAN, false, "inactive ones, too"},
    {"limit", FIELD_INTEGER, false, "the first so many by name; all by default"},
};
static const struct operation_field RESPONSE_ROWS[] = {
    {"states", FIELD_STRINGS, true, "names of states by their number"},
    {"dags", FIELD_ARRAY, true, "dag_id, title, owner, namespace, tags, schedule, status, is_paused, is_scheduled, next_run, "
        "last_at (when the last run began) of each, and of its runs, the oldest first: states (a digit each), "
        "numbers and durations (tenths of a second, -1: not begun)"},
    TOTAL,
};
static const struct operation_field RESPONSE_HOME[] = {
    {"now", FIELD_INSTANT, true, "when this was so"},
    {"since", FIELD_INSTANT, true, "runs that ended from then on are counted: a day ago, or later when there are very many"},
    {"runs", FIELD_OBJECT, true, "how many are in which state; those that go on whenever they began"},
    {"tasks_since", FIELD_INSTANT, true, "the same for tasks"},
    {"tasks", FIELD_OBJECT, true, "how many of the tasks of these runs are in which state"},
    {"hours", FIELD_OBJECT, true, "of the last 24 hours, the oldest first: begin, and by hour how many runs waited, ran, "
        "ended (success, failed, cancelled), and how many deadlines were missed (late)"},
    {"active", FIELD_ARRAY, true, "the newest runs that go on, with tasks_total and tasks_left"},
    {"failing", FIELD_ARRAY, true, "DAGs whose last run that is over failed: the run, and of the task that failed first "
        "task_id, map_index, label, try_number, exit_code, signal, reason and message"},
    {"failed", FIELD_ARRAY, true, "the last runs that failed since"},
    {"late", FIELD_ARRAY, true, "runs that go on and have missed a deadline: expected, misses"},
    {"dags", FIELD_OBJECT, true, "total, active and paused"},
    {"next", FIELD_ARRAY, true, "dag_id and run_after of what starts next by itself"},
    {"hosts", FIELD_ARRAY, true, "as host.list gives them"},
    {"hosts_lost", FIELD_STRINGS, true, "names of daemons that were lost within a day and did not come back"},
    {"pools", FIELD_ARRAY, true, "as pool.list gives them"},
    {"queues", FIELD_ARRAY, true, "as queue.list gives them"},
    {"import_errors", FIELD_INTEGER, true, "DAG files with problems"},
    {"dead_letters", FIELD_INTEGER, true, "jobs and tasks that were given up, at most 10000"},
};
static const struct operation_field REQUEST_GANTT[] = {
    RUN, {"limit", FIELD_INTEGER, false, "at most so many tasks and instances, up to 10000; 1000 by default"},
};
static const struct operation_field RESPONSE_GANTT[] = {
    {"number", FIELD_ID, true, "the run"},
    {"dag_id", FIELD_STRING, true, "its DAG"},
    {"dag_run_id", FIELD_STRING, true, "its name"},
    {"state", FIELD_STRING, true, "of the run"},
    {"queued_at", FIELD_INSTANT, true, "when it was made"},
    {"start_date", FIELD_INSTANT, false, "when its first task started"},
    {"end_date", FIELD_INSTANT, false, "when it ended"},
    {"now", FIELD_INSTANT, true, "until where bars of what runs reach"},
    {"bars", FIELD_ARRAY, true, "by start: task_id, group, map_index, label, state, try_number, queued_when, "
        "start_date, end_date, duration and attempts (earlier ones) of each"},
    TOTAL,
    {"left_out", FIELD_INTEGER, true, "beyond the limit"},
};
static const struct operation_field REQUEST_PREVIEW[] = {
    {"schedule", FIELD_ANY, false, "as in a DAG file: a cron expression, or an object"},
    {"tz", FIELD_STRING, false, "time zone of the schedule; UTC by default"},
    {"dag", FIELD_STRING, false, "instead: the schedule of this DAG"},
    {"count", FIELD_INTEGER, false, "how many ticks, up to 1000; 5 by default"},
    {"from", FIELD_INSTANT, false, "ticks from there on; now by default"},
};
static const struct operation_field RESPONSE_PREVIEW[] = {
    {"dag_id", FIELD_STRING, false, "the DAG"},
    {"schedule", FIELD_ANY, false, "as it was read"},
    {"is_timed", FIELD_BOOLEAN, true, "false: it starts by events or never"},
    {"ticks", FIELD_ARRAY, true, "run_after, logical_date, data_interval_*, local, utc_offset (seconds) and note (when clocks change) of each"},
    TOTAL,
};
static const struct operation_field REQUEST_SEARCH[] = {
    {"q", FIELD_STRING, true, "a part of a name; a number; DAG/RUN_ID"},
    {"kinds", FIELD_STRINGS, false, "only these: dag, tag, task, run, job"},
    {"limit", FIELD_INTEGER, false, "of each kind at most so many, up to 100; 20 by default"},
};
static const struct operation_field RESPONSE_SEARCH[] = {
    {"results", FIELD_ARRAY, true, "kind, name, and what else names it: dag_id, task_id, dag_run_id, number, id, queue, title, state"},
    TOTAL,
};

static const struct operation ROWS[] = {
    {"dag.calendar", "a year of a DAG, day by day", PERMISSION_VIEWER,
        FIELDS(REQUEST_CALENDAR), FIELDS(RESPONSE_CALENDAR), op_dag_calendar, SCOPE_DAG},
    {"dag.grid", "the last runs of a DAG and the states of their tasks, as a matrix",
        PERMISSION_VIEWER, FIELDS(REQUEST_GRID), FIELDS(RESPONSE_GRID), op_dag_grid, SCOPE_DAG},
    {"dag.layout", "a DAG laid out on a plane, with the states of a run if one is named",
        PERMISSION_VIEWER, FIELDS(REQUEST_LAYOUT), FIELDS(RESPONSE_LAYOUT), op_dag_layout, SCOPE_DAG},
    {"dag.rows", "all DAGs with their last runs, in little space", PERMISSION_VIEWER,
        FIELDS(REQUEST_ROWS), FIELDS(RESPONSE_ROWS), op_dag_rows, SCOPE_LIST},
    {"home.show", "what goes on, what ended within a day, what is late and what comes next",
        PERMISSION_VIEWER, NO_FIELDS, FIELDS(RESPONSE_HOME), op_home_show, SCOPE_ANY},
    {"run.gantt", "when each task of a run waited and ran", PERMISSION_VIEWER,
        FIELDS(REQUEST_GANTT), FIELDS(RESPONSE_GANTT), op_run_gantt, SCOPE_RUN},
    {"schedule.preview", "the next ticks of a schedule that may be no DAG's yet",
        PERMISSION_VIEWER, FIELDS(REQUEST_PREVIEW), FIELDS(RESPONSE_PREVIEW), op_schedule_preview, SCOPE_LIST},
    {"search.find", "DAGs, tags, tasks, runs and jobs by a part of their name", PERMISSION_VIEWER,
        FIELDS(REQUEST_SEARCH), FIELDS(RESPONSE_SEARCH), op_search_find, SCOPE_ANY},
    {"task.running", "tasks that hosts run just now, in short", PERMISSION_VIEWER,
        FIELDS(REQUEST_RUNNING), FIELDS(LIST_RUNNING), op_task_running, SCOPE_LIST},
};
/* clang-format on */

const struct operation_table OPERATIONS_VIEWS = {ROWS, ARRAY_LEN(ROWS), &OPERATIONS_USERS};
