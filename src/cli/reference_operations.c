#include "base/attrs.h"
#include "cli/reference.h"
#include "service/operations.h"

static const char *const PERMISSIONS[] = {
#define X(name, text) [PERMISSION_##name] = text,
    PERMISSION_MAP(X)
#undef X
};

static void print_members(FILE *out, const struct operation_schema *schema)
{
    for (size_t i = 0; i < schema->count; i++)
        (void)fprintf(out, "%s`%s%s`", i > 0 ? ", " : "", schema->fields[i].name,
                      schema->fields[i].required ? "" : "?");
}

static void print_operation(FILE *out, const struct operation *row)
{
    (void)fprintf(out, "| `%s` | ", row->name);
    reference_cell(out, row->summary);
    (void)fprintf(out, " | %s | ", PERMISSIONS[row->permission]);
    print_members(out, &row->request);
    (void)fputs(" | ", out);
    print_members(out, &row->response);
    (void)fputs(" |\n", out);
}

void reference_operations(FILE *out)
{
    (void)fputs("| operation | what | who | request | response |\n|---|---|---|---|---|\n", out);
    for (const struct operation_table *table = &OPERATIONS; table != NULL; table = table->more)
        for (size_t i = 0; i < table->count; i++)
            print_operation(out, &table->rows[i]);
}
