#include "service/explain_limits.h"

#include "base/check.h"
#include "base/str.h"

static bool is_said(const struct explain_subject *subject, const char *kind, const char *name)
{
    for (size_t i = 0; i < subject->pools_count; i++)
        if (str_equal(subject->pools[i].kind, kind) && str_equal(subject->pools[i].name, name))
            return true;
    return false;
}

static void add_place(struct explain_subject *subject, const struct pool_place *place)
{
    if (is_said(subject, place->kind, place->name) || subject->pools_count == EXPLAIN_POOLS_MAX)
        return;
    subject->pools[subject->pools_count++] = *place;
}

/* That of its namespace, else that of all. */
static struct pool_place find_pool(const struct explain_limits_request *request, const char *name)
{
    const struct explain_around *around = request->around;
    const struct pool_info *found = NULL;
    for (size_t i = 0; i < around->pools_count; i++) {
        const struct pool_info *pool = &around->pools[i];
        bool is_own = str_equal(pool->namespace_, request->dag->namespace_);
        bool is_shared = str_equal(pool->namespace_, "default");
        if (str_equal(pool->name, name) && (is_own || (is_shared && found == NULL)))
            found = pool;
    }
    struct pool_place place = {.kind = "pool", .name = name, .is_there = found != NULL};
    if (found != NULL) {
        place.slots = found->slots;
        place.used = found->occupied;
        place.ahead = found->waiting;
    }
    return place;
}

/* Instances of a mapped task that are to come stand in the same line, not before themselves. */
static int64_t ahead_of(const struct task_row *task, int64_t waiting)
{
    int64_t own = task_row_is_expanding(task) ? task->counts.total - task->inserted : 0;
    return MAX(waiting - own, (int64_t)0);
}

static void add_pool(const struct explain_limits_request *request, struct explain_subject *out)
{
    const struct task_def *def = &request->dag->tasks[request->task->node];
    /* A mapped task itself only lists its items; once that is done, what is to come needs them. */
    bool needs_slots = !task_def_is_mapped(def) || request->task->map_index >= 0 ||
                       request->task->instance_base != 0;
    if (def->pool == NULL || !needs_slots)
        return;
    struct pool_place place = find_pool(request, def->pool);
    place.need = def->slots;
    place.ahead = ahead_of(request->task, place.ahead);
    place.is_waiting = !place.is_there || place.slots - place.used < place.need;
    if (place.is_waiting)
        add_place(out, &place);
}

static void add_limits(const struct explain_limits_request *request, struct explain_subject *out)
{
    for (size_t i = 0; i < request->around->limits_count; i++) {
        const struct limit_info *limit = &request->around->limits[i];
        const struct pool_place place = {
            .is_waiting = true,
            .kind = limit_kind_name(limit->kind),
            .name = limit->name,
            .is_there = true,
            .slots = limit->max_running,
            .used = limit->running,
            .ahead = ahead_of(request->task, limit->waiting),
        };
        if (str_equal(limit->name, limit_name_of(limit->kind, request->dag)) &&
            limit->running >= limit->max_running)
            add_place(out, &place);
    }
}

enum status explain_limits_load(const struct explain_limits_request *request,
                                struct explain_subject *out, struct err *err)
{
    struct pool_place place = {0};
    if (request->task->state == TASK_SCHEDULED &&
        store_pool_place(request->store, request->arena, request->task->id, &place, err) !=
            STATUS_OK)
        return err->code;
    if (place.is_waiting)
        add_place(out, &place);
    add_pool(request, out);
    add_limits(request, out);
    return STATUS_OK;
}
