#include "serve/routes_reference.h"

#include <string.h>

#include "base/attrs.h"
#include "base/str.h"
#include "serve/keyed.h"
#include "serve/openapi.h"
#include "serve/routes.h"
#include "service/operations.h"

/* clang-format off */
static const struct {
    const char *title;
    const char *example;
    const char *prefixes; /* of paths, between blanks; the longest that fits counts */
} GROUPS[] = {
    {"The whole, and pictures", "curl -H \"$AUTH\" \"$API/x/grid/sales?limit=30\"",
        " /api/v1/x/home /api/v1/x/grid /api/v1/x/graph /api/v1/x/gantt /api/v1/x/calendar"
        " /api/v1/x/search /api/v1/x/running /api/v1/x/simulate "},
    {"Why something does or does not run", "curl -H \"$AUTH\" $API/x/explain/runs/17",
        " /api/v1/x/explain "},
    {"Before anything runs",
        "curl -H \"$AUTH\" --json '{\"schedule\": \"30 2 * * *\", \"tz\": \"Europe/Berlin\"}' $API/x/schedule/preview",
        " /api/v1/x/validate /api/v1/x/render /api/v1/x/schedule "},
    {"DAGs", "curl -H \"$AUTH\" --json '{\"conf\": {\"region\": \"eu\"}}' $API/x/dags/sales/trigger",
        " /api/v1/x/dags /api/v1/x/import-errors "},
    {"Runs", "curl -H \"$AUTH\" --json '{\"reason\": \"the source is back\"}' $API/x/runs/17/retry",
        " /api/v1/x/runs "},
    {"Backfills",
        "curl -H \"$AUTH\" --json '{\"dag\": \"sales\", \"from\": \"2026-01-01\", \"to\": \"2026-01-31\"}' $API/x/backfills",
        " /api/v1/x/backfills /api/v1/x/backfill-plan "},
    {"Queues, jobs and dead letters",
        "curl -H \"$AUTH\" --json '{\"queue\": \"mail\", \"jobs\": [{\"handler\": \"send\"}]}' $API/x/jobs",
        " /api/v1/x/queues /api/v1/x/jobs /api/v1/x/dlq /api/v1/x/requeue "},
    {"Hosts", "curl -H \"$AUTH\" -X POST $API/x/hosts/worker-3/drain",
        " /api/v1/x/hosts /api/v1/x/demand "},
    {"Pools and limits", "curl -H \"$AUTH\" -X PATCH --json '{\"slots\": 8}' $API/x/pools/warehouse",
        " /api/v1/x/pools /api/v1/x/limits "},
    {"Variables, connections and secrets",
        "curl -H \"$AUTH\" -X PUT --json '{\"value\": \"blue\"}' $API/x/variables/color",
        " /api/v1/x/variables /api/v1/x/connections /api/v1/x/secrets "},
    {"Datasets and webhooks",
        "curl -H \"$AUTH\" -X POST $API/x/assets/warehouse%3A%2F%2Fmart%2Forders/events",
        " /api/v1/x/assets /api/v1/lineage /api/v1/x/webhooks /hooks "},
    {"Deadlines, messages and the audit", "curl -H \"$AUTH\" \"$API/x/audit?dag=sales\"",
        " /api/v1/x/sla /api/v1/x/notifications /api/v1/x/audit "},
    {"People and programs", "curl -H \"$AUTH\" $API/x/me",
        " /api/v1/x/login /api/v1/x/logout /api/v1/x/me /api/v1/x/users /api/v1/x/tokens"
        " /api/v1/x/namespaces /login "},
    {"The server, its settings and its store", "curl -H \"$AUTH\" $API/x/doctor",
        " /api/v1/x/config /api/v1/x/doctor /api/v1/x/store /api/v1/x/prune /api/v1/version"
        " /api/v1/health /api/v1/openapi.json /api/v1/x/ping /healthz /readyz /metrics "},
    {"Events, logs and workers", "curl -N -H \"$AUTH\" $API/x/events", " /api/v1/x "},
    {"As Airflow has them",
        "curl -H \"$AUTH\" --json '{\"conf\": {}}' $API/dags/sales/dagRuns", " / "},
};
/* clang-format on */

/* How much of the path the prefix is; 0: it is none. */
static size_t match(const char *prefixes, const char *path)
{
    size_t longest = 0;
    for (const char *at = prefixes + strspn(prefixes, " "); *at != '\0'; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        bool fits = strncmp(path, at, length) == 0 &&
                    (length == 1 || path[length] == '\0' || path[length] == '/');
        if (fits && length > longest)
            longest = length;
        at += length;
    }
    return longest;
}

