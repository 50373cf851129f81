/*
 * Columns of users, tokens and namespaces.
 */
#include "cli/views.h"

#define COLUMNS(table) .columns = (table), .columns_count = ARRAY_LEN(table)

/* Fenced off because a table is read by column. */
/* clang-format off */
static const struct column USERS[] = {
    {"NAME", "name", COLUMN_TEXT, false},
    {"ROLES", "roles", COLUMN_TEXT, false},
    {"PASSWORD", "has_password", COLUMN_TEXT, false},
    {"DISABLED", "disabled", COLUMN_TEXT, false},
    {"CREATED", "created_at", COLUMN_INSTANT, true},
    {"BY", "created_by", COLUMN_TEXT, true},
};
const struct view VIEW_USERS = {.list = "users", COLUMNS(USERS), .empty = "no users"};

static const struct column USER[] = {
    {"Name", "name", COLUMN_TEXT, false},
    {"Roles", "roles", COLUMN_TEXT, false},
    {"Password", "has_password", COLUMN_TEXT, false},
    {"Disabled", "disabled", COLUMN_TEXT, false},
    {"Created", "created_at", COLUMN_INSTANT, false},
    {"By", "created_by", COLUMN_TEXT, false},
};
const struct view VIEW_USER = {COLUMNS(USER)};

static const struct column TOKENS[] = {
    {"ID", "id", COLUMN_TEXT, false},
    {"NAME", "name", COLUMN_TEXT, false},
    {"OWNER", "owner", COLUMN_TEXT, false},
    {"KIND", "kind", COLUMN_TEXT, false},
    {"ROLES", "roles", COLUMN_TEXT, false},
    {"QUEUES", "queues", COLUMN_LIST, false},
    {"EXPIRES", "expires_at", COLUMN_INSTANT, false},
    {"USED", "last_used", COLUMN_INSTANT, false},
    {"CREATED", "created_at", COLUMN_INSTANT, true},
    {"BY", "created_by", COLUMN_TEXT, true},
};
const struct view VIEW_TOKENS = {.list = "tokens", COLUMNS(TOKENS), .empty = "no tokens"};

static const struct column TOKEN[] = {
    {"Id", "id", COLUMN_TEXT, false},
    {"Name", "name", COLUMN_TEXT, false},
    {"Owner", "owner", COLUMN_TEXT, false},
    {"Kind", "kind", COLUMN_TEXT, false},
    {"Roles", "roles", COLUMN_TEXT, false},
    {"Queues", "queues", COLUMN_LIST, false},
    {"Expires", "expires_at", COLUMN_INSTANT, false},
    {"Token", "token", COLUMN_TEXT, false},
};
/* It is told only once, so that is what whoever makes it wants to have. */
const struct view VIEW_TOKEN = {COLUMNS(TOKEN), .name = "token"};

static const struct column NAMESPACES[] = {
    {"NAME", "name", COLUMN_TEXT, false},
    {"DAGS", "dags", COLUMN_NUMBER, false},
    {"POOLS", "pools", COLUMN_NUMBER, false},
    {"VARIABLES", "variables", COLUMN_NUMBER, false},
    {"CONNECTIONS", "connections", COLUMN_NUMBER, false},
    {"SECRETS", "secrets", COLUMN_NUMBER, false},
    {"DOC", "doc", COLUMN_TEXT, false},
    {"CREATED", "created_at", COLUMN_INSTANT, true},
    {"BY", "created_by", COLUMN_TEXT, true},
};
const struct view VIEW_NAMESPACES = {
    .list = "namespaces", COLUMNS(NAMESPACES), .empty = "no namespaces"};

static const struct column NAMESPACE[] = {
    {"Name", "name", COLUMN_TEXT, false},
    {"DAGs", "dags", COLUMN_NUMBER, false},
    {"Pools", "pools", COLUMN_NUMBER, false},
    {"Doc", "doc", COLUMN_TEXT, false},
    {"Created", "created_at", COLUMN_INSTANT, false},
    {"By", "created_by", COLUMN_TEXT, false},
};
const struct view VIEW_NAMESPACE = {COLUMNS(NAMESPACE)};
/* clang-format on */
