/*
 * Columns of datasets and webhooks.
 */
#include "cli/views.h"

#define COLUMNS(table) .columns = (table), .columns_count = ARRAY_LEN(table)

/* Fenced off because a table is read by column. */
/* clang-format off */
static const struct column ASSETS[] = {
    {"URI", "uri", COLUMN_TEXT, false},
    {"UPDATES", "updates", COLUMN_NUMBER, false},
    {"LAST UPDATE", "last_update", COLUMN_INSTANT, false},
    {"WAITERS", "waiters", COLUMN_NUMBER, false},
    {"CREATED", "created_at", COLUMN_INSTANT, true},
};
const struct view VIEW_ASSETS = {.list = "assets", COLUMNS(ASSETS), .empty = "no datasets"};

static const struct column ASSET[] = {
    {"URI", "uri", COLUMN_TEXT, false},
    {"Updates", "updates", COLUMN_NUMBER, false},
    {"Last update", "last_update", COLUMN_INSTANT, false},
    {"Waiting DAGs", "waiting_dags", COLUMN_RECORDS, false},
    {"Events", "events", COLUMN_RECORDS, false},
};
const struct view VIEW_ASSET = {COLUMNS(ASSET)};

static const struct column LINEAGE[] = {
    {"Dataset", "dataset", COLUMN_TEXT, false},
    {"Made of", "upstream_datasets", COLUMN_RECORDS, false},
    {"By", "transformations", COLUMN_RECORDS, false},
    {"Used for", "downstream_datasets", COLUMN_RECORDS, false},
};
const struct view VIEW_LINEAGE = {COLUMNS(LINEAGE)};

static const struct column WEBHOOKS[] = {
    {"ID", "id", COLUMN_NUMBER, false},
    {"DAG", "dag_id", COLUMN_TEXT, false},
    {"NAME", "name", COLUMN_TEXT, false},
    {"CALLS", "calls", COLUMN_NUMBER, false},
    {"LAST USED", "last_used", COLUMN_INSTANT, false},
    {"CREATED", "created_at", COLUMN_INSTANT, false},
    {"BY", "created_by", COLUMN_TEXT, true},
    {"ASKED", "asked", COLUMN_TEXT, true},
};
const struct view VIEW_WEBHOOKS = {.list = "webhooks", COLUMNS(WEBHOOKS), .empty = "no webhooks"};

static const struct column WEBHOOK[] = {
    {"Id", "id", COLUMN_TEXT, false},
    {"DAG", "dag_id", COLUMN_TEXT, false},
    {"Name", "name", COLUMN_TEXT, false},
    {"Token", "token", COLUMN_TEXT, false},
    {"Calls", "calls", COLUMN_NUMBER, false},
    {"Last used", "last_used", COLUMN_INSTANT, false},
    {"Created", "created_at", COLUMN_INSTANT, false},
};
const struct view VIEW_WEBHOOK = {COLUMNS(WEBHOOK)};
/* Its token is told only once, so that is what whoever makes it wants to have. */
const struct view VIEW_WEBHOOK_MADE = {COLUMNS(WEBHOOK), .name = "token"};
/* clang-format on */
