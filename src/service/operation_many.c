#include "service/operation_many.h"

#include "base/arena.h"
#include "base/check.h"
#include "base/str.h"
#include "service/op_handlers.h"
#include "service/service.h"

static const struct operation_batch *const BATCHES[] = {&OP_DAG_TRIGGER_BATCH};

const struct operation_batch *operation_batch_find(const char *operation)
{
    for (size_t i = 0; i < ARRAY_LEN(BATCHES); i++)
        if (str_equal(BATCHES[i]->operation, operation))
            return BATCHES[i];
    return NULL;
}

struct many {
    const struct operation_local *local;
    const struct operation *operation;
    const struct operation_batch *batch;
    struct arena *arena;
    const void *before; /* the draft made last */
};

/* From here on the service is asked by whoever asked for this one. */
static void face(const struct many *many, const struct operation_item *item)
{
    struct service *service = many->local->service;
    service->principal = item->principal;
    service->actor = item->actor;
    service->traceparent = item->traceparent;
}

static void do_alone(const struct many *many, struct operation_item *item)
{
    void *local = (void *)(uintptr_t)many->local; /* it is only looked at */
    face(many, item);
    item->status = operation_local_call(local, many->operation->name, item->request,
                                        &item->response, &item->err);
}

/* --- drafts ---------------------------------------------------------------------------------- */

struct drafting {
    const struct many *many;
    void **out;
};

static enum status draft_within(struct service *service, const json_t *request, void *context,
                                struct err *err)
{
    const struct drafting *drafting = context;
    const struct many *many = drafting->many;
    return many->batch->draft(service, request, many->before, many->arena, drafting->out, err);
}

static void draft_one(struct many *many, struct operation_item *item)
{
    struct drafting drafting = {many, &item->draft};
    face(many, item);
    item->status = operation_local_do(many->local, many->operation, item->request, draft_within,
                                      &drafting, &item->err);
    if (item->status == STATUS_OK && item->draft == NULL)
        do_alone(many, item);
    if (item->draft != NULL)
        many->before = item->draft;
}

/* --- what is made of them -------------------------------------------------------------------- */

static void make_or_do_alone(const struct many *many, struct operation_item *const *chosen,
                             size_t count)
{
    struct err ignored = {0};
    struct operation_draft *drafts = arena_array(many->arena, count, sizeof *drafts);
    for (size_t i = 0; i < count; i++)
        drafts[i].draft = chosen[i]->draft;
    face(many, chosen[0]);
    bool is_made = count > 1 && many->batch->make(many->local->service, drafts, count, many->arena,
                                                  &ignored) == STATUS_OK;
    for (size_t i = 0; i < count; i++)
        if (is_made)
            chosen[i]->response = drafts[i].response;
        else
            do_alone(many, chosen[i]);
}

/* Those of the first actor that is left; how many were chosen. */
static size_t choose(struct operation_item *items, size_t count, struct operation_item **chosen,
                     bool *is_chosen)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if (items[i].draft == NULL || is_chosen[i] ||
            (found > 0 && !str_equal(items[i].actor, chosen[0]->actor)))
            continue;
        is_chosen[i] = true;
        chosen[found++] = &items[i];
    }
    return found;
}

void operation_local_many(void *local, const char *name, struct operation_item *items, size_t count)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const struct operation_local *here = local;
    struct many many = {
        .local = here,
        .operation = operation_find(here->table, name),
        .batch = operation_batch_find(name),
        .arena = arena,
    };
    CHECK(many.operation != NULL && many.batch != NULL);
    bool *is_chosen = arena_array(arena, count, sizeof *is_chosen);
    struct operation_item **chosen = arena_array(arena, count, sizeof(struct operation_item *));
    for (size_t i = 0; i < count; i++)
        draft_one(&many, &items[i]);
    for (size_t found; (found = choose(items, count, chosen, is_chosen)) > 0;)
        make_or_do_alone(&many, chosen, found);
    face(&many, &(struct operation_item){0});
}
