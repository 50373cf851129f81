/*
 * Parameters: three lines, the declaration of `p`, the values given, an assignment.
 */
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "fuzz.h"
#include "model/params.h"

/* The next line of *cursor, which moves past it. */
static const char *next_line(char **cursor)
{
    char *line = *cursor;
    char *end = strchrnul(line, '\n');
    *cursor = *end != '\0' ? end + 1 : end;
    *end = '\0';
    return line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(mem_freep) char *text = mem_strndup((const char *)data, size);
    char *cursor = text;
    const char *declaration = next_line(&cursor);
    const char *values = next_line(&cursor);
    const char *assignment = next_line(&cursor);
    CLEANUP(json_decrefp) json_t *schema = NULL;
    CLEANUP(json_decrefp) json_t *given = NULL;
    CLEANUP(json_decrefp) json_t *out = NULL;
    CLEANUP(json_decrefp) json_t *into = json_object();
    struct err err = {0};
    if (json_parse(declaration, strlen(declaration), &schema, &err) != STATUS_OK ||
        params_check_declaration(schema, &err) != STATUS_OK)
        return 0;
    struct param param = {.name = "p", .type = params_declared_type(schema), .schema = schema};
    struct dag dag = {.params = &param, .params_count = 1};
    if (json_object_get(schema, "default") != NULL) {
        json_t *defaults = NULL;
        CHECK(params_resolve(&dag, NULL, &defaults, &err) == STATUS_OK);
        json_decref(defaults);
    }
    if (json_parse(values, strlen(values), &given, &err) == STATUS_OK &&
        params_resolve(&dag, given, &out, &err) == STATUS_OK)
        CHECK(json_object_size(out) == 1);
    if (params_parse_assignment(&dag, assignment, into, &err) == STATUS_OK) {
        json_t *resolved = NULL;
        CHECK(params_resolve(&dag, into, &resolved, &err) == STATUS_OK);
        json_decref(resolved);
    }
    return 0;
}
