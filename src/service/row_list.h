#pragma once
/*
 * row_list: the rows of a list on their way into the answer.
 *
 * As JSON values a hundred rows of fifty members are ten thousand pieces of memory. Whoever writes
 * the answer may instead take each row as it is made, and the list in the answer stays empty.
 * Without such a taker the rows are gathered there.
 */
#include <stdint.h>

#include "base/json_row.h"

struct service;

struct row_taker {
    void *context;
    void (*begin)(void *context);                      /* what was taken before does not count */
    void (*take)(void *context, struct json_row *row); /* which it may change */
};

struct row_list {
    const struct row_taker *taker; /* NULL: they are gathered */
    json_t *gathered;
    int64_t count;
};

void row_list_init(struct row_list *list, const struct service *service);
void row_list_fini(struct row_list *list); /* twice is fine */
void row_list_add(struct row_list *list, struct json_row *row);
