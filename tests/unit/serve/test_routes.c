#include <string.h>

#include "base/str.h"
#include "expect.h"
#include "serve/keyed.h"
#include "serve/openapi.h"
#include "serve/routes.h"
#include "service/operations.h"

Test(routes, every_row_says_who_may_come_in_and_what_it_does)
{
    struct route_table *table = routes_new();
    for (size_t i = 0; i < table->count; i++) {
        const struct route *row = &table->rows[i];
        cr_expect_neq(row->access, ROUTE_CLOSED, "%s", row->pattern);
        cr_expect(row->operation != NULL || row->handle != NULL, "%s", row->pattern);
        cr_expect(row->operation != NULL || row->summary != NULL, "%s", row->pattern);
        if (row->operation != NULL)
            cr_expect_not_null(operation_find(&OPERATIONS, row->operation), "%s", row->operation);
        else if (row->access == ROUTE_PERMISSION)
            cr_expect_neq(row->permission, PERMISSION_NONE, "%s", row->pattern);
    }
    routes_free(table);
}

Test(routes, no_get_changes_anything)
{
    struct route_table *table = routes_new();
    for (size_t i = 0; i < table->count; i++) {
        const struct route *row = &table->rows[i];
        if (http_method_changes(row->method) || row->operation == NULL)
            continue;
        bool is_list = str_ends_with(row->operation, ".list");
        cr_expect(is_list ||
                      operation_find(&OPERATIONS, row->operation)->permission == PERMISSION_VIEWER,
                  "%s", row->pattern);
    }
    routes_free(table);
}

Test(routes, keys_are_taken_from_who_is_known_and_for_changes)
{
    struct route_table *table = routes_new();
    for (size_t i = 0; i < table->count; i++) {
        const struct route *row = &table->rows[i];
        cr_expect(!row->takes_key || row->operation == NULL, "%s: the operation says",
                  row->pattern);
        if (!keyed_covers(row))
            continue;
        cr_expect(http_method_changes(row->method), "%s", row->pattern);
        cr_expect_eq(row->access, ROUTE_PERMISSION, "%s", row->pattern);
        cr_expect(row->handle == NULL || row->operation == NULL, "%s", row->pattern);
    }
    routes_free(table);
}

Test(routes, every_operation_has_a_permission)
{
    for (const struct operation_table *at = &OPERATIONS; at != NULL; at = at->more)
        for (size_t i = 0; i < at->count; i++)
            cr_expect_neq(at->rows[i].permission, PERMISSION_NONE, "%s", at->rows[i].name);
}

Test(routes, all_are_described)
{
    struct route_table *table = routes_new();
    CLEANUP(json_decrefp) json_t *document = openapi_document(table);
    const json_t *paths = json_object_get(document, "paths");
    for (size_t i = 0; i < table->count; i++) {
        char method[8] = "";
        const char *name = http_method_name(table->rows[i].method);
        for (size_t at = 0; name[at] != '\0'; at++)
            method[at] = (char)(name[at] | 0x20);
        const json_t *entry =
            json_object_get(json_object_get(paths, table->rows[i].pattern), method);
        if (table->rows[i].is_ui) {
            cr_expect_null(entry, "%s is no part of the API", table->rows[i].pattern);
            continue;
        }
        cr_expect_not_null(entry, "%s %s", method, table->rows[i].pattern);
        cr_expect(json_is_string(json_object_get(entry, "summary")), "%s", table->rows[i].pattern);
    }
    routes_free(table);
}

static bool is_described(const json_t *document, const struct route *row, const char *status)
{
    char method[8] = "";
    const char *name = http_method_name(row->method);
    for (size_t at = 0; name[at] != '\0'; at++)
        method[at] = (char)(name[at] | 0x20);
    const json_t *entry =
        json_object_get(json_object_get(json_object_get(document, "paths"), row->pattern), method);
    return json_object_get(json_object_get(entry, "responses"), status) != NULL;
}

Test(routes, the_answers_of_all_are_described)
{
    struct route_table *table = routes_new();
    CLEANUP(json_decrefp) json_t *document = openapi_document(table);
    for (size_t i = 0; i < table->count; i++) {
        const struct route *row = &table->rows[i];
        if (row->is_ui)
            continue;
        char success[8];
        (void)snprintf(success, sizeof success, "%d", row->status != 0 ? row->status : 200);
        cr_expect(is_described(document, row, success), "%s", row->pattern);
        bool asks_who = row->access != ROUTE_PUBLIC;
        for (const char *const *status = (const char *const[]){"401", "403", "429", NULL};
             asks_who && *status != NULL; status++)
            cr_expect(is_described(document, row, *status), "%s: %s", row->pattern, *status);
        if (asks_who && strchr(row->pattern, '{') != NULL)
            cr_expect(is_described(document, row, "404"), "%s", row->pattern);
        cr_expect(!is_described(document, row, "default"), "%s", row->pattern);
    }
    routes_free(table);
}
