#pragma once
/*
 * move: a whole store as one stream of JSON lines, to be read into another one, of whichever kind.
 *
 *     {"eider_export": 1, "schema": .., "uuid": .., "epoch": .., "exported_at": .., "store": {..}}
 *     {"table": "dag", "columns": ["id", ..]}
 *     [1, "etl", ..]                            a row; bytes are {"$b64": ".."}
 *     {"file": "12/345/1.log"}                  what lies outside the database: see move_files
 *     {"end": {"rows": .., "tables": {..}}, "sha256": ".."}   the hash of everything before
 *
 * A cut or altered stream is refused as a whole. Ids are kept. The epoch rises by one: nobody who
 * held something in the old store holds it in the new one, and recovery takes it back.
 *
 * Memory stays bounded by the largest row. The tables are listed in move_tables.c.
 */
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/json.h"
#include "store/store.h"

struct move_writer;

/* One line. */
NODISCARD enum status move_write(struct move_writer *writer, const json_t *line, struct err *err);

/* What a row speaks of and may lie outside the store: a log, or a large value. */
struct move_file {
    int64_t run; /* 0: a job */
    int64_t task;
    int64_t attempt;
    const char *value; /* its key; NULL: the log of the attempt */
};

/* Every member may be NULL. */
struct move_files {
    void *context;
    /* Write what there is of a file: objects without "table" and "end". */
    enum status (*write)(void *context, const struct move_file *file, struct move_writer *writer,
                         struct err *err);
    /* One such line. Called before it is certain that the import succeeds. */
    enum status (*read)(void *context, const json_t *line, struct err *err);
    /* There are no more lines: everything read must be durable now. */
    enum status (*finish)(void *context, struct err *err);
    /* Now and then, for whoever waits. */
    void (*progress)(void *context, const char *table, int64_t rows);
};

struct move_result {
    int64_t schema;
    int64_t epoch;
    int64_t rows;
    int64_t bytes;
    char uuid[37];
};

/* Write the store behind `options`, in the state of one instant while others go on with it. */
NODISCARD enum status store_export(const struct store_options *options, int fd,
                                   const struct move_files *files, struct move_result *out,
                                   struct err *err);

/*
 * Fill the store behind `options`, which is made when it is missing. All or nothing, except for
 * files. A regular file is checked to its end before anything else is done.
 *
 *   STATUS_CONFLICT  the store has runs or jobs, or the stream is of a newer program
 *   STATUS_INVALID   this is no export
 *   STATUS_CORRUPT   it was cut or altered
 */
NODISCARD enum status store_import(const struct store_options *options, int fd, const char *actor,
                                   const struct move_files *files, struct move_result *out,
                                   struct err *err);
