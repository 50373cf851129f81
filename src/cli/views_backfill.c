/*
 * Columns of backfills.
 */
#include "cli/views.h"

#define COLUMNS(table) .columns = (table), .columns_count = ARRAY_LEN(table)

/* Fenced off because a table is read by column. */
/* clang-format off */
static const struct column BACKFILLS[] = {
    {"BACKFILL", "backfill", COLUMN_NUMBER, false},
    {"DAG", "dag_id", COLUMN_TEXT, false},
    {"STATE", "state", COLUMN_STATE, false},
    {"FROM", "from", COLUMN_INSTANT, false},
    {"TO", "to", COLUMN_INSTANT, false},
    {"SIZE", "size", COLUMN_NUMBER, false},
    {"DONE", "succeeded", COLUMN_NUMBER, false},
    {"FAILED", "failed", COLUMN_NUMBER, false},
    {"ACTIVE", "active", COLUMN_NUMBER, false},
    {"LEFT", "left", COLUMN_NUMBER, false},
    {"ORDER", "order", COLUMN_TEXT, true},
    {"REDO", "redo", COLUMN_TEXT, true},
    {"QUEUE", "queue", COLUMN_TEXT, true},
    {"CREATED", "created_at", COLUMN_INSTANT, true},
    {"BY", "actor", COLUMN_TEXT, true},
};
const struct view VIEW_BACKFILLS = {.list = "backfills", COLUMNS(BACKFILLS),
    .empty = "no backfills"};

static const struct column BACKFILL[] = {
    {"Backfill", "backfill", COLUMN_NUMBER, false},
    {"DAG", "dag_id", COLUMN_TEXT, false},
    {"Version", "dag_version", COLUMN_NUMBER, false},
    {"State", "state", COLUMN_STATE, false},
    {"Held up", "held_because", COLUMN_TEXT, false},
    {"From", "from", COLUMN_INSTANT, false},
    {"To", "to", COLUMN_INSTANT, false},
    {"Order", "order", COLUMN_TEXT, false},
    {"Redo", "redo", COLUMN_TEXT, false},
    {"At once", "max_active", COLUMN_NUMBER, false},
    {"Queue", "queue", COLUMN_TEXT, false},
    {"Tasks", "tasks", COLUMN_LIST, false},
    {"Params", "params", COLUMN_JSON, false},
    {"Dates", "size", COLUMN_NUMBER, false},
    {"Left out", "left_out", COLUMN_TEXT, false},
    {"Left", "left", COLUMN_NUMBER, false},
    {"Active", "active", COLUMN_NUMBER, false},
    {"Succeeded", "succeeded", COLUMN_NUMBER, false},
    {"Failed", "failed", COLUMN_NUMBER, false},
    {"Cancelled", "cancelled", COLUMN_NUMBER, false},
    {"Runs made", "created", COLUMN_NUMBER, false},
    {"Redone", "redone", COLUMN_NUMBER, false},
    {"Kept", "kept", COLUMN_NUMBER, false},
    {"Estimate left", "estimate_left", COLUMN_DURATION, false},
    {"Created", "created_at", COLUMN_INSTANT, false},
    {"By", "actor", COLUMN_TEXT, false},
    {"Reason", "reason", COLUMN_TEXT, false},
    {"Note", "note", COLUMN_TEXT, false},
    {"Started", "start_date", COLUMN_INSTANT, false},
    {"Ended", "end_date", COLUMN_INSTANT, false},
};
const struct view VIEW_BACKFILL = {COLUMNS(BACKFILL)};

static const struct column DATES[] = {
    {"DATE", "logical_date", COLUMN_INSTANT, false},
    {"STATE", "state", COLUMN_STATE, false},
    {"ACTION", "action", COLUMN_TEXT, false},
    {"NUMBER", "run", COLUMN_NUMBER, false},
    {"RUN", "dag_run_id", COLUMN_TEXT, false},
};
const struct view VIEW_BACKFILL_DATES = {.list = "dates", COLUMNS(DATES),
    .empty = "no date was decided on yet"};

static const struct column PLAN[] = {
    {"DAG", "dag_id", COLUMN_TEXT, false},
    {"Version", "dag_version", COLUMN_NUMBER, false},
    {"Dates", "size", COLUMN_NUMBER, false},
    {"Left out", "left_out", COLUMN_TEXT, false},
    {"First", "from", COLUMN_INSTANT, false},
    {"Last", "to", COLUMN_INSTANT, false},
    {"Order", "order", COLUMN_TEXT, false},
    {"Redo", "redo", COLUMN_TEXT, false},
    {"At once", "max_active", COLUMN_NUMBER, false},
    {"Queue", "queue", COLUMN_TEXT, false},
    {"Tasks", "tasks", COLUMN_LIST, false},
    {"Tasks per run", "tasks_total", COLUMN_NUMBER, false},
    {"To create", "to_create", COLUMN_NUMBER, false},
    {"To redo", "to_redo", COLUMN_NUMBER, false},
    {"To keep", "to_keep", COLUMN_NUMBER, false},
    {"Existing runs", "existing", COLUMN_COUNTS, false},
    {"Usual duration", "usual_duration", COLUMN_DURATION, false},
    {"Estimate", "estimate", COLUMN_DURATION, false},
    {"Needs approval", "needs_approval", COLUMN_TEXT, false},
};
const struct view VIEW_BACKFILL_PLAN = {COLUMNS(PLAN)};
/* clang-format on */
