/*
 * Filling an empty store from lines: rows in batches, everything in one transaction, which is not
 * committed before the hash at the end was right.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/check.h"
#include "base/mem.h"
#include "model/event_kind.h"
#include "store/move.h"
#include "store/move_stream.h"
#include "store/move_tables.h"
#include "store/store_priv.h"

enum { BATCH_ROWS = 500, BATCH_BYTES = 1 << 20, PROGRESS_ROWS = 10000 };

struct import {
    struct db *db;
    struct arena *arena; /* lives longer than the connection, which keeps the texts of statements */
    const char *actor;
    const struct move_files *files;
    struct move_reader *reader;
    /* The table whose rows come now. */
    const struct move_table *table;     /* NULL: none yet */
    char letters[MOVE_COLUMNS_MAX + 1]; /* of the columns in the file; '-' is passed over */
    struct db_bulk_form form;
    struct db_bulk bulk;
    json_t *batch; /* the rows in `bulk`, which borrows from them */
    struct arena *batch_arena;
    int64_t batch_bytes;
    int64_t count;
    json_t *counts; /* by table */
    int64_t rows;
};

/* --- an empty store -------------------------------------------------------------------------- */

static const char RUNS[] = "SELECT count(*) FROM run";
static const char JOBS[] = "SELECT count(*) FROM job";

static enum status require_empty(struct import *import, struct err *err)
{
    int64_t runs = 0;
    int64_t jobs = 0;
    if (db_get_int(import->db, 0, &runs, err, RUNS, "") != STATUS_OK ||
        db_get_int(import->db, 0, &jobs, err, JOBS, "") != STATUS_OK)
        return err->code;
    if (runs > 0 || jobs > 0)
        return err_set(err, STATUS_CONFLICT,
                       "the store has %lld runs and %lld jobs; only an empty one can be filled",
                       (long long)runs, (long long)jobs);
    return STATUS_OK;
}

