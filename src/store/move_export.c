/*
 * Writing a store as lines. PostgreSQL would hand over a whole table at once, so it is read through
 * a cursor there.
 */
#include <stdio.h>
#include <string.h>

#include "base/base64.h"
#include "base/check.h"
#include "base/mem.h"
#include "store/move.h"
#include "store/move_stream.h"
#include "store/move_tables.h"
#include "store/store_priv.h"

enum { PROGRESS_ROWS = 10000, FETCH_ROWS = 500 };

struct export
{
    struct db *db;
    struct arena *arena; /* lives longer than the connection, which keeps the texts of statements */
    const struct move_files *files;
    struct move_writer writer;
    json_t *counts;
    int64_t rows;
    /* What is being written. */
    const struct move_table *table;
    struct move_columns columns;
};

static void append(json_t *array, json_t *taken)
{
    CHECK(json_array_append_new(array, taken) == 0);
}

/* --- the first line -------------------------------------------------------------------------- */

static const char STORE_ROW[] =
    "SELECT uuid, epoch, schema, next_run, next_task, created_at_us, fleet FROM store WHERE id = 1";

static enum status write_head(struct export *export, int64_t now_us, struct move_result *result,
                              struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(export->db, &stmt, err, STORE_ROW, "") != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    if (!row)
        return err_set(err, STATUS_CORRUPT, "the store has no store row");
    if (db_int(stmt, 2) < STORE_SCHEMA)
        return err_set(err, STATUS_CONFLICT,
                       "the store has schema %lld; `eider store migrate` brings it to %d",
                       (long long)db_int(stmt, 2), STORE_SCHEMA);
    CLEANUP(json_decrefp) json_t *head = json_object();
    json_put_int(head, "eider_export", MOVE_FORMAT);
    json_put_string(head, "uuid", db_text(stmt, 0));
    json_put_int(head, "epoch", db_int(stmt, 1));
    json_put_int(head, "schema", db_int(stmt, 2));
    json_put_instant(head, "exported_at", now_us);
    json_t *store = json_object();
    json_put_int(store, "next_run", db_int(stmt, 3));
    json_put_int(store, "next_task", db_int(stmt, 4));
    json_put_int(store, "created_at_us", db_int(stmt, 5));
    json_put_string(store, "fleet", db_text(stmt, 6));
    json_put(head, "store", store);
    result->epoch = db_int(stmt, 1);
    result->schema = db_int(stmt, 2);
    (void)snprintf(result->uuid, sizeof result->uuid, "%s", db_text(stmt, 0));
    db_reset(stmt);
    return move_write(&export->writer, head, err);
}

/* --- tables ---------------------------------------------------------------------------------- */

static json_t *bytes_of(struct db_stmt *stmt, int column)
{
    size_t size = 0;
    const void *bytes = db_blob(stmt, column, &size);
    struct strbuf text;
    strbuf_init(&text, size * 2 + 8);
    base64_encode(&text, bytes, size);
    json_t *object = json_object();
    json_put_string(object, "$b64", text.text);
    strbuf_fini(&text);
    return object;
}

static json_t *cell_of(struct db_stmt *stmt, int column, char letter)
{
    if (db_is_null(stmt, column))
        return json_null();
    if (letter == 'b')
        return bytes_of(stmt, column);
    if (letter == 'i')
        return json_integer(db_int(stmt, column));
    const char *text = db_text(stmt, column);
    return json_text(text, strlen(text));
}

typedef enum status (*row_fn)(struct export *export, struct db_stmt *stmt, struct err *err);

/* All rows that a statement gives; *count rises by them. */
static enum status step_rows(struct export *export, const char *sql, row_fn each, int64_t *count,
                             struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status = db_query(export->db, &stmt, err, sql, "");
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        status = each(export, stmt, err);
        *count += 1;
        if (status != STATUS_OK)
            db_reset(stmt);
    }
    return status;
}

static enum status by_cursor(struct export *export, const char *name, const char *sql, row_fn each,
                             int64_t *count, struct err *err)
{
    struct arena *arena = export->arena;
    const char *open = arena_format(arena, "DECLARE move_%s NO SCROLL CURSOR FOR %s", name, sql);
    const char *fetch = arena_format(arena, "FETCH %d FROM move_%s", FETCH_ROWS, name);
    const char *close = arena_format(arena, "CLOSE move_%s", name);
    if (db_script(export->db, open, err) != STATUS_OK)
        return err->code;
    for (int64_t before = -1; before != *count;) {
        before = *count;
        if (step_rows(export, fetch, each, count, err) != STATUS_OK)
            return err->code;
    }
    return db_script(export->db, close, err);
}

static enum status each_row(struct export *export, const char *name, const char *sql, row_fn each,
                            int64_t *out_count, struct err *err)
{
    int64_t count = 0;
    enum status status = db_dialect(export->db) == DB_POSTGRES
                             ? by_cursor(export, name, sql, each, &count, err)
                             : step_rows(export, sql, each, &count, err);
    *out_count = count;
    return status;
}

