#include "service/dag_circle.h"

#include "model/trigger_circle.h"
#include "store/trigger_store.h"
#include "store/version.h"

/* Each is compared with each: what more of them means, the bound on chains says at run time. */
enum { DAGS_MOST = 2000 };

/* Those that can be read stay in the list. */
static enum status load(struct store *store, struct trigger_dag_list *list, struct circle_dag *dags,
                        struct triggers **triggers, struct err *err)
{
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        struct err problem = {0};
        enum status status =
            store_version_dag(store, list->items[i].version, &dags[count].dag, &problem);
        /* What an older program kept and this one cannot read starts nothing. */
        if (status == STATUS_CORRUPT ||
            (status == STATUS_OK &&
             triggers_of_dag(dags[count].dag, &triggers[count], &problem) != STATUS_OK))
            continue;
        if (status != STATUS_OK) {
            *err = problem;
            return status;
        }
        dags[count].triggers = triggers[count];
        list->items[count++] = list->items[i];
    }
    list->count = count;
    return STATUS_OK;
}

static void tell(const struct circle_list *found, const struct trigger_dag_list *list,
                 struct arena *arena, struct dag_circles *out)
{
    out->items = arena_array(arena, found->count + 1, sizeof *out->items);
    for (size_t i = 0; i < found->count; i++)
        out->items[out->count++] = (struct dag_circle){
            .text = found->texts[i],
            .path = list->items[found->first[i]].path,
        };
}

enum status dag_circles_find(struct store *store, struct arena *arena, struct dag_circles *out,
                             struct err *err)
{
    struct trigger_dag_list list;
    struct circle_list found;
    if (store_trigger_dags(store, arena, DAGS_MOST, &list, err) != STATUS_OK)
        return err_wrap(err, "look for circles");
    struct circle_dag *dags = arena_array(arena, list.count + 1, sizeof *dags);
    /* NOLINTNEXTLINE(bugprone-sizeof-expression) -- an array of pointers */
    struct triggers **triggers = arena_array(arena, list.count + 1, sizeof *triggers);
    size_t made = list.count;
    enum status status = load(store, &list, dags, triggers, err);
    *out = (struct dag_circles){0};
    if (status == STATUS_OK) {
        trigger_circles(dags, list.count, arena, &found);
        tell(&found, &list, arena, out);
    }
    for (size_t i = 0; i < made; i++)
        triggers_free(triggers[i]);
    return status;
}
