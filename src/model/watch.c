#include "model/watch.h"

#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/sha256.h"

/* The entry of the file that became the hook with this number; what is beyond them is `email`. */
static json_t *entry_of(const json_t *rest, enum hook_event event, size_t index)
{
    json_t *object = json_object();
    CLEANUP(mem_freep) char *key = mem_format("on_%s", hook_event_name(event));
    json_t *hooks = json_object_get(rest, key);
    json_t *entry = json_is_array(hooks) ? json_array_get(hooks, index) : index == 0 ? hooks : NULL;
    if (entry != NULL)
        json_put(object, key, json_incref(entry));
    else
        json_put(object, "email", json_incref(json_object_get(rest, "email")));
    return object;
}

static struct watch_hook watch_hook_of(const json_t *rest, const struct hook *hook, size_t index,
                                       struct arena *arena)
{
    CLEANUP(json_decrefp) json_t *entry = entry_of(rest, hook->event, index);
    CLEANUP(mem_freep) char *text = json_format(entry);
    char hash[SHA256_HEX_MAX];
    sha256_hex(text, strlen(text), hash);
    return (struct watch_hook){
        .event = hook->event,
        .target = hook->target,
        .json = arena_strdup(arena, text),
        .key = arena_strdup(arena, hash),
        .group_ms = hook->group_ms,
        .is_resolvable = hook_is_resolvable(hook),
    };
}

/* Most DAGs have nothing of it, and then it should cost nothing. */
static bool may_be_watched(const json_t *rest)
{
    const char *key = NULL;
    json_t *value = NULL;
    enum hook_event ignored = HOOK_EVENT_COUNT;
    json_object_foreach((json_t *)(uintptr_t)rest, key, value)
    {
        if (strcmp(key, "sla") == 0 || strcmp(key, "email") == 0 ||
            hook_event_of_key(key, &ignored))
            return true;
    }
    return false;
}

bool watch_read(const json_t *rest, struct arena *arena, struct watch *out)
{
    *out = (struct watch){0};
    if (!may_be_watched(rest))
        return false;
    out->has_sla = sla_of(rest, arena, &out->sla);
    bool is_watched = out->has_sla;
    for (enum hook_event event = 0; event < HOOK_EVENT_COUNT; event++) {
        struct hook_list list = hook_list_of(rest, event, arena);
        struct watch_hooks *hooks = &out->hooks[event];
        if (list.count > 0)
            hooks->items = arena_array(arena, list.count, sizeof *hooks->items);
        for (size_t i = 0; i < list.count; i++)
            hooks->items[hooks->count++] = watch_hook_of(rest, &list.items[i], i, arena);
        is_watched |= hooks->count > 0;
    }
    return is_watched;
}

/* A run is neither tried again nor skipped by itself: there the DAG speaks of its tasks. */
static bool is_for_tasks(enum hook_event event)
{
    return event == HOOK_RETRY || event == HOOK_SKIP;
}

/* What the DAG says of all its tasks goes to one that says nothing itself; false: there is none. */
static bool inherit(const struct watch *of_dag, const json_t *rest, struct watch *out)
{
    bool has_any = false;
    for (enum hook_event event = 0; event < HOOK_EVENT_COUNT; event++) {
        CLEANUP(mem_freep) char *key = mem_format("on_%s", hook_event_name(event));
        bool is_own = out->hooks[event].count > 0 || json_object_get(rest, key) != NULL;
        if (!is_for_tasks(event) || is_own || of_dag->hooks[event].count == 0)
            continue;
        out->hooks[event] = of_dag->hooks[event];
        has_any = true;
    }
    return has_any;
}

/* NULL when there is nothing to watch. */
static const struct watch *watch_of_task(const struct watch *of_dag, const json_t *rest,
                                         struct arena *arena)
{
    struct watch one;
    bool is_watched = watch_read(rest, arena, &one);
    is_watched |= inherit(of_dag, rest, &one);
    if (!is_watched)
        return NULL;
    struct watch *own = arena_alloc(arena, sizeof *own);
    *own = one;
    return own;
}

static void forget_inherited(struct watch *of_dag)
{
    for (enum hook_event event = 0; event < HOOK_EVENT_COUNT; event++)
        if (is_for_tasks(event))
            of_dag->hooks[event] = (struct watch_hooks){0};
}