static enum status write_row(struct export *export, struct db_stmt *stmt, struct err *err)
{
    CLEANUP(json_decrefp) json_t *row = json_array();
    int place = 0;
    for (size_t i = 0; i < export->columns.count; i++)
        if (!export->columns.items[i].stays)
            append(row, cell_of(stmt, place++, export->columns.items[i].letter));
    export->rows++;
    if (export->files->progress != NULL && export->rows % PROGRESS_ROWS == 0)
        export->files->progress(export->files->context, export->table->name, export->rows);
    return move_write(&export->writer, row, err);
}

/* SELECT of the columns that move; the same names as a list in `names`. */
static const char *select_text(struct export *export, json_t *names)
{
    const char *list = "";
    for (size_t i = 0; i < export->columns.count; i++) {
        const struct move_column *column = &export->columns.items[i];
        if (column->stays)
            continue;
        append(names, json_string(column->name));
        list =
            arena_format(export->arena, "%s%s%s", list, list[0] == '\0' ? "" : ", ", column->name);
    }
    return arena_format(export->arena, "SELECT %s FROM %s", list, export->table->name);
}

static enum status write_table(struct export *export, const struct move_table *table,
                               struct err *err)
{
    int64_t count = 0;
    CLEANUP(json_decrefp) json_t *head = json_object();
    json_t *names = json_array();
    export->table = table;
    move_table_columns(table, db_dialect(export->db), export->arena, &export->columns);
    const char *sql = select_text(export, names);
    json_put_string(head, "table", table->name);
    json_put(head, "columns", names);
    if (move_write(&export->writer, head, err) != STATUS_OK ||
        each_row(export, table->name, sql, write_row, &count, err) != STATUS_OK)
        return err->code;
    json_put_int(export->counts, table->name, count);
    return STATUS_OK;
}

/* --- files ----------------------------------------------------------------------------------- */

static const char VALUES[] = "SELECT t.run, v.task, t.attempt, v.key FROM value v"
                             " JOIN task t ON t.id = v.task WHERE v.json IS NULL";
static const char LOGS[] = "SELECT t.run, t.id, t.attempt, NULL FROM task t WHERE t.attempt > 0"
                           " UNION SELECT t.run, a.task, a.attempt, NULL FROM attempt a"
                           " JOIN task t ON t.id = a.task";

static enum status write_file(struct export *export, struct db_stmt *stmt, struct err *err)
{
    struct move_file file = {.run = db_int(stmt, 0),
                             .task = db_int(stmt, 1),
                             .attempt = db_int(stmt, 2),
                             .value = db_is_null(stmt, 3) ? NULL : db_text(stmt, 3)};
    return export->files->write(export->files->context, &file, &export->writer, err);
}

static enum status write_files(struct export *export, struct err *err)
{
    int64_t ignored = 0;
    if (export->files->write == NULL)
        return STATUS_OK;
    if (each_row(export, "values", VALUES, write_file, &ignored, err) != STATUS_OK ||
        each_row(export, "logs", LOGS, write_file, &ignored, err) != STATUS_OK)
        return err->code;
    return STATUS_OK;
}

/* --- all of it ------------------------------------------------------------------------------- */

static enum status write_all(struct export *export, int64_t now_us, struct move_result *result,
                             struct err *err)
{
    CLEANUP(db_endp) struct db *db = export->db;
    if (db_begin_read(db, err) != STATUS_OK || write_head(export, now_us, result, err) != STATUS_OK)
        return err->code;
    for (const struct move_table *table = MOVE_TABLES; table->name != NULL; table++)
        if (!table->stays && write_table(export, table, err) != STATUS_OK)
            return err_wrap(err, "table '%s'", table->name);
    if (write_files(export, err) != STATUS_OK)
        return err->code;
    json_t *end = json_object();
    json_put_int(end, "rows", export->rows);
    json_put(end, "tables", json_incref(export->counts));
    return move_finish(&export->writer, end, err);
}

enum status store_export(const struct store_options *options, int fd,
                         const struct move_files *files, struct move_result *out, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(store_closep) struct store *store = NULL;
    CLEANUP(json_decrefp) json_t *counts = json_object();
    struct move_result result = {0};
    if (store_open(options, &store, err) != STATUS_OK)
        return err->code;
    struct export export = {.db = store->db, .arena = arena, .files = files, .counts = counts};
    move_writer_init(&export.writer, fd);
    enum status status = write_all(&export, store_now_us(store), &result, err);
    result.rows = export.rows;
    result.bytes = export.writer.bytes;
    move_writer_fini(&export.writer);
    if (status != STATUS_OK)
        return err_wrap(err, "export the store");
    *out = result;
    return STATUS_OK;
}
