#pragma once
/*
 * backlog: attempts that wait here to be started, first come first served.
 */
#include <stddef.h>

#include "worker/attempt_held.h"

struct backlog {
    struct attempt **items;
    size_t head;
    size_t count; /* behind the head */
    size_t capacity;
};

void backlog_push(struct backlog *backlog, struct attempt *taken);
/* The oldest; it must not be empty. */
NODISCARD struct attempt *backlog_pop(struct backlog *backlog);
/* The i-th from the head; borrowed. */
struct attempt *backlog_at(const struct backlog *backlog, size_t i);
void backlog_fini(struct backlog *backlog); /* with what is in it */
