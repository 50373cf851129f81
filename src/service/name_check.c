#include "service/name_check.h"

#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/dag_write.h"
#include "model/template.h"
#include "store/vault.h"

_Static_assert(VAULT_KIND_COUNT == 3, "a list for each kind");

struct walk {
    const struct name_check *check;
    const struct dag *dag;
    const char *file;
    const char *path; /* of the text at hand: "tasks.a.run" */
    struct arena *arena;
    json_t *problems;
    size_t count;
};

/* --- what there is --------------------------------------------------------------------------- */

enum status name_check_init(struct name_check *check, struct vault *vault, struct err *err)
{
    *check = (struct name_check){0};
    for (enum vault_kind kind = 0; kind < VAULT_KIND_COUNT; kind++) {
        CLEANUP(json_decrefp) json_t *rows = NULL;
        if (vault_list(vault, kind, &rows, err) != STATUS_OK) {
            name_check_fini(check);
            return err->code;
        }
        check->names[kind] = json_array();
        size_t i;
        json_t *row;
        json_array_foreach(rows, i, row)
            CHECK(json_array_append(check->names[kind], json_object_get(row, "name")) == 0);
    }
    return STATUS_OK;
}

void name_check_fini(struct name_check *check)
{
    for (enum vault_kind kind = 0; kind < VAULT_KIND_COUNT; kind++) {
        json_decref(check->names[kind]);
        check->names[kind] = NULL;
    }
}

static const char *nth_name(const void *context, size_t i)
{
    return json_string_value(json_array_get(context, i));
}

/* As the environment writes them, names with other signs between their words are the same. */
static bool is_same(const char *a, const char *b)
{
    for (; *a != '\0' && *b != '\0'; a++, b++) {
        bool is_sign = strchr("-._", *a) != NULL && strchr("-._", *b) != NULL;
        if ((*a | 0x20) != (*b | 0x20) && !is_sign)
            return false;
    }
    return *a == *b;
}

static bool is_known(const json_t *names, const char *name)
{
    size_t i;
    json_t *known;
    json_array_foreach(names, i, known) if (is_same(json_string_value(known), name)) return true;
    return false;
}

/* --- what a DAG names ------------------------------------------------------------------------ */

/* Which kind of thing is named, and where in the path its name stands; false: none. */
static bool find_kind(const struct template_name *name, enum vault_kind *out_kind, size_t *out_at)
{
    static const struct {
        const char *root;
        enum vault_kind kind;
        size_t at;
    } ROOTS[] = {
        {"var", VAULT_VARIABLE, 2}, {"conn", VAULT_CONNECTION, 1}, {"secrets", VAULT_SECRET, 1}};
    for (size_t i = 0; i < ARRAY_LEN(ROOTS); i++) {
        if (!str_equal(ROOTS[i].root, name->parts[0]) || name->count <= ROOTS[i].at)
            continue;
        *out_kind = ROOTS[i].kind;
        *out_at = ROOTS[i].at;
        return !name->called && !name->guarded;
    }
    return false;
}

static void visit(void *context, const struct template_name *name)
{
    struct walk *walk = context;
    enum vault_kind kind = VAULT_KIND_COUNT;
    size_t at = 0;
    if (!find_kind(name, &kind, &at) || is_known(walk->check->names[kind], name->parts[at]))
        return;
    const json_t *names = walk->check->names[kind];
    const char *near = str_nearest(name->parts[at], json_array_size(names), nth_name, names);
    if (near == NULL)
        return;
    const struct source_place *place = dag_find_place(walk->dag, walk->path);
    CLEANUP(mem_freep)
    char *text = mem_format("template: there is no %s '%.100s' here; did you mean '%s'?",
                            vault_kind_name(kind), name->parts[at], near);
    json_t *problem = json_object();
    json_put_string(problem, "file", walk->file);
    json_put_int(problem, "line", place != NULL ? place->line + MAX(name->place.line, 1) - 1 : 0);
    json_put_int(problem, "column", place != NULL ? place->column : 0);
    json_put_int(problem, "length", 0);
    json_put_string(problem, "severity", "warning");
    json_put_string(problem, "message", text);
    CHECK(json_array_append_new(walk->problems, problem) == 0);
    walk->count++;
}

/* As deep as a DAG file may be. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static void walk_value(struct walk *walk, const json_t *value, const char *path)
{
    const struct template *template = NULL;
    struct template_fault fault;
    struct err ignored = {0};
    const char *text = json_string_value(value);
    if (text != NULL && !template_is_plain(text) &&
        template_parse(walk->arena, text, &template, &fault, &ignored) == STATUS_OK) {
        walk->path = path;
        template_visit_names(template, visit, walk);
    }
    const char *key;
    json_t *member;
    json_object_foreach((json_t *)(uintptr_t)value, key, member)
        walk_value(walk, member,
                   path[0] != '\0' ? arena_format(walk->arena, "%s.%s", path, key)
                                   : arena_strdup(walk->arena, key));
    size_t i;
    json_array_foreach(value, i, member)
        walk_value(walk, member, arena_format(walk->arena, "%s.%zu", path, i));
}

size_t name_check_dag(const struct name_check *check, const struct dag *dag, const char *path,
                      json_t *problems)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *canonical = dag_write(dag);
    struct walk walk = {
        .check = check, .dag = dag, .file = path, .arena = arena, .problems = problems};
    walk_value(&walk, canonical, "");
    return walk.count;
}
