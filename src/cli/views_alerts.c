/*
 * Columns of deadlines and messages.
 */
#include "cli/views.h"

#define COLUMNS(table) .columns = (table), .columns_count = ARRAY_LEN(table)

/* Fenced off because a table is read by column. */
/* clang-format off */
static const struct column MISSES[] = {
    {"DAG", "dag_id", COLUMN_TEXT, false},
    {"NUMBER", "number", COLUMN_NUMBER, false},
    {"TASK", "task_id", COLUMN_TEXT, false},
    {"INDEX", "map_index", COLUMN_INDEX, false},
    {"SLA", "sla", COLUMN_TEXT, false},
    {"EXPECTED", "expected", COLUMN_INSTANT, false},
    {"ACTUAL", "actual", COLUMN_INSTANT, false},
    {"LATE BY", "duration", COLUMN_DURATION, false},
    {"NOTIFIED", "notified", COLUMN_TEXT, false},
    {"RUN", "dag_run_id", COLUMN_TEXT, true},
    {"NOTICED", "noticed_at", COLUMN_INSTANT, true},
};
const struct view VIEW_MISSES = {.list = "misses", COLUMNS(MISSES), .name = "number",
    .empty = "nothing was late"};

static const struct column SLAS[] = {
    {"DAG", "dag_id", COLUMN_TEXT, false},
    {"RUNS", "runs", COLUMN_NUMBER, false},
    {"LATE", "late", COLUMN_NUMBER, false},
    {"ON TIME", "on_time_rate", COLUMN_NUMBER, false},
    {"MISSES", "misses", COLUMN_NUMBER, false},
    {"OPEN", "open", COLUMN_NUMBER, false},
    {"WORST", "worst", COLUMN_DURATION, false},
    {"NEXT DEADLINE", "next_deadline", COLUMN_INSTANT, false},
};
const struct view VIEW_SLAS = {.list = "dags", COLUMNS(SLAS), .empty = "no DAG has an sla"};

static const struct column NOTICES[] = {
    {"ID", "id", COLUMN_NUMBER, false},
    {"STATE", "state", COLUMN_STATE, false},
    {"EVENT", "event", COLUMN_TEXT, false},
    {"DAG", "dag_id", COLUMN_TEXT, false},
    {"TASK", "task_id", COLUMN_TEXT, false},
    {"INDEX", "map_index", COLUMN_INDEX, true},
    {"TARGET", "target", COLUMN_TEXT, false},
    {"HAPPENED", "happened_at", COLUMN_INSTANT, false},
    {"TRIES", "attempts", COLUMN_NUMBER, false},
    {"NEXT TRY", "next_try", COLUMN_INSTANT, false},
    {"ANSWER", "answer", COLUMN_TEXT, false},
    {"RUN", "dag_run_id", COLUMN_TEXT, true},
    {"NUMBER", "number", COLUMN_NUMBER, true},
    {"DELIVERY", "delivery", COLUMN_TEXT, true},
    {"WITH", "folded_into", COLUMN_NUMBER, true},
};
const struct view VIEW_NOTICES = {.list = "notices", COLUMNS(NOTICES), .name = "id",
    .empty = "no messages"};
const struct view VIEW_NOTICE = {COLUMNS(NOTICES), .name = "id"};

static const struct column TRIALS[] = {
    {"TARGET", "target", COLUMN_TEXT, false},
    {"CONNECTION", "connection", COLUMN_TEXT, false},
    {"TASK", "task_id", COLUMN_TEXT, false},
    {"STATE", "state", COLUMN_STATE, false},
    {"ANSWER", "answer", COLUMN_TEXT, false},
};
const struct view VIEW_TRIALS = {.list = "results", COLUMNS(TRIALS), .name = "state"};
/* clang-format on */
