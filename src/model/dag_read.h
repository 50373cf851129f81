#pragma once
/*
 * dag_read: a JSON tree to a DAG, with every problem reported at its place.
 *
 * The tree is what a YAML file, an API body or a stored version holds. Reading
 * is driven by the tables of dag_fields.h: keys, aliases, types and bounds are stated there.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/attrs.h"
#include "base/json.h"
#include "model/dag.h"
#include "model/diag.h"
#include "model/zone.h"

struct source_span {
    int line;   /* from 1; 0: unknown */
    int column; /* from 1, in characters */
    int length;
};

/*
 * Where the tree's values stood. Children are addressed by container and index, because
 * true, false and null are shared values; `of_key` asks for the key of an object's member.
 */
struct dag_locator {
    const void *context;
    struct source_span (*find)(const void *context, const json_t *container, size_t index,
                               bool of_key);
    /* Byte `offset` of a text value. */
    struct source_span (*find_inside)(const void *context, const json_t *container, size_t index,
                                      size_t offset);
    /* Whether the lines of a text value begin on the line below its place, as in a block. */
    bool (*is_below)(const void *context, const json_t *container, size_t index);
};

struct dag_read_options {
    const char *default_id;            /* when the tree names none; NULL: it must */
    const char *refused_id;            /* what would be it, were it a name; NULL: nothing */
    const struct dag_locator *locator; /* NULL: places are unknown */
    struct source_span place;          /* of the tree as a whole */
    /*
     * To check the schedule with. NULL: it is kept as it is, for a version that was checked when
     * it was stored: its runs must stay readable on a machine without that zone.
     */
    zone_reader zones;
};

/*
 * The DAG, or NULL if there were errors. Problems are added to `diags`, warnings too; the tree
 * is borrowed for the call.
 */
NODISCARD struct dag *dag_read(const json_t *tree, const struct dag_read_options *options,
                               struct diag_list *diags);
