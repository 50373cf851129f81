/*
 * dag_sync_file: one DAG file, from its bytes to what the store is told.
 */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/dag_files.h"
#include "model/limits.h"
#include "os/file.h"
#include "service/dag_sync_priv.h"

enum { PROBLEMS_MOST = 20, SOURCE_MOST = 400 };

/* --- parts ----------------------------------------------------------------------------------- */

static void free_parts(struct sync_part *parts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(parts[i].path);
    free(parts);
}

static char *format_parts(const struct sync_part *parts, size_t count)
{
    CLEANUP(json_decrefp) json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct file_stamp *stamp = &parts[i].stamp;
        (void)json_array_append_new(list,
                                    json_pack("[s,I,I,I,I]", parts[i].path, stamp->size,
                                              stamp->mtime_ns, stamp->ctime_ns, stamp->inode));
    }
    return json_format(list);
}

static void parse_parts(struct sync_file *file, const char *text)
{
    CLEANUP(json_decrefp) json_t *list = NULL;
    struct err ignored = {0};
    if (str_equal(text, "[]") || json_parse(text, strlen(text), &list, &ignored) != STATUS_OK)
        return;
    file->parts = mem_zalloc(json_array_size(list) + 1, sizeof *file->parts);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *part = json_array_get(list, i);
        const char *path = json_string_value(json_array_get(part, 0));
        if (path == NULL)
            continue;
        file->parts[file->parts_count++] = (struct sync_part){
            .path = mem_strdup(path),
            .stamp =
                {
                    .size = json_integer_value(json_array_get(part, 1)),
                    .mtime_ns = json_integer_value(json_array_get(part, 2)),
                    .ctime_ns = json_integer_value(json_array_get(part, 3)),
                    .inode = json_integer_value(json_array_get(part, 4)),
                },
        };
    }
}

static bool parts_are_touched(const struct sync_file *file)
{
    for (size_t i = 0; i < file->parts_count; i++) {
        struct file_stamp stamp = {0};
        (void)!file_stamp_read(file->parts[i].path, &stamp);
        if (!file_stamp_equal(&stamp, &file->parts[i].stamp))
            return true;
    }
    return false;
}

/* Stamped before they are read: what is written meanwhile is noticed by the next look. */
static void note_parts(struct sync_reading *reading)
{
    const struct spec_file *spec = reading->spec;
    size_t capacity = 0;
    for (size_t i = 0; i < spec->dags_count; i++) {
        const struct file_name *names = NULL;
        size_t count = spec->dags[i] != NULL ? dag_file_names(spec->dags[i], &names) : 0;
        for (size_t k = 0; k < count; k++) {
            struct sync_part part = {.path = spec_named_path(spec->path, names[k].name)};
            (void)!file_stamp_read(part.path, &part.stamp);
            reading->parts =
                mem_grow(reading->parts, &capacity, reading->parts_count, sizeof *reading->parts);
            reading->parts[reading->parts_count++] = part;
        }
    }
}

/* --- what is remembered ---------------------------------------------------------------------- */

void sync_file_fini(struct sync_file *file)
{
    free_parts(file->parts, file->parts_count);
    free(file->path);
    *file = (struct sync_file){0};
}

void sync_file_init(struct sync_file *file, const struct dag_file *kept)
{
    *file = (struct sync_file){
        .path = mem_strdup(kept->path),
        .stamp = kept->stamp,
        .is_kept = true,
        .is_broken = kept->problems != NULL,
        .is_refused = kept->problems != NULL && kept->hash[0] == '\0',
    };
    if (strlen(kept->hash) < sizeof file->hash)
        memcpy(file->hash, kept->hash, strlen(kept->hash) + 1);
    parse_parts(file, kept->parts);
}

bool sync_file_is_touched(const struct sync_file *file, const struct file_stamp *stamp)
{
    return !file->is_kept || !file_stamp_equal(stamp, &file->stamp) || parts_are_touched(file);
}

/* --- reading --------------------------------------------------------------------------------- */

static bool is_settled(const struct file_stamp *stamp, int64_t settle_ms)
{
    int64_t age_ns = clock_wall_us() * 1000 - stamp->ctime_ns;
    return age_ns < 0 || age_ns >= settle_ms * 1000000;
}

