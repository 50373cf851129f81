/*
 * yaml_tree: libyaml's events, folded into JSON values.
 *
 * A stack of open containers; the finished children of all of them wait in one array, each
 * container knowing where its own begin. When a container ends, its children become a JSON
 * value and are replaced by that one child of the container around it.
 */
#include "spec/yaml_tree.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "model/limits.h"
#include "spec/yaml_place.h"
#include "spec/yaml_scalar.h"

struct yaml_tree {
    const char *text;
    json_t *documents;
    struct yaml_places places;
};

struct child {
    const char *key; /* NULL in lists */
    json_t *value;   /* owned */
    struct yaml_place place;
    size_t nodes; /* values in it, aliases written out */
    int height;   /* containers nested in it */
};

struct frame {
    bool is_map;
    bool has_key; /* the next child is the value of `key` */
    size_t first; /* in children */
    int64_t anchor;
    const char *key;
    struct source_span key_span;
    struct source_span span;
};

struct anchor {
    json_t *value; /* owned; NULL while it is being built */
    size_t nodes;
    int height;
};

struct builder {
    struct yaml_tree *tree;
    struct diag_list *diags;
    struct child *children;
    size_t children_count;
    size_t children_capacity;
    struct frame frames[LIMIT_YAML_DEPTH];
    size_t depth;
    struct strmap *anchor_names;
    struct anchor *anchors;
    size_t anchors_count;
    size_t anchors_capacity;
    size_t nodes;
    bool stopped; /* a problem after which going on makes no sense */
};

static struct source_span span_of(const yaml_mark_t *start, const yaml_mark_t *end)
{
    size_t length = start->line == end->line ? end->column - start->column : 1;
    return (struct source_span){
        .line = (int)start->line + 1,
        .column = (int)start->column + 1,
        .length = (int)MAX(length, (size_t)1),
    };
}

#define REPORT(b, span, ...)                                                                       \
    diag_add((b)->diags, DIAG_ERROR, (span).line, (span).column, (span).length, __VA_ARGS__)

static void stop(struct builder *b, struct source_span span, const char *problem)
{
    REPORT(b, span, "%s", problem);
    b->stopped = true;
}

/* ---- anchors ---- */

/* Number of the anchor's slot; a name that comes again means the newer value from there on. */
static int64_t anchor_slot(struct builder *b, const yaml_char_t *name)
{
    if (name == NULL)
        return -1;
    int64_t slot = 0;
    if (strmap_find(b->anchor_names, (const char *)name, &slot)) {
        json_decref(b->anchors[slot].value);
        b->anchors[slot] = (struct anchor){0};
        return slot;
    }
    slot = (int64_t)b->anchors_count;
    b->anchors = mem_grow(b->anchors, &b->anchors_capacity, b->anchors_count, sizeof *b->anchors);
    b->anchors[b->anchors_count++] = (struct anchor){0};
    const char *key = arena_strdup(b->tree->places.arena, (const char *)name);
    CHECK(strmap_add(b->anchor_names, key, slot));
    return slot;
}

static void forget_anchors(struct builder *b)
{
    for (size_t i = 0; i < b->anchors_count; i++)
        json_decref(b->anchors[i].value);
    b->anchors_count = 0;
    strmap_free(b->anchor_names);
    b->anchor_names = strmap_new();
}

/* The anchor keeps the value alive: a duplicate key may drop it from its map. */
static void fill_anchor(struct builder *b, int64_t slot, const struct child *child)
{
    if (slot < 0)
        return;
    struct anchor *anchor = &b->anchors[slot];
    json_decref(anchor->value);
    *anchor = (struct anchor){
        .value = json_incref(child->value),
        .nodes = child->nodes,
        .height = child->height,
    };
}

/* ---- children ---- */

static void add_child(struct builder *b, struct child child)
{
    if (b->depth > 0) {
        struct frame *frame = &b->frames[b->depth - 1];
        if (frame->is_map) {
            child.key = frame->key;
            child.place.key = frame->key_span;
            frame->has_key = false;
        }
    }
    b->children =
        mem_grow(b->children, &b->children_capacity, b->children_count, sizeof *b->children);
    b->children[b->children_count++] = child;
}

