#include "service/dag_circle.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "model/trigger_circle.h"
#include "store/trigger_store.h"
#include "store/version.h"

/* Of one part: others want the store, too. What more DAGs mean, the bound on chains says. */
enum { PART_DAGS = 200, DAGS_MOST = 100000 };

struct dag_circle_reader {
    struct arena *arena;
    bool is_listed;
    struct trigger_dag_list list;
    size_t next; /* of the list */
    struct circle_dag *dags;
    const char **paths; /* of their files */
    struct triggers **triggers;
    size_t count;
};

struct dag_circle_reader *dag_circle_reader_new(void)
{
    struct dag_circle_reader *reader = mem_zalloc(1, sizeof *reader);
    reader->arena = arena_new();
    return reader;
}

void dag_circle_reader_free(struct dag_circle_reader *reader)
{
    if (reader == NULL)
        return;
    for (size_t i = 0; i < reader->count; i++)
        triggers_free(reader->triggers[i]);
    arena_free(reader->arena);
    free(reader);
}

static enum status list_dags(struct dag_circle_reader *reader, struct store *store, struct err *err)
{
    if (reader->is_listed)
        return STATUS_OK;
    if (store_trigger_dags(store, reader->arena, DAGS_MOST, &reader->list, err) != STATUS_OK)
        return err->code;
    size_t count = reader->list.count + 1;
    reader->dags = arena_array(reader->arena, count, sizeof *reader->dags);
    reader->paths = arena_array(reader->arena, count, sizeof(char *));
    reader->triggers = arena_array(reader->arena, count, sizeof(struct triggers *));
    reader->is_listed = true;
    return STATUS_OK;
}

static enum status read_dag(struct dag_circle_reader *reader, struct store *store,
                            const struct trigger_dag *listed, struct err *err)
{
    const struct dag *dag = NULL;
    struct triggers *triggers = NULL;
    struct err problem = {0};
    enum status status = store_version_dag(store, listed->version, &dag, &problem);
    /* What went meanwhile, or an older program kept and this one cannot read, starts nothing. */
    if (status == STATUS_CORRUPT || status == STATUS_NOT_FOUND)
        return STATUS_OK;
    if (status != STATUS_OK) {
        *err = problem;
        return status;
    }
    if (triggers_of_dag(dag, &triggers, &problem) != STATUS_OK)
        return STATUS_OK;
    reader->dags[reader->count] = circle_dag_of(dag, triggers, reader->arena);
    reader->paths[reader->count] = listed->path;
    reader->triggers[reader->count++] = triggers;
    return STATUS_OK;
}

enum status dag_circle_read(struct dag_circle_reader *reader, struct store *store, bool *out_more,
                            struct err *err)
{
    if (list_dags(reader, store, err) != STATUS_OK)
        return err_wrap(err, "look for circles");
    for (size_t i = 0; i < PART_DAGS && reader->next < reader->list.count; i++, reader->next++)
        if (read_dag(reader, store, &reader->list.items[reader->next], err) != STATUS_OK)
            return err_wrap(err, "look for circles");
    *out_more = reader->next < reader->list.count;
    return STATUS_OK;
}

static struct dag_circle circle_of(const struct dag_circle_reader *reader,
                                   const struct circle *found, struct arena *arena)
{
    struct dag_circle circle = {
        .text = found->text,
        .path = arena_strdup_null(arena, reader->paths[found->members[0]]),
        .dag_ids = arena_array(arena, found->members_count, sizeof(char *)),
        .dags_count = found->members_count,
    };
    for (size_t i = 0; i < found->members_count; i++)
        circle.dag_ids[i] = arena_strdup(arena, reader->dags[found->members[i]].id);
    return circle;
}

void dag_circle_search(const struct dag_circle_reader *reader, struct arena *arena,
                       struct dag_circles *out)
{
    struct circle_list found;
    trigger_circles(reader->dags, reader->count, arena, &found);
    out->items = arena_array(arena, found.count + 1, sizeof *out->items);
    out->count = found.count;
    for (size_t i = 0; i < found.count; i++)
        out->items[i] = circle_of(reader, &found.items[i], arena);
}

enum status dag_circles_find(struct store *store, struct arena *arena, struct dag_circles *out,
                             struct err *err)
{
    CLEANUP(dag_circle_reader_freep) struct dag_circle_reader *reader = dag_circle_reader_new();
    bool is_more = true;
    while (is_more)
        if (dag_circle_read(reader, store, &is_more, err) != STATUS_OK)
            return err->code;
    dag_circle_search(reader, arena, out);
    return STATUS_OK;
}

bool dag_circle_has(const struct dag_circle *circle, const char *dag_id)
{
    for (size_t i = 0; i < circle->dags_count; i++)
        if (str_equal(circle->dag_ids[i], dag_id))
            return true;
    return false;
}