static size_t group_of(const char *path)
{
    size_t best = 0;
    size_t longest = 0;
    for (size_t i = 0; i < ARRAY_LEN(GROUPS); i++) {
        size_t length = match(GROUPS[i].prefixes, path);
        if (length > longest) {
            longest = length;
            best = i;
        }
    }
    return best;
}

static void print_cell(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '|')
            (void)fputc('\\', out);
        (void)fputc(*text, out);
    }
}

/* --- members --------------------------------------------------------------------------------- */

static void print_name(FILE *out, const char *name, bool is_required, bool *is_first)
{
    (void)fprintf(out, "%s`%s%s`", *is_first ? "" : ", ", name, is_required ? "" : "?");
    *is_first = false;
}

static void print_query(FILE *out, const struct route *route, const json_t *entry)
{
    bool is_first = true;
    size_t i;
    json_t *parameter;
    json_array_foreach(json_object_get(entry, "parameters"), i, parameter)
    {
        if (str_equal(json_get_string(parameter, "in", ""), "query"))
            print_name(out, json_get_string(parameter, "name", ""),
                       json_get_bool(parameter, "required", false), &is_first);
    }
    if (keyed_covers(route))
        print_name(out, KEYED_HEADER, false, &is_first);
}

static bool has_name(const json_t *names, const char *wanted)
{
    size_t i;
    json_t *name;
    json_array_foreach(names, i, name) if (str_equal(json_string_value(name), wanted)) return true;
    return false;
}

/* Of a request body or an answer. */
static void print_content(FILE *out, const json_t *holder)
{
    const json_t *media = json_object_get(json_object_get(holder, "content"), "application/json");
    const json_t *schema = json_object_get(media, "schema");
    bool is_first = true;
    const char *name;
    json_t *property;
    json_object_foreach(json_object_get(schema, "properties"), name, property)
    {
        if (json_get_bool(property, "x-ignored", false))
            continue;
        print_name(out, name, has_name(json_object_get(schema, "required"), name), &is_first);
    }
}

/* --- rows ------------------------------------------------------------------------------------ */

static const json_t *success_of(const json_t *entry)
{
    const char *status;
    json_t *answer;
    json_object_foreach(json_object_get(entry, "responses"), status, answer)
    {
        if (status[0] == '2')
            return answer;
    }
    return NULL;
}

static void print_row(FILE *out, const struct route *route, const json_t *entry)
{
    bool is_public = json_object_get(entry, "security") != NULL;
    (void)fprintf(out, "| `%s %s` | ", http_method_name(route->method), route->pattern);
    print_cell(out, json_get_string(entry, "summary", ""));
    (void)fprintf(out, " | %s | ",
                  is_public ? "anybody"
                            : json_get_string(entry, "x-permission", "who is signed in"));
    print_query(out, route, entry);
    (void)fputs(" | ", out);
    print_content(out, json_object_get(entry, "requestBody"));
    (void)fputs(" | ", out);
    print_content(out, success_of(entry));
    (void)fputs(" |\n", out);
}

static const json_t *entry_of(const json_t *paths, const struct route *route)
{
    char method[8] = "";
    const char *name = http_method_name(route->method);
    for (size_t i = 0; name[i] != '\0'; i++)
        method[i] = (char)(name[i] | 0x20);
    return json_object_get(json_object_get(paths, route->pattern), method);
}

static void print_group(FILE *out, const struct route_table *table, const json_t *paths,
                        size_t group)
{
    bool is_first = true;
    for (size_t i = 0; i < table->count; i++) {
        const struct route *route = &table->rows[i];
        if (route->is_ui || str_starts_with(route->pattern, OPERATIONS_PATH) ||
            group_of(route->pattern) != group)
            continue;
        if (is_first)
            (void)fprintf(out,
                          "\n## %s\n\n```\n%s\n```\n\n| request | what | who | query | body | "
                          "answer |\n|---|---|---|---|---|---|\n",
                          GROUPS[group].title, GROUPS[group].example);
        is_first = false;
        print_row(out, route, entry_of(paths, route));
    }
}

void routes_reference(FILE *out)
{
    struct route_table *table = routes_new();
    CLEANUP(json_decrefp) json_t *document = openapi_document(table);
    for (size_t group = 0; group < ARRAY_LEN(GROUPS); group++)
        print_group(out, table, json_object_get(document, "paths"), group);
    routes_free(table);
}
