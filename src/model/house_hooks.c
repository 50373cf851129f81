#include "model/house_hooks.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "model/dag_read.h"
#include "model/hook.h"
#include "model/watch.h"

enum { SHOWN_MAX = 4096 };

/* What holds for one namespace, or for all. */
struct scope {
    const char *space; /* NULL: all */
    struct watch run;
    struct watch task;
};

struct house_hooks {
    struct arena *arena;
    struct scope *scopes;
    size_t count;
};

static const char TASKS[] = "tasks";
static const char SPACES[] = "namespaces";

/* --- keys ------------------------------------------------------------------------------------ */

static const char *const KEYS[] = {"on_success",  "on_failure", "on_retry",  "on_skip",
                                   "on_sla_miss", "tasks",      "namespaces"};
_Static_assert(ARRAY_LEN(KEYS) == HOOK_EVENT_COUNT + 2, "an event each, and two more");

static const char *key_at(const void *context, size_t i)
{
    (void)context;
    return KEYS[i];
}

/* Where in the map; `inside` are the first of KEYS that may stand there. */
static enum status check_keys(const json_t *map, const char *place, size_t inside, struct err *err)
{
    const char *key = NULL;
    json_t *value = NULL;
    if (!json_is_object(map))
        return err_set(err, STATUS_INVALID,
                       "%s: a map is expected, such as {on_failure: {slack: data-alerts}}", place);
    json_object_foreach((json_t *)(uintptr_t)map, key, value)
    {
        size_t i = 0;
        while (i < inside && !str_equal(KEYS[i], key))
            i++;
        if (i < inside)
            continue;
        const char *near = str_nearest(key, inside, key_at, NULL);
        return err_set(err, STATUS_INVALID, "%s: unknown key '%.60s'%s%s%s", place, key,
                       near != NULL ? ", did you mean '" : "", near != NULL ? near : "",
                       near != NULL ? "'?" : "");
    }
    return STATUS_OK;
}

/* --- reading --------------------------------------------------------------------------------- */

/* The hooks of a map by themselves, in a DAG that is made for it: they are checked as those are. */
static struct dag *dag_around(const json_t *map, struct diag_list *diags)
{
    CLEANUP(json_decrefp) json_t *tree = json_object();
    json_t *task = json_object();
    json_t *tasks = json_object();
    for (enum hook_event event = 0; event < HOOK_EVENT_COUNT; event++) {
        CLEANUP(mem_freep) char *key = mem_format("on_%s", hook_event_name(event));
        json_t *hooks = json_object_get(map, key);
        if (hooks != NULL)
            json_put(task, key, json_incref(hooks));
    }
    json_put(task, "noop", json_object());
    json_put(tasks, "any", task);
    json_put_string(tree, "dag", "any");
    json_put(tree, TASKS, tasks);
    return dag_read(tree, &(struct dag_read_options){0}, diags);
}

static enum status read_events(const json_t *map, const char *place, struct arena *arena,
                               struct watch *out, struct err *err)
{
    CLEANUP(diag_list_fini) struct diag_list diags = {0};
    struct dag *dag = dag_around(map, &diags);
    const char *problem = "cannot be read";
    for (size_t i = diags.count; i-- > 0;)
        if (diags.items[i].severity == DIAG_ERROR)
            problem = diags.items[i].text;
    if (dag == NULL)
        return err_set(err, STATUS_INVALID, "%s: %s", place, problem);
    (void)watch_read(dag->tasks[0].rest, arena, out);
    dag_free(dag);
    return STATUS_OK;
}

