#pragma once
/*
 * move_tables: every table and column of the store, as moves between stores need them.
 *
 * Tests compare the list with the schema of each database, so nothing new can be forgotten.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "store/db.h"

struct move_table {
    const char *name;
    /*
     * Separated by blanks. A number unless it ends in "/t", a text, or "/b", bytes. "-name" stays
     * behind. "@s" is only in SQLite, "@p" only in PostgreSQL: others have to do without.
     */
    const char *columns;
    bool has_identity; /* PostgreSQL numbers its rows, by `id` */
    bool stays;        /* is not moved as a table */
};

/* Those that others refer to come first; closed by a row without a name. */
extern const struct move_table MOVE_TABLES[];

enum { MOVE_COLUMNS_MAX = 48 };

struct move_column {
    const char *name; /* in the arena */
    char letter;      /* i, t, b */
    bool stays;
};

struct move_columns {
    struct move_column items[MOVE_COLUMNS_MAX];
    size_t count;
};

const struct move_table *move_table_find(const char *name); /* NULL: there is none */
/* The columns that a database of this dialect has. */
void move_table_columns(const struct move_table *table, enum db_dialect dialect,
                        struct arena *arena, struct move_columns *out);
