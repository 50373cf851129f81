#pragma once
/*
 * read_dag: a struct dag from its JSON, for tests; it must be one without mistakes.
 */
#include <string.h>

#include "expect.h"
#include "model/dag_read.h"

static inline struct dag *read_dag(const char *text)
{
    struct err err = {0};
    CLEANUP(json_decrefp) json_t *tree = NULL;
    CLEANUP(diag_list_fini) struct diag_list diags = {0};
    EXPECT_OK(json_parse(text, strlen(text), &tree, &err), &err);
    struct dag *dag = dag_read(tree, &(struct dag_read_options){.default_id = "d"}, &diags);
    cr_assert_not_null(dag, "%s", diags.count > 0 ? diags.items[0].text : "no DAG");
    return dag;
}
