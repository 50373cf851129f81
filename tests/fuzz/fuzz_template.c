/*
 * Parsing, listing names and rendering, in a scope with a few names of each type.
 */
#include "base/arena.h"
#include "base/check.h"
#include "base/mem.h"
#include "fuzz.h"
#include "template_world.h"

static const char WORLD[] =
    "{\"params\": {\"name\": \"eu\", \"rows\": 3, \"flag\": true, \"none\": null,"
    " \"list\": [3, 1, 2], \"real\": 0.5, \"map\": {\"a\": {\"b\": [5, \"x\"]}}},"
    " \"ds\": \"2025-01-15\", \"ts\": \"2025-01-15T06:30:00+00:00\", \"item\": \"/d/a b.csv\","
    " \"ti\": {}, \"lazy\": {}}";

/* A visitor must be able to read all it is given. */
static void visit(void *context, const struct template_name *name)
{
    size_t *bytes = context;
    CHECK(name->count > 0);
    CHECK(name->place.line >= 1);
    CHECK(name->place.column >= 1);
    for (size_t i = 0; i < name->count; i++)
        *bytes += strlen(name->parts[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(mem_freep) char *text = mem_strndup((const char *)data, size);
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const struct template *template = NULL;
    struct template_fault fault = {0};
    struct err err = {0};
    if (template_parse(arena, text, &template, &fault, &err) != STATUS_OK) {
        CHECK(fault.line >= 1);
        CHECK(fault.column >= 1);
        CHECK(err.text[0] != '\0');
        CHECK(!template_is_plain(text) || err.code == STATUS_LIMIT);
        return 0;
    }
    size_t bytes = 0;
    template_visit_names(template, visit, &bytes);
    struct template_world world = {0};
    CHECK(json_parse(WORLD, strlen(WORLD), &world.roots, &err) == STATUS_OK);
    struct template_scope scope = template_world_scope(&world);
    json_t *value = NULL;
    char *rendered = NULL;
    enum status typed = template_render(template, &scope, &value, &fault, &err);
    if (typed != STATUS_OK) {
        CHECK(fault.line >= 1);
        CHECK(err.text[0] != '\0');
    }
    enum status as_text = template_render_text(template, &scope, &rendered, &fault, &err);
    CHECK(typed == as_text || as_text == STATUS_LIMIT);
    if (as_text == STATUS_OK && template_is_plain(text))
        CHECK(strcmp(text, rendered) == 0);
    mem_freep(&rendered);
    json_decref(value);
    json_decref(world.roots);
    return 0;
}
