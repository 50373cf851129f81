/*
 * Any bytes as a DAG file: problems are reported, what is good is written and read back.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/json.h"
#include "base/strbuf.h"
#include "model/dag_read.h"
#include "model/dag_write.h"
#include "spec/diag_render.h"
#include "spec/spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_back(const struct dag *dag)
{
    json_t *tree = dag_write(dag);
    struct diag_list diags = {0};
    struct dag *again = dag_read(tree, &(struct dag_read_options){.default_id = NULL}, &diags);
    CHECK(again != NULL);
    char first[SHA256_HEX_MAX];
    char second[SHA256_HEX_MAX];
    CHECK(strcmp(dag_hash(dag, first), dag_hash(again, second)) == 0);
    dag_free(again);
    diag_list_fini(&diags);
    json_decref(tree);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct spec_file *file = spec_load_text("fuzz.yaml", (const char *)data, size);
    struct strbuf out;
    strbuf_init(&out, 1 << 20);
    diag_render_list(&file->diags,
                     &(struct diag_source){.path = file->path, .text = file->text, .colour = true},
                     &out);
    strbuf_fini(&out);
    for (size_t i = 0; i < file->dags_count; i++)
        if (file->dags[i] != NULL)
            read_back(file->dags[i]);
    spec_file_free(file);
    return 0;
}