/* The line of a problem as its author wrote it; as much of it as people read. */
static json_t *source_line(const char *text, size_t length, int line)
{
    const char *at = text;
    const char *end = text + length;
    for (int i = 1; i < line && at != NULL; i++) {
        at = memchr(at, '\n', (size_t)(end - at));
        at = at != NULL ? at + 1 : NULL;
    }
    if (line < 1 || at == NULL)
        return json_null();
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    return json_text(at, MIN((size_t)((stop != NULL ? stop : end) - at), (size_t)SOURCE_MOST));
}

static char *format_problems(const struct diag_list *diags, const char *text, size_t length)
{
    if (diags->errors == 0)
        return NULL;
    CLEANUP(json_decrefp) json_t *list = json_array();
    for (size_t i = 0; i < diags->count && json_array_size(list) < PROBLEMS_MOST; i++) {
        const struct diag *diag = &diags->items[i];
        if (diag->severity != DIAG_ERROR)
            continue;
        json_t *row = json_pack("[i,i]", diag->line, diag->column);
        (void)json_array_append_new(row, json_text(diag->text, strlen(diag->text)));
        (void)json_array_append_new(row, json_integer(diag->length));
        (void)json_array_append_new(row, source_line(text, length, diag->line));
        (void)json_array_append_new(list, row);
    }
    return json_format(list);
}

static void parse(struct sync_reading *reading, const char *text, size_t length)
{
    reading->spec = spec_load_text(reading->file->path, text, length);
    note_parts(reading);
    if (reading->spec->diags.errors == 0)
        spec_add_files(reading->spec);
    reading->problems = format_problems(&reading->spec->diags, text, length);
}

static void note_failure(struct sync_reading *reading, const struct err *err)
{
    CLEANUP(json_decrefp) json_t *list = json_pack("[[i,i]]", 0, 0);
    (void)json_array_append_new(json_array_get(list, 0), json_text(err->text, strlen(err->text)));
    reading->problems = json_format(list);
}

bool sync_read(struct sync_file *file, int64_t settle_ms, struct sync_reading *out)
{
    struct sync_reading reading = {.file = file};
    struct file_stamp after;
    struct err err = {0};
    CLEANUP(mem_freep) char *text = NULL;
    size_t length = 0;
    if (!file_stamp_read(file->path, &reading.stamp) || !is_settled(&reading.stamp, settle_ms))
        return false;
    enum status status = file_read(file->path, LIMIT_FILE_BYTES, &text, &length, &err);
    if (!file_stamp_read(file->path, &after) || !file_stamp_equal(&after, &reading.stamp))
        return false;
    if (status != STATUS_OK) {
        note_failure(&reading, &err);
    } else {
        (void)sha256_hex(text, length, reading.hash);
        reading.is_same = file->is_kept && !file->is_refused &&
                          str_equal(reading.hash, file->hash) && !parts_are_touched(file);
        reading.bytes = length;
        if (!reading.is_same)
            parse(&reading, text, length);
    }
    reading.parts_text = reading.is_same ? format_parts(file->parts, file->parts_count)
                                         : format_parts(reading.parts, reading.parts_count);
    *out = reading;
    return true;
}

void sync_reading_fini(struct sync_reading *reading)
{
    free_parts(reading->parts, reading->parts_count);
    spec_file_free(reading->spec);
    free(reading->problems);
    free(reading->parts_text);
    *reading = (struct sync_reading){0};
}

struct dag_file_change sync_reading_change(const struct sync_reading *reading)
{
    const struct spec_file *spec = reading->spec;
    struct dag_file_change change = {
        .path = reading->file->path,
        .stamp = reading->stamp,
        .hash = reading->hash,
        .parts = reading->parts_text,
        .is_same = reading->is_same,
        .problems = reading->problems,
    };
    if (spec != NULL && reading->problems == NULL) {
        change.text = spec->text;
        change.dags = spec->dags;
        change.lines = spec->lines;
        change.dags_count = spec->dags_count;
    }
    return change;
}

void sync_reading_accept(struct sync_reading *reading, const struct dag_file_result *result)
{
    struct sync_file *file = reading->file;
    file->stamp = reading->stamp;
    file->is_kept = true;
    file->is_due = false;
    if (reading->is_same)
        return;
    memcpy(file->hash, reading->hash, sizeof file->hash);
    free_parts(file->parts, file->parts_count);
    file->parts = TAKE(reading->parts);
    file->parts_count = reading->parts_count;
    reading->parts_count = 0;
    file->is_refused = result->is_refused;
    file->is_broken = result->is_refused || reading->problems != NULL;
}