static enum status read_scope(struct house_hooks *hooks, const json_t *map, const char *space,
                              struct err *err)
{
    struct scope *scope = &hooks->scopes[hooks->count++];
    CLEANUP(mem_freep)
    char *place = space != NULL ? mem_format("%s.%.100s", SPACES, space) : mem_strdup("hooks");
    CLEANUP(mem_freep) char *inside = mem_format("%s.%s", place, TASKS);
    const json_t *tasks = json_object_get(map, TASKS);
    *scope = (struct scope){.space = space != NULL ? arena_strdup(hooks->arena, space) : NULL};
    if (space != NULL && !dag_name_is_valid(space))
        return err_set(err, STATUS_INVALID, "%s: this is not the name of a namespace", place);
    if (check_keys(map, place, HOOK_EVENT_COUNT + (space != NULL ? 1 : 2), err) != STATUS_OK ||
        read_events(map, place, hooks->arena, &scope->run, err) != STATUS_OK)
        return err->code;
    if (tasks == NULL)
        return STATUS_OK;
    if (check_keys(tasks, inside, HOOK_EVENT_COUNT, err) != STATUS_OK)
        return err->code;
    return read_events(tasks, inside, hooks->arena, &scope->task, err);
}

static enum status read_all(struct house_hooks *hooks, const json_t *map, struct err *err)
{
    const json_t *spaces = json_object_get(map, SPACES);
    const char *space = NULL;
    json_t *value = NULL;
    hooks->scopes = arena_array(hooks->arena, json_object_size(spaces) + 1, sizeof *hooks->scopes);
    if (read_scope(hooks, map, NULL, err) != STATUS_OK)
        return err->code;
    if (spaces != NULL && !json_is_object(spaces))
        return err_set(err, STATUS_INVALID, "%s: a map of namespaces to their hooks is expected",
                       SPACES);
    json_object_foreach((json_t *)(uintptr_t)spaces, space, value)
    {
        if (read_scope(hooks, value, space, err) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

enum status house_hooks_read(const json_t *map, struct house_hooks **out, struct err *err)
{
    *out = NULL;
    if (json_is_object(map) && json_object_size(map) == 0)
        return STATUS_OK;
    struct house_hooks *hooks = mem_zalloc(1, sizeof *hooks);
    hooks->arena = arena_new();
    if (read_all(hooks, map, err) != STATUS_OK) {
        house_hooks_free(hooks);
        return err->code;
    }
    *out = hooks;
    return STATUS_OK;
}

void house_hooks_free(struct house_hooks *hooks)
{
    if (hooks == NULL)
        return;
    arena_free(hooks->arena);
    free(hooks);
}

void house_hooks_add(const struct house_hooks *hooks, struct dag *dag)
{
    for (size_t i = 0; hooks != NULL && i < hooks->count; i++) {
        const struct scope *scope = &hooks->scopes[i];
        if (scope->space == NULL || str_equal(scope->space, dag->namespace_))
            watch_add(dag, &scope->run, &scope->task);
    }
}

/* --- for people ------------------------------------------------------------------------------ */

static void show_target(struct strbuf *out, const json_t *entry)
{
    for (enum hook_target target = 0; target < HOOK_TARGET_COUNT; target++)
        if (json_object_get(entry, hook_target_name(target)) != NULL)
            strbuf_addf(out, " %s", hook_target_name(target));
}

static void show_scope(struct strbuf *out, const json_t *map, const char *place)
{
    for (size_t i = 0; i < HOOK_EVENT_COUNT; i++) {
        json_t *hooks = json_object_get(map, KEYS[i]);
        if (hooks == NULL)
            continue;
        strbuf_addf(out, "%s%s%s:", out->length > 0 ? "; " : "", place, KEYS[i]);
        for (size_t j = 0; json_is_array(hooks) && j < json_array_size(hooks); j++)
            show_target(out, json_array_get(hooks, j));
        show_target(out, hooks);
    }
}

char *house_hooks_shown(const json_t *map)
{
    struct strbuf out;
    const char *space = NULL;
    json_t *value = NULL;
    strbuf_init(&out, SHOWN_MAX);
    show_scope(&out, map, "");
    show_scope(&out, json_object_get(map, TASKS), "tasks.");
    json_object_foreach(json_object_get(map, SPACES), space, value)
    {
        CLEANUP(mem_freep) char *place = mem_format("%.100s.", space);
        CLEANUP(mem_freep) char *inside = mem_format("%.100s.tasks.", space);
        show_scope(&out, value, place);
        show_scope(&out, json_object_get(value, TASKS), inside);
    }
    return strbuf_take(&out);
}
