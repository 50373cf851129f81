#include "spec/yaml_place.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct yaml_place_entry {
    const json_t *container; /* NULL: free */
    struct yaml_place *items;
    size_t count;
};

void yaml_places_init(struct yaml_places *places)
{
    *places = (struct yaml_places){.arena = arena_new()};
}

void yaml_places_fini(struct yaml_places *places)
{
    arena_free(places->arena);
    free(places->entries);
    *places = (struct yaml_places){0};
}

static struct yaml_place_entry *entry_for(struct yaml_place_entry *entries, size_t capacity,
                                          const json_t *container)
{
    uint64_t hash = (uint64_t)(uintptr_t)container >> 4;
    hash *= 0x9E3779B97F4A7C15u;
    size_t i = (size_t)(hash >> 32) & (capacity - 1);
    while (entries[i].container != NULL && entries[i].container != container)
        i = (i + 1) & (capacity - 1);
    return &entries[i];
}

static void grow(struct yaml_places *places)
{
    size_t capacity = places->capacity > 0 ? places->capacity * 2 : 64;
    struct yaml_place_entry *entries = mem_zalloc(capacity, sizeof *entries);
    for (size_t i = 0; i < places->capacity; i++)
        if (places->entries[i].container != NULL)
            *entry_for(entries, capacity, places->entries[i].container) = places->entries[i];
    free(places->entries);
    places->entries = entries;
    places->capacity = capacity;
}

struct yaml_place *yaml_places_add(struct yaml_places *places, const json_t *container,
                                   size_t count)
{
    if (places->count * 2 >= places->capacity)
        grow(places);
    struct yaml_place_entry *entry = entry_for(places->entries, places->capacity, container);
    places->count += entry->container == NULL;
    *entry = (struct yaml_place_entry){
        .container = container,
        .items = arena_array(places->arena, count, sizeof *entry->items),
        .count = count,
    };
    return entry->items;
}

const struct yaml_place *yaml_places_find(const struct yaml_places *places, const json_t *container,
                                          size_t index)
{
    if (places->count == 0 || container == NULL)
        return NULL;
    const struct yaml_place_entry *entry = entry_for(places->entries, places->capacity, container);
    return index < entry->count ? &entry->items[index] : NULL;
}

/* The line with this number (from 1), or NULL when the source is shorter. */
static const char *find_line(const char *source, int line, size_t *length)
{
    for (int i = 1; i < line; i++) {
        source = strchr(source, '\n');
        if (source == NULL)
            return NULL;
        source++;
    }
    *length = strcspn(source, "\r\n");
    return source;
}

static int characters(const char *text, size_t length)
{
    int count = 0;
    for (size_t i = 0; i < length; i++)
        count += ((unsigned char)text[i] & 0xC0) != 0x80;
    return count;
}

/* The byte at this column (from 1, in characters), or the line's end. */
static const char *at_column(const char *line, size_t length, int column)
{
    size_t i = 0;
    for (int passed = 1; i < length; i++) {
        if (((unsigned char)line[i] & 0xC0) == 0x80)
            continue;
        if (passed++ == column)
            break;
    }
    return line + i;
}

/* Lines of a literal block are the source's lines without their indentation. */
static struct source_span inside_literal(const struct yaml_place *place, const char *value,
                                         size_t offset, const char *source)
{
    size_t line_start = 0;
    int lines = 0;
    for (size_t i = 0; i < offset; i++) {
        if (value[i] == '\n') {
            lines++;
            line_start = i + 1;
        }
    }
    size_t content = strcspn(value + line_start, "\r\n");
    size_t length = 0;
    const char *line = find_line(source, place->value.line + 1 + lines, &length);
    if (line == NULL || length < content ||
        memcmp(line + length - content, value + line_start, content) != 0)
        return place->value;
    size_t before = length - content + (offset - line_start);
    return (struct source_span){
        .line = place->value.line + 1 + lines,
        .column = 1 + characters(line, MIN(before, length)),
        .length = 1,
    };
}

struct source_span yaml_place_inside(const struct yaml_place *place, const char *value,
                                     size_t offset, const char *source)
{
    if (place->style == YAML_STYLE_LITERAL)
        return inside_literal(place, value, offset, source);
    size_t length = 0;
    const char *line = find_line(source, place->value.line, &length);
    if (line == NULL || place->style == YAML_STYLE_OTHER)
        return place->value;
    const char *start = at_column(line, length, place->value.column);
    start += place->style == YAML_STYLE_QUOTED && start < line + length;
    size_t left = (size_t)(line + length - start);
    /* Exact only while nothing before it is escaped or folded. */
    if (offset > left || memcmp(start, value, offset) != 0)
        return place->value;
    struct source_span span = place->value;
    span.column = 1 + characters(line, (size_t)(start + offset - line));
    span.length = 1;
    return span;
}
