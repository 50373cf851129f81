#include <string.h>

#include "expect.h"
#include "service/operations.h"

static void expect_schema(const char *name, const struct operation_schema *schema)
{
    for (size_t i = 0; i < schema->count; i++) {
        const struct operation_field *field = &schema->fields[i];
        cr_assert(field->name != NULL && field->name[0] != '\0', "%s: field %zu", name, i);
        cr_assert(field->doc != NULL && field->doc[0] != '\0', "%s: doc of %s", name, field->name);
        for (size_t k = 0; k < i; k++)
            cr_assert_str_neq(field->name, schema->fields[k].name, "%s: twice %s", name,
                              field->name);
    }
}

static void expect_table(const struct operation_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct operation *row = &table->rows[i];
        const char *dot = strchr(row->name, '.');
        cr_assert(dot != NULL && dot != row->name && dot[1] != '\0', "%s is noun.verb", row->name);
        cr_assert(row->summary != NULL && row->summary[0] != '\0', "%s has a summary", row->name);
        cr_assert(row->permission < PERMISSION_COUNT);
        cr_assert_not_null(row->handler);
        cr_assert_gt(row->response.count, 0, "%s answers something", row->name);
        expect_schema(row->name, &row->request);
        expect_schema(row->name, &row->response);
        if (i > 0)
            cr_assert_lt(strcmp(table->rows[i - 1].name, row->name), 0, "%s is in order",
                         row->name);
    }
}

Test(operations, the_tables_are_sorted_and_complete)
{
    for (const struct operation_table *table = &OPERATIONS; table != NULL; table = table->more)
        expect_table(table);
}
