/*
 * Columns of variables, connections and secrets.
 */
#include "cli/views.h"

#define COLUMNS(table) .columns = (table), .columns_count = ARRAY_LEN(table)

/* Fenced off because a table is read by column. */
/* clang-format off */
static const struct column VARIABLES[] = {
    {"NAME", "name", COLUMN_TEXT, false},
    {"VALUE", "value", COLUMN_TEXT, false},
    {"NAMESPACE", "namespace", COLUMN_TEXT, false},
    {"SOURCE", "source", COLUMN_TEXT, false},
    {"PLACE", "place", COLUMN_TEXT, false},
    {"HIDDEN", "hidden", COLUMN_TEXT, true},
    {"UPDATED", "updated_at", COLUMN_INSTANT, true},
    {"BY", "updated_by", COLUMN_TEXT, true},
    {"DOC", "doc", COLUMN_TEXT, true},
};
const struct view VIEW_VARIABLES = {
    .list = "variables", COLUMNS(VARIABLES), .empty = "no variables"};

static const struct column VARIABLE[] = {
    {"Name", "name", COLUMN_TEXT, false},
    {"Value", "value", COLUMN_TEXT, false},
    {"Namespace", "namespace", COLUMN_TEXT, false},
    {"Source", "source", COLUMN_TEXT, false},
    {"Place", "place", COLUMN_TEXT, false},
    {"Updated", "updated_at", COLUMN_INSTANT, false},
    {"By", "updated_by", COLUMN_TEXT, false},
    {"Doc", "doc", COLUMN_TEXT, false},
};
const struct view VIEW_VARIABLE = {COLUMNS(VARIABLE)};

static const struct column CONNECTIONS[] = {
    {"NAME", "name", COLUMN_TEXT, false},
    {"TYPE", "value.type", COLUMN_TEXT, false},
    {"HOST", "value.host", COLUMN_TEXT, false},
    {"PORT", "value.port", COLUMN_NUMBER, false},
    {"LOGIN", "value.login", COLUMN_TEXT, false},
    {"NAMESPACE", "namespace", COLUMN_TEXT, false},
    {"SOURCE", "source", COLUMN_TEXT, false},
    {"PLACE", "place", COLUMN_TEXT, false},
    {"PROBLEM", "problem", COLUMN_TEXT, false},
    {"SCHEMA", "value.schema", COLUMN_TEXT, true},
    {"HIDDEN", "hidden", COLUMN_TEXT, true},
    {"KEY", "key_id", COLUMN_TEXT, true},
    {"UPDATED", "updated_at", COLUMN_INSTANT, true},
    {"BY", "updated_by", COLUMN_TEXT, true},
    {"DOC", "doc", COLUMN_TEXT, true},
};
const struct view VIEW_CONNECTIONS = {
    .list = "connections", COLUMNS(CONNECTIONS), .empty = "no connections"};

static const struct column CONNECTION[] = {
    {"Name", "name", COLUMN_TEXT, false},
    {"Type", "value.type", COLUMN_TEXT, false},
    {"Host", "value.host", COLUMN_TEXT, false},
    {"Port", "value.port", COLUMN_NUMBER, false},
    {"Login", "value.login", COLUMN_TEXT, false},
    {"Password", "value.password", COLUMN_TEXT, false},
    {"Schema", "value.schema", COLUMN_TEXT, false},
    {"Extra", "value.extra", COLUMN_JSON, false},
    {"Namespace", "namespace", COLUMN_TEXT, false},
    {"Source", "source", COLUMN_TEXT, false},
    {"Place", "place", COLUMN_TEXT, false},
    {"Problem", "problem", COLUMN_TEXT, false},
    {"Key", "key_id", COLUMN_TEXT, false},
    {"Updated", "updated_at", COLUMN_INSTANT, false},
    {"By", "updated_by", COLUMN_TEXT, false},
    {"Doc", "doc", COLUMN_TEXT, false},
};
const struct view VIEW_CONNECTION = {COLUMNS(CONNECTION)};

static const struct column CONNECTION_TEST[] = {
    {"Name", "name", COLUMN_TEXT, false},
    {"Host", "host", COLUMN_TEXT, false},
    {"Port", "port", COLUMN_NUMBER, false},
    {"Answer", "detail", COLUMN_TEXT, false},
    {"Took", "duration", COLUMN_DURATION, false},
};
const struct view VIEW_CONNECTION_TEST = {COLUMNS(CONNECTION_TEST)};

static const struct column SECRETS[] = {
    {"NAME", "name", COLUMN_TEXT, false},
    {"NAMESPACE", "namespace", COLUMN_TEXT, false},
    {"SOURCE", "source", COLUMN_TEXT, false},
    {"PLACE", "place", COLUMN_TEXT, false},
    {"UPDATED", "updated_at", COLUMN_INSTANT, false},
    {"BY", "updated_by", COLUMN_TEXT, false},
    {"KEY", "key_id", COLUMN_TEXT, false},
    {"HIDDEN", "hidden", COLUMN_TEXT, true},
    {"DOC", "doc", COLUMN_TEXT, true},
};
const struct view VIEW_SECRETS = {.list = "secrets", COLUMNS(SECRETS), .empty = "no secrets"};

static const struct column SECRET[] = {
    {"Name", "name", COLUMN_TEXT, false},
    {"Namespace", "namespace", COLUMN_TEXT, false},
    {"Source", "source", COLUMN_TEXT, false},
    {"Place", "place", COLUMN_TEXT, false},
    {"Updated", "updated_at", COLUMN_INSTANT, false},
    {"By", "updated_by", COLUMN_TEXT, false},
    {"Key", "key_id", COLUMN_TEXT, false},
    {"Doc", "doc", COLUMN_TEXT, false},
};
const struct view VIEW_SECRET = {COLUMNS(SECRET)};

static const struct column ROTATION[] = {
    {"Sealed anew", "resealed", COLUMN_NUMBER, false},
    {"Had it already", "current", COLUMN_NUMBER, false},
    {"Key", "key_id", COLUMN_TEXT, false},
};
const struct view VIEW_ROTATION = {COLUMNS(ROTATION)};

static const struct column DELETED[] = {
    {"Name", "name", COLUMN_TEXT, false},
    {"Namespace", "namespace", COLUMN_TEXT, false},
};
const struct view VIEW_VAULT_DELETED = {COLUMNS(DELETED)};
/* clang-format on */
