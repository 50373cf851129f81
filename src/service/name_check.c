#include "service/name_check.h"

#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/strmap.h"
#include "model/dag_write.h"
#include "model/hook.h"
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

/* A name that is nowhere, and what it was found in. */
struct unknown {
    const char *where;
    enum vault_kind kind;
    const char *name;
};

/* Only where a nearly equal name is there. */
static void warn(struct walk *walk, const struct unknown *unknown, const struct source_place *place)
{
    const json_t *names = walk->check->names[unknown->kind];
    const char *near = str_nearest(unknown->name, json_array_size(names), nth_name, names);
    if (near == NULL)
        return;
    CLEANUP(mem_freep)
    char *text = mem_format("%sthere is no %s '%.100s' here; did you mean '%s'?", unknown->where,
                            vault_kind_name(unknown->kind), unknown->name, near);
    json_t *problem = json_object();
    json_put_string(problem, "file", walk->file);
    json_put_int(problem, "line", place->line);
    json_put_int(problem, "column", place->column);
    json_put_int(problem, "length", 0);
    json_put_string(problem, "severity", "warning");
    json_put_string(problem, "message", text);
    CHECK(json_array_append_new(walk->problems, problem) == 0);
    walk->count++;
}

static void visit(void *context, const struct template_name *name)
{
    struct walk *walk = context;
    enum vault_kind kind = VAULT_KIND_COUNT;
    size_t at = 0;
    if (!find_kind(name, &kind, &at) || is_known(walk->check->names[kind], name->parts[at]))
        return;
    const struct source_place *place = dag_find_place(walk->dag, walk->path);
    struct source_place at_name = place != NULL ? *place : (struct source_place){0};
    if (place != NULL)
        at_name.line += MAX(name->place.line, 1) - 1;
    warn(walk, &(struct unknown){"template: ", kind, name->parts[at]}, &at_name);
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

/* --- connections of hooks -------------------------------------------------------------------- */

/* Where the hook stands: with its owner, or among what all tasks have. */
static struct source_place place_of_hook(const struct walk *walk, const char *owner,
                                         const struct hook *hook, size_t index)
{
    const char *const OWNERS[] = {owner, "defaults."};
    for (size_t i = 0; i < ARRAY_LEN(OWNERS); i++) {
        const struct source_place *place =
            dag_find_place(walk->dag, arena_format(walk->arena, "%son_%s.%zu.connection", OWNERS[i],
                                                   hook_event_name(hook->event), index));
        if (place != NULL)
            return *place;
    }
    return (struct source_place){0};
}

/* Each name once: what defaults say would be said of every task. */
static void check_hooks(struct walk *walk, struct strmap *seen, const char *owner,
                        const json_t *rest)
{
    const json_t *names = walk->check->names[VAULT_CONNECTION];
    for (enum hook_event event = 0; event < HOOK_EVENT_COUNT; event++) {
        struct hook_list list = hook_list_of(rest, event, walk->arena);
        for (size_t i = 0; i < list.count; i++) {
            const struct hook *hook = &list.items[i];
            if (hook->connection == NULL || is_known(names, hook->connection) ||
                !strmap_add(seen, hook->connection, 0))
                continue;
            struct source_place place = place_of_hook(walk, owner, hook, i);
            const char *where =
                arena_format(walk->arena, "%s hook: ", hook_target_name(hook->target));
            warn(walk, &(struct unknown){where, VAULT_CONNECTION, hook->connection}, &place);
        }
    }
}

static void check_all_hooks(struct walk *walk)
{
    CLEANUP(strmap_freep) struct strmap *seen = strmap_new();
    check_hooks(walk, seen, "", walk->dag->rest);
    for (size_t i = 0; i < walk->dag->tasks_count; i++) {
        const struct task_def *task = &walk->dag->tasks[i];
        if (i == 0 || task->rest != walk->dag->tasks[i - 1].rest)
            check_hooks(walk, seen, arena_format(walk->arena, "tasks.%s.", task->id), task->rest);
    }
}

size_t name_check_dag(const struct name_check *check, const struct dag *dag, const char *path,
                      json_t *problems)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *canonical = dag_write(dag);
    struct walk walk = {
        .check = check, .dag = dag, .file = path, .arena = arena, .problems = problems};
    walk_value(&walk, canonical, "");
    if (dag->watch != NULL)
        check_all_hooks(&walk);
    return walk.count;
}