static void count_nodes(struct builder *b, size_t nodes, struct source_span span)
{
    b->nodes += nodes;
    if (b->nodes > LIMIT_YAML_NODES && !b->stopped)
        stop(b, span, "too many values in one file, with aliases written out");
}

static bool wants_key(const struct builder *b)
{
    return b->depth > 0 && b->frames[b->depth - 1].is_map && !b->frames[b->depth - 1].has_key;
}

/* ---- maps ---- */

static void report_duplicate(struct builder *b, const struct frame *frame,
                             const struct child *child)
{
    int first_line = 0;
    for (size_t i = frame->first; first_line == 0; i++)
        if (strcmp(b->children[i].key, child->key) == 0)
            first_line = b->children[i].place.key.line;
    REPORT(b, child->place.key, "duplicate key '%s': it is already set on line %d", child->key,
           first_line);
}

static bool is_merge(const struct child *child)
{
    return strcmp(child->key, "<<") == 0;
}

/* Merge keys: members that the map itself does not set. */
static void merge(struct builder *b, const json_t *source, struct child *into, size_t *count,
                  json_t *object)
{
    size_t index = 0;
    void *iter = json_object_iter((json_t *)(uintptr_t)source);
    for (; iter != NULL; iter = json_object_iter_next((json_t *)(uintptr_t)source, iter)) {
        const char *key = json_object_iter_key(iter);
        const struct yaml_place *place = yaml_places_find(&b->tree->places, source, index++);
        if (json_object_get(object, key) != NULL)
            continue;
        CHECK(json_object_set_nocheck(object, key, json_object_iter_value(iter)) == 0);
        if (place != NULL)
            into[*count].place = *place;
        (*count)++;
    }
}

struct merge_list {
    json_t **sources; /* maps, in the order in which they are asked */
    size_t count;
    size_t members;
};

static void add_source(struct builder *b, struct merge_list *list, const struct child *child,
                       json_t *value)
{
    if (!json_is_object(value)) {
        REPORT(b, child->place.value, "'<<' takes a map or a list of maps");
        return;
    }
    /* NOLINTNEXTLINE(bugprone-sizeof-expression) -- an array of pointers */
    list->sources = mem_resize(list->sources, list->count + 1, sizeof *list->sources);
    list->sources[list->count++] = value;
    list->members += json_object_size(value);
}

static void find_sources(struct builder *b, const struct frame *frame, struct merge_list *list)
{
    for (size_t i = frame->first; i < b->children_count; i++) {
        const struct child *child = &b->children[i];
        if (!is_merge(child))
            continue;
        if (!json_is_array(child->value)) {
            add_source(b, list, child, child->value);
            continue;
        }
        for (size_t k = 0; k < json_array_size(child->value); k++)
            add_source(b, list, child, json_array_get(child->value, k));
    }
}

static json_t *build_map(struct builder *b, const struct frame *frame)
{
    json_t *object = json_object();
    CHECK(object != NULL);
    struct merge_list merges = {0};
    find_sources(b, frame, &merges);
    size_t own = b->children_count - frame->first;
    struct child *kept = mem_zalloc(own + merges.members + 1, sizeof *kept);
    size_t count = 0;
    for (size_t i = frame->first; i < b->children_count; i++) {
        const struct child *child = &b->children[i];
        if (is_merge(child))
            continue;
        if (json_object_get(object, child->key) != NULL) {
            report_duplicate(b, frame, child);
            continue;
        }
        CHECK(json_object_set_nocheck(object, child->key, child->value) == 0);
        kept[count++].place = child->place;
    }
    for (size_t i = 0; i < merges.count; i++)
        merge(b, merges.sources[i], kept, &count, object);
    struct yaml_place *places = yaml_places_add(&b->tree->places, object, count);
    for (size_t i = 0; i < count; i++)
        places[i] = kept[i].place;
    free(kept);
    free(merges.sources);
    return object;
}

