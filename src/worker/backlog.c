#include "worker/backlog.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"

void backlog_push(struct backlog *backlog, struct attempt *taken)
{
    size_t end = backlog->head + backlog->count;
    backlog->items = mem_grow(backlog->items, &backlog->capacity, end,
                              sizeof(struct attempt *)); /* NOLINT(bugprone-sizeof-expression) */
    backlog->items[end] = taken;
    backlog->count++;
}

struct attempt *backlog_pop(struct backlog *backlog)
{
    CHECK(backlog->count > 0);
    struct attempt *attempt = backlog->items[backlog->head++];
    if (--backlog->count == 0)
        backlog->head = 0;
    return attempt;
}

struct attempt *backlog_at(const struct backlog *backlog, size_t i)
{
    CHECK(i < backlog->count);
    return backlog->items[backlog->head + i];
}

void backlog_fini(struct backlog *backlog)
{
    while (backlog->count > 0)
        attempt_free(backlog_pop(backlog));
    free(backlog->items);
    *backlog = (struct backlog){0};
}
