/*
 * dag_read_files: the files that tasks name, as the canonical form lists them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/sha256.h"
#include "model/dag_read_priv.h"

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct named_file *)a)->name, ((const struct named_file *)b)->name);
}

void reader_files(struct reader *r, struct spot spot, const json_t *value)
{
    struct dag *dag = r->dag;
    if (!json_is_object(value)) {
        reader_mismatch(r, spot, "files", "a map from name to hash", value);
        return;
    }
    dag->files = arena_array(dag->arena, json_object_size(value) + 1, sizeof *dag->files);
    struct spot at = {value, 0};
    for (READER_EACH(value, iter, at)) {
        const char *hash = json_string_value(json_object_iter_value(iter));
        if (hash == NULL || strlen(hash) != SHA256_HEX_MAX - 1) {
            reader_problem(r, at, "'files': '%.60s' has no hash", json_object_iter_key(iter));
            continue;
        }
        dag->files[dag->files_count++] = (struct named_file){
            .name = arena_strdup(dag->arena, json_object_iter_key(iter)),
            .hash = arena_strdup(dag->arena, hash),
        };
    }
    if (dag->files_count > 0)
        qsort(dag->files, dag->files_count, sizeof *dag->files, by_name);
}
