#include "serve/routes.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "service/operations.h"

static const struct route_table *const PARTS[] = {
    &ROUTES_AIRFLOW_AROUND, &ROUTES_AIRFLOW_DAGS, &ROUTES_AIRFLOW_TASKS,
    &ROUTES_SIGN_IN,        &ROUTES_SERVER,       &ROUTES_NATIVE,
    &ROUTES_NATIVE_AROUND,  &ROUTES_LIVE,         &ROUTES_LOG,
    &ROUTES_HOOK,           &ROUTES_WORKER,       &ROUTES_UI,
};

static size_t count_rows(void)
{
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(PARTS); i++)
        count += PARTS[i]->count;
    for (const struct operation_table *at = &OPERATIONS; at != NULL; at = at->more)
        count += at->count;
    return count;
}

static struct route route_of(const struct operation *operation)
{
    return (struct route){
        .method = HTTP_POST,
        .pattern = mem_format("%s%s", OPERATIONS_PATH, operation->name),
        .access = ROUTE_PERMISSION,
        .operation = operation->name,
    };
}

struct route_table *routes_new(void)
{
    struct route_table *table = mem_zalloc(1, sizeof *table);
    struct route *rows = mem_zalloc(count_rows(), sizeof *rows);
    table->rows = rows;
    for (size_t i = 0; i < ARRAY_LEN(PARTS); i++)
        for (size_t j = 0; j < PARTS[i]->count; j++)
            rows[table->count++] = PARTS[i]->rows[j];
    for (const struct operation_table *at = &OPERATIONS; at != NULL; at = at->more)
        for (size_t i = 0; i < at->count; i++)
            rows[table->count++] = route_of(&at->rows[i]);
    return table;
}

/* Only the rows of operations have patterns of their own. */
void routes_free(struct route_table *table)
{
    if (table == NULL)
        return;
    for (size_t i = 0; i < table->count; i++)
        if (strncmp(table->rows[i].pattern, OPERATIONS_PATH, strlen(OPERATIONS_PATH)) == 0)
            free((void *)(uintptr_t)table->rows[i].pattern);
    free((void *)(uintptr_t)table->rows);
    free(table);
}
