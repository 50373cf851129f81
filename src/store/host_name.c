#include "store/host_name.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "store/store_priv.h"

enum { KEPT_US = 1000000, KEPT_MAX = 1000 };

static const char NAME_OF_HOST[] = "SELECT name, pid FROM host WHERE id = $1";

/* All begin and end together: a second is over soon. */
struct host_names {
    struct arena *arena;
    struct idmap *names;
    int64_t since_us;
};

static void forget(struct host_names *names)
{
    idmap_free(names->names);
    arena_free(names->arena);
}

static void begin(struct host_names *names)
{
    *names = (struct host_names){
        .arena = arena_new(), .names = idmap_new(), .since_us = clock_mono_us()};
}

void host_names_free(struct host_names *names)
{
    if (names == NULL)
        return;
    forget(names);
    free(names);
}

static struct host_names *names_of(struct store *store)
{
    struct host_names *names = store->host_names;
    if (names == NULL) {
        names = mem_zalloc(1, sizeof *names);
        begin(names);
        store->host_names = names;
    } else if (clock_mono_us() - names->since_us > KEPT_US ||
               idmap_count(names->names) >= KEPT_MAX) {
        forget(names);
        begin(names);
    }
    return names;
}

static enum status read_name(struct store *store, struct arena *arena, int64_t host,
                             struct host_name **out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, NAME_OF_HOST, "i", host) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err_wrap(err, "look for the name of host %lld", (long long)host);
    struct host_name *name = arena_alloc(arena, sizeof *name);
    *name = (struct host_name){0};
    if (row) {
        *name = (struct host_name){arena_strdup(arena, db_text(stmt, 0)), db_int(stmt, 1)};
        db_reset(stmt);
    }
    *out = name;
    return STATUS_OK;
}

enum status store_host_name(struct store *store, int64_t host, const struct host_name **out,
                            struct err *err)
{
    struct host_names *names = names_of(store);
    struct host_name *name = idmap_find(names->names, host);
    if (name == NULL) {
        if (read_name(store, names->arena, host, &name, err) != STATUS_OK)
            return err->code;
        idmap_set(names->names, host, name);
    }
    *out = name;
    return STATUS_OK;
}