/* What an empty store has anyway: queues, DAGs that never ran, hosts that hold nothing. */
static enum status clear_tables(struct import *import, struct err *err)
{
    size_t count = 0;
    while (MOVE_TABLES[count].name != NULL)
        count++;
    for (size_t i = count; i-- > 0;) {
        if (MOVE_TABLES[i].stays)
            continue;
        const char *sql = arena_format(import->arena, "DELETE FROM %s", MOVE_TABLES[i].name);
        if (db_do(import->db, err, sql, "") != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

/* --- rows ------------------------------------------------------------------------------------ */

static enum status flush(struct import *import, struct err *err)
{
    if (import->table == NULL)
        return STATUS_OK;
    if (db_bulk_run(import->db, &import->bulk, (int64_t)import->bulk.rows, err) != STATUS_OK)
        return err_wrap(err, "fill table '%s'", import->table->name);
    CHECK(json_array_clear(import->batch) == 0);
    arena_free(import->batch_arena);
    import->batch_arena = arena_new();
    import->batch_bytes = 0;
    return STATUS_OK;
}

static enum status end_table(struct import *import, struct err *err)
{
    if (import->table == NULL)
        return STATUS_OK;
    if (flush(import, err) != STATUS_OK)
        return err->code;
    json_put_int(import->counts, import->table->name, import->count);
    db_bulk_fini(&import->bulk);
    import->table = NULL;
    import->count = 0;
    return STATUS_OK;
}

/* Its letter, '-' when it does not move into this database, or 0 when there is no such column. */
static char letter_of(const struct move_table *table, const char *name, enum db_dialect here,
                      struct arena *arena)
{
    static const enum db_dialect DIALECTS[] = {DB_SQLITE, DB_POSTGRES};
    char letter = 0;
    for (size_t i = 0; i < ARRAY_LEN(DIALECTS); i++) {
        struct move_columns columns;
        move_table_columns(table, DIALECTS[i], arena, &columns);
        for (size_t k = 0; k < columns.count; k++)
            if (strcmp(columns.items[k].name, name) == 0 && (letter == 0 || DIALECTS[i] == here))
                letter =
                    DIALECTS[i] == here && !columns.items[k].stays ? columns.items[k].letter : '-';
    }
    return letter;
}

static const char *array_type(char letter)
{
    if (letter == 'i')
        return "bigint[]";
    return letter == 't' ? "text[]" : "bytea[]";
}

/* The INSERT for the columns that move, and their letters. */
static void make_form(struct import *import, const json_t *names)
{
    struct arena *arena = import->arena;
    const char *list = "";
    const char *places = "";
    const char *arrays = "";
    char format[MOVE_COLUMNS_MAX + 1] = "";
    int number = 0;
    for (size_t i = 0; i < json_array_size(names); i++) {
        if (import->letters[i] == '-')
            continue;
        const char *comma = number == 0 ? "" : ", ";
        format[number++] = import->letters[i];
        list =
            arena_format(arena, "%s%s%s", list, comma, json_string_value(json_array_get(names, i)));
        places = arena_format(arena, "%s%s$%d", places, comma, number);
        arrays = arena_format(arena, "%s%s$%d::%s", arrays, comma, number,
                              array_type(import->letters[i]));
    }
    format[number] = '\0';
    const char *into = arena_format(arena, "INSERT INTO %s (%s)", import->table->name, list);
    import->form = (struct db_bulk_form){
        .one = arena_format(arena, "%s VALUES (%s)", into, places),
        .many = arena_format(arena, "%s SELECT * FROM unnest(%s)", into, arrays),
        .format = arena_strdup(arena, format),
        .what = "row",
    };
    db_bulk_init(&import->bulk, &import->form);
}

static enum status begin_table(struct import *import, const json_t *line, struct err *err)
{
    const char *name = json_get_string(line, "table", "");
    const json_t *names = json_object_get(line, "columns");
    const struct move_table *table = move_table_find(name);
    if (end_table(import, err) != STATUS_OK)
        return err->code;
    if (table == NULL || table->stays || json_object_get(import->counts, name) != NULL)
        return err_set(err, STATUS_INVALID, "table '%s' does not belong here", name);
    if (json_array_size(names) == 0 || json_array_size(names) > MOVE_COLUMNS_MAX)
        return err_set(err, STATUS_INVALID, "table '%s' has no columns or too many", name);
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *column = json_string_value(json_array_get(names, i));
        char letter = column == NULL
                          ? 0
                          : letter_of(table, column, db_dialect(import->db), import->batch_arena);
        if (letter == 0)
            return err_set(err, STATUS_INVALID, "table '%s' has no column '%s'", name,
                           column != NULL ? column : "?");
        import->letters[i] = letter;
    }
    import->letters[json_array_size(names)] = '\0';
    import->table = table;
    make_form(import, names);
    return STATUS_OK;
}

static bool read_bytes(struct arena *arena, const json_t *value, struct db_cell *out)
{
    const char *text = json_get_string(value, "$b64", NULL);
    struct strbuf bytes;
    if (text == NULL)
        return false;
    size_t length = strlen(text);
    strbuf_init(&bytes, length + 1);
    bool fine = base64_decode(&bytes, text, length);
    char *copy = arena_alloc(arena, bytes.length + 1);
    memcpy(copy, bytes.text, bytes.length);
    *out = (struct db_cell){.letter = 'b', .bytes = copy, .size = bytes.length};
    strbuf_fini(&bytes);
    return fine;
}

static bool read_cell(struct arena *arena, const json_t *value, char letter, struct db_cell *out)
{
    *out = (struct db_cell){.letter = 'n'};
    if (json_is_null(value))
        return true;
    if (letter == 'b')
        return read_bytes(arena, value, out);
    if (letter == 'i') {
        *out = (struct db_cell){.letter = 'i', .number = json_integer_value(value)};
        return json_is_integer(value);
    }
    if (!json_is_string(value))
        return false;
    *out = (struct db_cell){
        .letter = 't', .bytes = json_string_value(value), .size = json_string_length(value)};
    return true;
}

static enum status add_row(struct import *import, json_t *row, struct err *err)
{
    struct db_cell cells[MOVE_COLUMNS_MAX];
    size_t count = 0;
    if (import->table == NULL || json_array_size(row) != strlen(import->letters))
        return err_set(err, STATUS_INVALID, "a row does not fit its table");
    for (size_t i = 0; i < json_array_size(row); i++) {
        if (import->letters[i] == '-')
            continue;
        if (!read_cell(import->batch_arena, json_array_get(row, i), import->letters[i],
                       &cells[count++]))
            return err_set(err, STATUS_INVALID,
                           "column %zu of a row of '%s' is not what it should"
                           " be",
                           i + 1, import->table->name);
    }
    CHECK(json_array_append(import->batch, row) == 0);
    db_bulk_add_cells(&import->bulk, cells);
    import->count++;
    import->rows++;
    import->batch_bytes += (int64_t)import->reader->line.length;
    if (import->files->progress != NULL && import->rows % PROGRESS_ROWS == 0)
        import->files->progress(import->files->context, import->table->name, import->rows);
    if (import->bulk.rows >= BATCH_ROWS || import->batch_bytes >= BATCH_BYTES)
        return flush(import, err);
    return STATUS_OK;
}

static enum status take_line(struct import *import, json_t *line, struct err *err)
{
    if (json_is_array(line))
        return add_row(import, line, err);
    if (json_object_get(line, "table") != NULL)
        return begin_table(import, line, err);
    if (end_table(import, err) != STATUS_OK)
        return err->code;
    return import->files->read != NULL ? import->files->read(import->files->context, line, err)
                                       : STATUS_OK;
}

/* Up to the last line, whose counts must be those of the rows. */
static enum status take_lines(struct import *import, struct err *err)
{
    for (;;) {
        CLEANUP(json_decrefp) json_t *line = NULL;
        if (move_read(import->reader, err) != STATUS_OK ||
            move_parse(import->reader, &line, err) != STATUS_OK)
            return err->code;
        if (import->reader->is_last) {
            if (end_table(import, err) != STATUS_OK)
                return err->code;
            const json_t *end = json_object_get(line, "end");
            if (!json_equal(json_object_get(end, "tables"), import->counts) ||
                json_get_int(end, "rows", -1) != import->rows)
                return err_set(err, STATUS_CORRUPT, "the export has not the rows that it says");
            return import->files->finish != NULL
                       ? import->files->finish(import->files->context, err)
                       : STATUS_OK;
        }
        if (take_line(import, line, err) != STATUS_OK)
            return err_wrap(err, "line %lld of the export", (long long)import->reader->lines);
    }
}

/* --- afterwards ------------------------------------------------------------------------------ */

static const char STORE_SET[] =
    "UPDATE store SET uuid = $1, epoch = $2, next_run = $3, next_task = $4, created_at_us = $5,"
    " fleet = $6 WHERE id = 1";
static const char HOSTS_MISSING[] =
    "INSERT INTO host (id, maker, name, pid, boot, kind, slots, started_at_us)"
    " SELECT DISTINCT r.host, 0, 'unknown', 0, '', 'foreground', 0, 0 FROM running r"
    " WHERE NOT EXISTS (SELECT 1 FROM host h WHERE h.id = r.host)";
static const char HOSTS_END[] = "UPDATE host SET ended_at_us = $1, fate = 'lost',"
                                " lease_until_us = 0 WHERE ended_at_us IS NULL";
/* Follows from the tasks, and older programs do not have it. */
static const char JOBS_ENDED[] =
    "UPDATE job SET ended_as = (SELECT t.state FROM task t WHERE t.id = job.id)"
    " WHERE id IN (SELECT t.id FROM task t WHERE t.run = 0 AND t.state IN (5, 6, 7, 12, 13))";

/* PostgreSQL does not look at what is there when it numbers rows. */
static enum status set_sequences(struct import *import, struct err *err)
{
    if (db_dialect(import->db) != DB_POSTGRES)
        return STATUS_OK;
    for (const struct move_table *table = MOVE_TABLES; table->name != NULL; table++) {
        if (!table->has_identity)
            continue;
        const char *sql = arena_format(
            import->arena,
            "SELECT setval(pg_get_serial_sequence('%s', 'id'), max(id)) FROM %s HAVING max(id) > 0",
            table->name, table->name);
        if (db_do(import->db, err, sql, "") != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

static enum status finish(struct import *import, const json_t *head, struct store *target,
                          struct err *err)
{
    int64_t now_us = store_now_us(target);
    const json_t *store = json_object_get(head, "store");
    struct db *db = import->db;
    if (db_do(db, err, STORE_SET, "tiiiit", json_get_string(head, "uuid", ""),
              json_get_int(head, "epoch", 0) + 1, json_get_int(store, "next_run", 1),
              json_get_int(store, "next_task", 1), json_get_int(store, "created_at_us", 0),
              json_get_string(store, "fleet", "default")) != STATUS_OK ||
        db_do(db, err, HOSTS_MISSING, "") != STATUS_OK ||
        db_do(db, err, HOSTS_END, "i", now_us) != STATUS_OK ||
        db_do(db, err, JOBS_ENDED, "") != STATUS_OK || set_sequences(import, err) != STATUS_OK ||
        store_tell(target, EVENT_STORE_RESTORED, import->actor, "{\"from\":\"export\"}", err) !=
            STATUS_OK)
        return err->code;
    return STATUS_OK;
}

/* --- all of it ------------------------------------------------------------------------------- */

static enum status read_head(struct move_reader *reader, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *head = NULL;
    struct err ignored = {0};
    if (move_read(reader, err) != STATUS_OK)
        return err->code;
    if (move_parse(reader, &head, &ignored) != STATUS_OK || !json_is_object(head) ||
        json_get_int(head, "eider_export", 0) < 1 ||
        strlen(json_get_string(head, "uuid", "")) != 36 ||
        !json_is_object(json_object_get(head, "store")))
        return err_set(err, STATUS_INVALID, "this is not an export of a store");
    if (json_get_int(head, "eider_export", 0) > MOVE_FORMAT ||
        json_get_int(head, "schema", 0) > STORE_SCHEMA)
        return err_set(err, STATUS_CONFLICT,
                       "the export is of a newer program, with schema %lld; this one knows %d",
                       (long long)json_get_int(head, "schema", 0), STORE_SCHEMA);
    *out = TAKE(head);
    return STATUS_OK;
}

/* Read what can be read twice to its end, so that a bad one does not cost the work of a load. */
static enum status verify(int fd, struct err *err)
{
    if (lseek(fd, 0, SEEK_CUR) != 0)
        return STATUS_OK;
    struct move_reader reader;
    CLEANUP(json_decrefp) json_t *head = NULL;
    move_reader_init(&reader, fd);
    enum status status = read_head(&reader, &head, err);
    while (status == STATUS_OK && !reader.is_last)
        status = move_read(&reader, err);
    move_reader_fini(&reader);
    if (status == STATUS_OK && lseek(fd, 0, SEEK_SET) != 0)
        return err_set(err, STATUS_IO, "read the export from its beginning again");
    return status;
}

static enum status fill_store(struct import *import, struct store *store,
                              struct move_result *result, struct err *err)
{
    CLEANUP(db_endp) struct db *db = store->db;
    CLEANUP(json_decrefp) json_t *head = NULL;
    if (db_begin(db, err) != STATUS_OK || require_empty(import, err) != STATUS_OK ||
        read_head(import->reader, &head, err) != STATUS_OK ||
        clear_tables(import, err) != STATUS_OK || take_lines(import, err) != STATUS_OK ||
        finish(import, head, store, err) != STATUS_OK || db_commit(db, err) != STATUS_OK)
        return err->code;
    *result = (struct move_result){.schema = STORE_SCHEMA,
                                   .epoch = json_get_int(head, "epoch", 0) + 1,
                                   .rows = import->rows,
                                   .bytes = import->reader->bytes};
    (void)snprintf(result->uuid, sizeof result->uuid, "%s", json_get_string(head, "uuid", ""));
    return STATUS_OK;
}

enum status store_import(const struct store_options *options, int fd, const char *actor,
                         const struct move_files *files, struct move_result *out, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(store_closep) struct store *store = NULL;
    struct move_reader reader;
    if (verify(fd, err) != STATUS_OK || store_open(options, &store, err) != STATUS_OK)
        return err_wrap(err, "import into the store");
    move_reader_init(&reader, fd);
    struct import import = {
        .db = store->db,
        .arena = arena,
        .actor = actor,
        .files = files,
        .reader = &reader,
        .batch = json_array(),
        .batch_arena = arena_new(),
        .counts = json_object(),
    };
    enum status status = fill_store(&import, store, out, err);
    db_bulk_fini(&import.bulk);
    json_decref(import.batch);
    json_decref(import.counts);
    arena_free(import.batch_arena);
    move_reader_fini(&reader);
    return status == STATUS_OK ? STATUS_OK : err_wrap(err, "import into the store");
}
