#pragma once
/*
 * yaml_place: where the values of a YAML text stand, by container.
 *
 * Ownership  Places of a container live as long as the table.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/json.h"
#include "model/dag_read.h"

enum yaml_style { YAML_STYLE_PLAIN, YAML_STYLE_QUOTED, YAML_STYLE_LITERAL, YAML_STYLE_OTHER };

struct yaml_place {
    struct source_span key; /* line 0 in lists */
    struct source_span value;
    enum yaml_style style;
};

struct yaml_places {
    struct arena *arena;
    struct yaml_place_entry *entries; /* hashed by the container's address */
    size_t capacity;
    size_t count;
};

void yaml_places_init(struct yaml_places *places);
void yaml_places_fini(struct yaml_places *places);

/* Room for the places of the `count` children of a container that is not known yet. */
struct yaml_place *yaml_places_add(struct yaml_places *places, const json_t *container,
                                   size_t count);
/* The child's places, or NULL. */
const struct yaml_place *yaml_places_find(const struct yaml_places *places, const json_t *container,
                                          size_t index);

/* Where byte `offset` of the text value at `place` stands in the source. */
struct source_span yaml_place_inside(const struct yaml_place *place, const char *value,
                                     size_t offset, const char *source);