const struct dag_watch *watch_of_dag(const struct dag *dag)
{
    bool may_be = may_be_watched(dag->rest);
    for (size_t node = 0; node < dag->tasks_count && !may_be; node++)
        may_be = may_be_watched(dag->tasks[node].rest);
    if (!may_be)
        return NULL;
    struct dag_watch watch = {0};
    bool is_watched = watch_read(dag->rest, dag->arena, &watch.run);
    watch.has_sla = watch.run.has_sla;
    watch.tasks = arena_array(dag->arena, dag->tasks_count + 1, sizeof(const struct watch *));
    for (size_t node = 0; node < dag->tasks_count; node++) {
        const json_t *rest = dag->tasks[node].rest;
        /* What defaults say is one object for all tasks that add nothing to it. */
        watch.tasks[node] = node > 0 && rest == dag->tasks[node - 1].rest
                                ? watch.tasks[node - 1]
                                : watch_of_task(&watch.run, rest, dag->arena);
        is_watched |= watch.tasks[node] != NULL;
        watch.has_sla |= watch.tasks[node] != NULL && watch.tasks[node]->has_sla;
    }
    if (!is_watched)
        return NULL;
    forget_inherited(&watch.run);
    watch.tz = arena_strdup(dag->arena, sla_schedule_zone(dag->rest));
    struct dag_watch *out = arena_alloc(dag->arena, sizeof *out);
    *out = watch;
    return out;
}

/* --- further hooks --------------------------------------------------------------------------- */

static bool has_hook(const struct watch_hooks *hooks, const char *key)
{
    for (size_t i = 0; i < hooks->count; i++)
        if (strcmp(hooks->items[i].key, key) == 0)
            return true;
    return false;
}

static void add_hooks(struct watch *to, const struct watch *more, struct arena *arena)
{
    for (enum hook_event event = 0; event < HOOK_EVENT_COUNT; event++) {
        const struct watch_hooks *added = &more->hooks[event];
        struct watch_hooks all = {0};
        if (added->count == 0)
            continue;
        all.items = arena_array(arena, to->hooks[event].count + added->count, sizeof *all.items);
        for (size_t i = 0; i < to->hooks[event].count; i++)
            all.items[all.count++] = to->hooks[event].items[i];
        for (size_t i = 0; i < added->count; i++)
            if (!has_hook(&all, added->items[i].key))
                all.items[all.count++] = added->items[i];
        to->hooks[event] = all;
    }
}

static bool has_hooks(const struct watch *watch)
{
    for (enum hook_event event = 0; event < HOOK_EVENT_COUNT; event++)
        if (watch->hooks[event].count > 0)
            return true;
    return false;
}

/* Tasks that have the same before have the same afterwards. */
static void add_to_tasks(struct dag *dag, struct dag_watch *watch, const struct watch *more)
{
    const struct watch **before = watch->tasks;
    if (before != NULL && !has_hooks(more))
        return;
    watch->tasks = arena_array(dag->arena, dag->tasks_count + 1, sizeof(const struct watch *));
    for (size_t node = 0; node < dag->tasks_count && has_hooks(more); node++) {
        const struct watch *own = before != NULL ? before[node] : NULL;
        const struct watch *last = node > 0 && before != NULL ? before[node - 1] : NULL;
        if (node > 0 && own == last) {
            watch->tasks[node] = watch->tasks[node - 1];
            continue;
        }
        struct watch *all = arena_alloc(dag->arena, sizeof *all);
        *all = own != NULL ? *own : (struct watch){0};
        add_hooks(all, more, dag->arena);
        watch->tasks[node] = all;
    }
}

/* As in a DAG, retries and skips are those of tasks. */
static void move_to_tasks(struct watch *run, struct watch *task, struct arena *arena)
{
    struct watch moved = {0};
    for (enum hook_event event = 0; event < HOOK_EVENT_COUNT; event++)
        if (is_for_tasks(event))
            moved.hooks[event] = run->hooks[event];
    add_hooks(task, &moved, arena);
    forget_inherited(run);
}

void watch_add(struct dag *dag, const struct watch *run, const struct watch *task)
{
    struct watch of_run = *run;
    struct watch of_tasks = *task;
    if (!has_hooks(run) && !has_hooks(task))
        return;
    move_to_tasks(&of_run, &of_tasks, dag->arena);
    struct dag_watch *watch = arena_alloc(dag->arena, sizeof *watch);
    *watch = dag->watch != NULL ? *dag->watch : (struct dag_watch){0};
    if (dag->watch == NULL)
        watch->tz = arena_strdup(dag->arena, sla_schedule_zone(dag->rest));
    add_hooks(&watch->run, &of_run, dag->arena);
    add_to_tasks(dag, watch, &of_tasks);
    dag->watch = watch;
}
