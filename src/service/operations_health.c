/*
 * Rows of what tells whether work moves, and how much of it.
 */
#include "service/operation_rows.h"
#include "service/operations.h"

/* clang-format off */
static const struct operation_field RECORD_HEALTH[] = {
    {"status", FIELD_STRING, true, "healthy or unhealthy"},
    {"ok", FIELD_BOOLEAN, true, "the same"},
    {"database", FIELD_STRING, true, "healthy, or unhealthy when the store does not answer or its commits fail"},
    {"metadatabase", FIELD_OBJECT, true, "the same as Airflow says it: status"},
    {"scheduler", FIELD_OBJECT, true, "status, latest_heartbeat and, as Airflow says it, latest_scheduler_heartbeat"},
    {"workers", FIELD_OBJECT, true, "active: hosts that work; target: those that the work could use"},
    {"checks", FIELD_ARRAY, true, "what was looked at: name, state, ok, detail, advice of each"},
};
static const struct operation_field RESPONSE_METRICS[] = {
    {"text", FIELD_STRING, true, "in the text format of Prometheus"},
};

static const struct operation ROWS[] = {
    {"health.show", "whether work moves", PERMISSION_VIEWER,
        NO_FIELDS, FIELDS(RECORD_HEALTH), op_health_show, SCOPE_ANY},
    {"metrics.show", "everything that is measured", PERMISSION_VIEWER,
        NO_FIELDS, FIELDS(RESPONSE_METRICS), op_metrics_show, SCOPE_ALL},
};
/* clang-format on */

const struct operation_table OPERATIONS_HEALTH = {ROWS, ARRAY_LEN(ROWS), &OPERATIONS_LISTS};
