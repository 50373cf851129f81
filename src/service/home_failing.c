#include "service/home_failing.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "service/json_build.h"
#include "service/log_part.h"
#include "store/recent.h"
#include "store/version.h"

enum { TAIL_LINES = 20, TAIL_BYTES = 8192, LINE_MAX = 500 };

/* The last line with something in it, as bytes of `text`. */
static const char *last_line(const char *text, size_t length, size_t *out_length)
{
    size_t end = length;
    while (end > 0 && strchr(" \t\r\n", text[end - 1]) != NULL)
        end--;
    size_t begin = end;
    while (begin > 0 && text[begin - 1] != '\n')
        begin--;
    *out_length = MIN(end - begin, (size_t)LINE_MAX);
    return text + begin;
}

/* A log that is gone or cannot be read says nothing: the rest of the answer is worth more. */
static json_t *line_of_log(struct service *service, int64_t run,
                           const struct recent_failure *failure)
{
    CLEANUP(strbuf_fini) struct strbuf text;
    struct blob *blob = NULL;
    struct err ignored = {0};
    struct log_part part;
    size_t length = 0;
    const struct log_part_request request = {
        .key = {.kind = BLOB_LOG, .ids = {run, failure->task, failure->attempt}, .id_count = 3},
        .tail = TAIL_LINES,
        .is_over = true,
        .bytes_max = TAIL_BYTES,
    };
    strbuf_init(&text, 1 << 20);
    if (service_blob_if_any(service, &blob, &ignored) != STATUS_OK || blob == NULL ||
        log_part_read(blob, &request, &text, &part, &ignored) != STATUS_OK || text.length == 0)
        return json_null();
    const char *line = last_line(text.text, text.length, &length);
    return length > 0 ? json_text(line, length) : json_null();
}

static bool is_empty(const char *text)
{
    return text == NULL || text[0] == '\0';
}

enum status home_failing_put(struct service *service, const struct run_info *run, bool may_read_log,
                             bool *out_read, json_t *object, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct recent_failure failure = {0};
    const struct dag *dag = NULL;
    struct store *store = NULL;
    bool is_found = false;
    if (service_store(service, DB_READ_ONLY, &store, err) != STATUS_OK ||
        store_recent_failure(store, arena, run->id, &failure, &is_found, err) != STATUS_OK ||
        store_version_dag(store, run->version, &dag, err) != STATUS_OK)
        return err->code;
    is_found = is_found && failure.node >= 0 && (size_t)failure.node < dag->tasks_count;
    *out_read = is_found && is_empty(failure.detail) && failure.log_bytes > 0 && may_read_log;
    json_put_string(object, "task_id", is_found ? dag->tasks[failure.node].id : NULL);
    json_put(object, "map_index", is_found ? json_integer(failure.map_index) : json_null());
    json_put_string(object, "label", failure.label);
    json_put(object, "try_number", is_found ? json_integer(failure.attempt) : json_null());
    json_put(object, "exit_code", is_found ? json_integer(failure.exit_code) : json_null());
    if (*out_read)
        json_put(object, "message", line_of_log(service, run->id, &failure));
    else
        json_put_string(object, "message", failure.detail);
    return STATUS_OK;
}
