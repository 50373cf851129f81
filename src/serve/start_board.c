#include "serve/start_board.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/str.h"
#include "serve/event_ring.h"
#include "serve/sse.h"

struct start {
    int64_t attempt;
    uint64_t number;          /* 0: nobody is told */
    struct ring_event *event; /* as it is told; NULL: nobody is */
};

struct start_board {
    struct idmap *starts; /* by task */
    struct start **fresh; /* those with numbers, ascending */
    size_t fresh_count;
    size_t fresh_capacity;
    uint64_t last; /* number that was given */
    uint64_t gaps; /* how often something may have been missed */
    bool is_cut;   /* the last look did not see all */
};

struct start_board *start_board_new(void)
{
    struct start_board *board = mem_zalloc(1, sizeof *board);
    board->starts = idmap_new();
    return board;
}

static void free_start(struct start *start)
{
    if (start == NULL)
        return;
    ring_event_drop(start->event);
    free(start);
}

static void free_all(struct idmap *starts)
{
    size_t cursor = 0;
    for (struct start *start; (start = idmap_next(starts, &cursor)) != NULL;)
        free_start(start);
    idmap_free(starts);
}

void start_board_free(struct start_board *board)
{
    if (board == NULL)
        return;
    free_all(board->starts);
    free((void *)board->fresh);
    free(board);
}

void start_board_clear(struct start_board *board)
{
    if (idmap_count(board->starts) == 0 && !board->is_cut)
        return;
    free_all(board->starts);
    board->starts = idmap_new();
    board->fresh_count = 0;
    board->is_cut = false;
}

static struct start *new_start(struct start_board *board, json_t *task, bool is_told)
{
    struct start *start = mem_zalloc(1, sizeof *start);
    start->attempt = json_get_int(task, "attempt", 0);
    if (is_told) {
        start->number = ++board->last;
        (void)json_object_del(task, "task");
        start->event = ring_event_named(task, START_EVENT);
    }
    return start;
}

static int by_number(const void *a, const void *b)
{
    const struct start *x = *(struct start *const *)a;
    const struct start *y = *(struct start *const *)b;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void list_fresh(struct start_board *board)
{
    size_t cursor = 0;
    board->fresh_count = 0;
    for (struct start *start; (start = idmap_next(board->starts, &cursor)) != NULL;) {
        if (start->number == 0)
            continue;
        board->fresh = mem_grow((void *)board->fresh, &board->fresh_capacity, board->fresh_count,
                                sizeof(struct start *));
        board->fresh[board->fresh_count++] = start;
    }
    if (board->fresh_count > 0)
        qsort((void *)board->fresh, board->fresh_count, sizeof(struct start *), by_number);
}

void start_board_look(struct start_board *board, const json_t *response)
{
    struct idmap *before = board->starts;
    bool is_cut = json_get_bool(response, "more", false);
    /* Of what the look before did not see, nobody knows whether it was told. */
    bool is_told = !is_cut && !board->is_cut;
    size_t i;
    json_t *task;
    board->starts = idmap_new();
    json_array_foreach(json_object_get(response, "tasks"), i, task)
    {
        int64_t id = 0;
        if (!str_parse_i64(json_get_string(task, "task", ""), 1, INT64_MAX, &id) ||
            idmap_find(board->starts, id) != NULL)
            continue;
        struct start *start = idmap_remove(before, id);
        if (start == NULL || start->attempt != json_get_int(task, "attempt", 0)) {
            free_start(start);
            start = new_start(board, task, is_told);
        }
        idmap_set(board->starts, id, start);
    }
    free_all(before);
    list_fresh(board);
    board->gaps += !is_told;
    board->is_cut = is_cut;
}

static void add_more(struct strbuf *out)
{
    CLEANUP(json_decrefp) json_t *data = json_object();
    CHECK(data != NULL);
    json_put_bool(data, "more", true);
    sse_add(out, NULL, START_EVENT, data);
}

bool start_board_tell(const struct start_board *board, const struct event_filter *filter,
                      size_t most, struct start_place *place, struct strbuf *out)
{
    size_t told = 0;
    size_t wanted = 0;
    bool has_gap = place->is_set ? place->gaps != board->gaps : board->is_cut;
    for (size_t i = board->fresh_count; i-- > 0 && board->fresh[i]->number > place->told;)
        wanted += event_filter_passes(filter, &board->fresh[i]->event->facts);
    for (size_t i = 0; i < board->fresh_count && told < MIN(wanted, most); i++) {
        const struct start *start = board->fresh[i];
        if (start->number <= place->told || !event_filter_passes(filter, &start->event->facts))
            continue;
        strbuf_add_bytes(out, start->event->text, start->event->length);
        told++;
    }
    if (wanted > told || has_gap)
        add_more(out);
    *place = (struct start_place){.is_set = true, .told = board->last, .gaps = board->gaps};
    return wanted > 0 || has_gap;
}
