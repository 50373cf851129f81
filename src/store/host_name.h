#pragma once
/*
 * host_name: what hosts are called, for lists that name the same few again and again. What is
 * answered may be a second old.
 */
#include "store/store.h"

struct host_name {
    const char *name; /* NULL: there is no such host any more */
    int64_t pid;
};

/* *out is borrowed until the next call. */
NODISCARD enum status store_host_name(struct store *store, int64_t host,
                                      const struct host_name **out, struct err *err);

struct host_names;
void host_names_free(struct host_names *names); /* NULL is allowed */