static json_t *build_list(struct builder *b, const struct frame *frame)
{
    json_t *array = json_array();
    CHECK(array != NULL);
    size_t count = b->children_count - frame->first;
    struct yaml_place *places = yaml_places_add(&b->tree->places, array, count);
    for (size_t i = 0; i < count; i++) {
        const struct child *child = &b->children[frame->first + i];
        CHECK(json_array_append(array, child->value) == 0);
        places[i] = child->place;
    }
    return array;
}

static void drop_children(struct builder *b, size_t first)
{
    for (size_t i = first; i < b->children_count; i++)
        json_decref(b->children[i].value);
    b->children_count = first;
}

/* ---- events ---- */

static const char *const CORE_TAGS[] = {
    "tag:yaml.org,2002:null", "tag:yaml.org,2002:bool",
    "tag:yaml.org,2002:int",  "tag:yaml.org,2002:float",
    "tag:yaml.org,2002:str",  "tag:yaml.org,2002:map",
    "tag:yaml.org,2002:seq",  "!",
};

static bool check_tag(struct builder *b, const yaml_char_t *tag, struct source_span span)
{
    if (tag == NULL)
        return true;
    for (size_t i = 0; i < ARRAY_LEN(CORE_TAGS); i++)
        if (strcmp((const char *)tag, CORE_TAGS[i]) == 0)
            return true;
    REPORT(b, span, "tag '%s' is not supported", (const char *)tag);
    return false;
}

static json_t *scalar_value(struct builder *b, const yaml_event_t *event, struct source_span span)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    const char *tag = (const char *)event->data.scalar.tag;
    bool is_text = wants_key(b) || event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    if (tag != NULL && !wants_key(b))
        is_text = strcmp(tag, "!") == 0 || strcmp(tag, "tag:yaml.org,2002:str") == 0;
    if (is_text)
        return json_stringn_nocheck(text, length);
    json_t *value = yaml_scalar_value(text, length);
    if (value == NULL) {
        REPORT(b, span, "number '%.40s' does not fit 64 bits: quote it if it is text", text);
        value = json_null();
    }
    return value;
}

static enum yaml_style style_of(const yaml_event_t *event)
{
    bool is_one_line = event->start_mark.line == event->end_mark.line;
    switch (event->data.scalar.style) {
    case YAML_LITERAL_SCALAR_STYLE:
        return YAML_STYLE_LITERAL;
    case YAML_PLAIN_SCALAR_STYLE:
        return is_one_line ? YAML_STYLE_PLAIN : YAML_STYLE_OTHER;
    case YAML_SINGLE_QUOTED_SCALAR_STYLE:
    case YAML_DOUBLE_QUOTED_SCALAR_STYLE:
        return is_one_line ? YAML_STYLE_QUOTED : YAML_STYLE_OTHER;
    case YAML_FOLDED_SCALAR_STYLE:
    case YAML_ANY_SCALAR_STYLE:
        break;
    }
    return YAML_STYLE_OTHER;
}

static void take_key(struct builder *b, const char *text, size_t length, struct source_span span)
{
    struct frame *frame = &b->frames[b->depth - 1];
    frame->key = arena_strndup(b->tree->places.arena, text, length);
    frame->key_span = span;
    frame->has_key = true;
}

static void on_scalar(struct builder *b, const yaml_event_t *event)
{
    struct source_span span = span_of(&event->start_mark, &event->end_mark);
    const char *text = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    if (memchr(text, 0, length) != NULL) {
        REPORT(b, span, "a NUL character is not allowed");
        length = 0;
    }
    (void)check_tag(b, event->data.scalar.tag, span);
    count_nodes(b, 1, span);
    int64_t slot = anchor_slot(b, event->data.scalar.anchor);
    struct child child = {
        .value = length == event->data.scalar.length ? scalar_value(b, event, span) : json_null(),
        .place = {.value = span, .style = style_of(event)},
        .nodes = 1,
    };
    fill_anchor(b, slot, &child);
    if (wants_key(b)) {
        take_key(b, text, length, span);
        json_decref(child.value);
        return;
    }
    add_child(b, child);
}

static void on_alias(struct builder *b, const yaml_event_t *event)
{
    struct source_span span = span_of(&event->start_mark, &event->end_mark);
    const char *name = (const char *)event->data.alias.anchor;
    int64_t slot = 0;
    struct child child = {.place = {.value = span, .style = YAML_STYLE_OTHER}, .nodes = 1};
    if (!strmap_find(b->anchor_names, name, &slot)) {
        REPORT(b, span, "alias '*%s' has no anchor '&%s' before it", name, name);
        child.value = json_null();
    } else if (b->anchors[slot].value == NULL) {
        REPORT(b, span, "alias '*%s' stands inside its own anchor", name);
        child.value = json_null();
    } else {
        const struct anchor *anchor = &b->anchors[slot];
        child.value = json_incref(anchor->value);
        child.nodes = anchor->nodes;
        child.height = anchor->height;
    }
    count_nodes(b, child.nodes, span);
    if (!b->stopped && b->depth + (size_t)child.height > LIMIT_YAML_DEPTH)
        stop(b, span, "nested too deeply, with aliases written out");
    if (wants_key(b)) {
        const char *text = json_string_value(child.value);
        if (text == NULL)
            REPORT(b, span, "a key must be plain text");
        take_key(b, text != NULL ? text : "", text != NULL ? strlen(text) : 0, span);
        json_decref(child.value);
        return;
    }
    add_child(b, child);
}

static void on_start(struct builder *b, const yaml_event_t *event, bool is_map)
{
    struct source_span span = span_of(&event->start_mark, &event->end_mark);
    const yaml_char_t *tag =
        is_map ? event->data.mapping_start.tag : event->data.sequence_start.tag;
    const yaml_char_t *anchor =
        is_map ? event->data.mapping_start.anchor : event->data.sequence_start.anchor;
    (void)check_tag(b, tag, span);
    count_nodes(b, 1, span);
    if (wants_key(b)) {
        stop(b, span, "a key must be plain text, not a list or a map");
        return;
    }
    if (b->depth == LIMIT_YAML_DEPTH) {
        stop(b, span, "nested too deeply");
        return;
    }
    b->frames[b->depth++] = (struct frame){
        .is_map = is_map,
        .first = b->children_count,
        .anchor = anchor_slot(b, anchor),
        .span = span,
    };
}

static void on_end(struct builder *b)
{
    struct frame frame = b->frames[b->depth - 1];
    struct child child = {.place = {.value = frame.span, .style = YAML_STYLE_OTHER}, .nodes = 1};
    for (size_t i = frame.first; i < b->children_count; i++) {
        child.nodes += b->children[i].nodes;
        child.height = MAX(child.height, b->children[i].height);
    }
    child.height++;
    child.value = frame.is_map ? build_map(b, &frame) : build_list(b, &frame);
    drop_children(b, frame.first);
    b->depth--;
    fill_anchor(b, frame.anchor, &child);
    add_child(b, child);
}

static void on_event(struct builder *b, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        forget_anchors(b);
        break;
    case YAML_SCALAR_EVENT:
        on_scalar(b, event);
        break;
    case YAML_ALIAS_EVENT:
        on_alias(b, event);
        break;
    case YAML_SEQUENCE_START_EVENT:
        on_start(b, event, false);
        break;
    case YAML_MAPPING_START_EVENT:
        on_start(b, event, true);
        break;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        on_end(b);
        break;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        break;
    }
}

static bool is_indented_by_tab(const struct builder *b, size_t line)
{
    const char *at = b->tree->text;
    for (size_t i = 0; i < line; i++) {
        at = strchr(at, '\n');
        if (at == NULL)
            return false;
        at++;
    }
    return at[strspn(at, " ")] == '\t';
}

static void report_syntax(struct builder *b, const yaml_parser_t *parser)
{
    const char *problem = parser->problem != NULL ? parser->problem : "not YAML";
    struct source_span span = span_of(&parser->problem_mark, &parser->problem_mark);
    if (parser->error == YAML_READER_ERROR) {
        span = (struct source_span){.line = 1, .column = 1, .length = 1};
        for (size_t i = 0; i < parser->problem_offset && b->tree->text[i] != '\0'; i++) {
            bool is_break = b->tree->text[i] == '\n';
            span.line += is_break;
            span.column = is_break ? 1 : span.column + 1;
        }
    }
    if (parser->error == YAML_SCANNER_ERROR && is_indented_by_tab(b, parser->problem_mark.line))
        REPORT(b, span, "YAML: a line cannot be indented by a tab; use spaces");
    else if (parser->context != NULL)
        REPORT(b, span, "YAML: %s %s that starts on line %zu", problem, parser->context,
               parser->context_mark.line + 1);
    else
        REPORT(b, span, "YAML: %s", problem);
}

static void parse_events(struct builder *b, size_t length)
{
    yaml_parser_t parser;
    CHECK(yaml_parser_initialize(&parser) == 1);
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)b->tree->text, length);
    for (bool at_end = false; !at_end && !b->stopped;) {
        yaml_event_t event;
        if (yaml_parser_parse(&parser, &event) == 0) {
            report_syntax(b, &parser);
            break;
        }
        at_end = event.type == YAML_STREAM_END_EVENT;
        on_event(b, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
}

struct yaml_tree *yaml_tree_parse(const char *text, size_t length, struct diag_list *diags)
{
    struct yaml_tree *tree = mem_zalloc(1, sizeof *tree);
    tree->text = text;
    yaml_places_init(&tree->places);
    struct builder *b = mem_zalloc(1, sizeof *b);
    b->tree = tree;
    b->diags = diags;
    b->anchor_names = strmap_new();

    parse_events(b, length);

    /* What is complete outside every container is a document. */
    size_t complete = b->depth > 0 ? b->frames[0].first : b->children_count;
    drop_children(b, complete);
    struct frame all = {.first = 0};
    tree->documents = build_list(b, &all);
    drop_children(b, 0);
    forget_anchors(b);
    strmap_free(b->anchor_names);
    free(b->anchors);
    free(b->children);
    free(b);
    return tree;
}

void yaml_tree_free(struct yaml_tree *tree)
{
    if (tree == NULL)
        return;
    json_decref(tree->documents);
    yaml_places_fini(&tree->places);
    free(tree);
}

const json_t *yaml_tree_documents(const struct yaml_tree *tree)
{
    return tree->documents;
}

struct source_span yaml_tree_find_place(const struct yaml_tree *tree, const json_t *container,
                                        size_t index, bool of_key)
{
    const struct yaml_place *place = yaml_places_find(&tree->places, container, index);
    if (place == NULL)
        return (struct source_span){0};
    return of_key && place->key.line > 0 ? place->key : place->value;
}

static const char *text_at(const json_t *container, size_t index)
{
    if (json_is_array(container))
        return json_string_value(json_array_get(container, index));
    json_t *object = (json_t *)(uintptr_t)container; /* iterators take no const */
    void *iter = json_object_iter(object);
    for (size_t i = 0; i < index && iter != NULL; i++)
        iter = json_object_iter_next(object, iter);
    return iter != NULL ? json_string_value(json_object_iter_value(iter)) : NULL;
}

struct source_span yaml_tree_find_inside(const struct yaml_tree *tree, const json_t *container,
                                         size_t index, size_t offset)
{
    const struct yaml_place *place = yaml_places_find(&tree->places, container, index);
    const char *value = text_at(container, index);
    if (place == NULL || value == NULL)
        return yaml_tree_find_place(tree, container, index, false);
    return yaml_place_inside(place, value, MIN(offset, strlen(value)), tree->text);
}

static struct source_span find(const void *context, const json_t *container, size_t index,
                               bool of_key)
{
    return yaml_tree_find_place(context, container, index, of_key);
}

static struct source_span find_inside(const void *context, const json_t *container, size_t index,
                                      size_t offset)
{
    return yaml_tree_find_inside(context, container, index, offset);
}

static bool is_below(const void *context, const json_t *container, size_t index)
{
    const struct yaml_tree *tree = context;
    const struct yaml_place *place = yaml_places_find(&tree->places, container, index);
    return place != NULL && place->style == YAML_STYLE_LITERAL;
}

struct dag_locator yaml_tree_locator(const struct yaml_tree *tree)
{
    return (struct dag_locator){
        .context = tree, .find = find, .find_inside = find_inside, .is_below = is_below};
}
