#include "worker/attempt_end.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "blob/log_reader.h"
#include "model/limits.h"
#include "worker/keeper_outputs.h"
#include "worker/spill.h"

enum { LAST_LINE_MAX = 200 };

/* --- what the task said ---------------------------------------------------------------------- */

void attempt_reports_add(struct attempt_reports *reports, const struct keeper_report *report)
{
    if (report->type == KEEPER_REPORT_VALUE) {
        if (reports->values == NULL)
            reports->values = json_object();
        if (json_object_size(reports->values) < LIMIT_VALUES_PER_TASK)
            json_put(reports->values, report->key, json_deep_copy(report->value));
    } else if (report->type == KEEPER_REPORT_DEFER) {
        reports->has_result = false;
        reports->defer_until_us =
            report->until_us != 0 ? report->until_us : clock_wall_us() + report->after_ms * 1000;
        free(reports->reason);
        reports->reason = report->reason != NULL ? mem_strdup(report->reason) : NULL;
    } else if (report->type == KEEPER_REPORT_RESULT) {
        reports->has_result = true;
        reports->defer_until_us = 0;
        reports->result = report->outcome;
        free(reports->reason);
        reports->reason = report->reason != NULL ? mem_strdup(report->reason) : NULL;
    }
}

void attempt_reports_fini(struct attempt_reports *reports)
{
    json_decref(reports->values);
    free(reports->reason);
    *reports = (struct attempt_reports){0};
}

/* --- why it ended ---------------------------------------------------------------------------- */

static const enum task_state STATE_OF_RESULT[KEEPER_OUTCOME_COUNT] = {
    [KEEPER_OUTCOME_SUCCESS] = TASK_SUCCESS,
    [KEEPER_OUTCOME_FAILED] = TASK_FAILED,
    [KEEPER_OUTCOME_SKIPPED] = TASK_SKIPPED,
    [KEEPER_OUTCOME_RETRY] = TASK_UP_FOR_RETRY,
};

static struct attempt_end end_of(const struct keeper_exit *exit,
                                 const struct attempt_reports *reports)
{
    static const enum reason REASONS[KEEPER_EXIT_KIND_COUNT] = {
        [KEEPER_EXITED] = REASON_EXIT,           [KEEPER_SIGNALLED] = REASON_SIGNAL,
        [KEEPER_EXEC_ERROR] = REASON_EXEC_ERROR, [KEEPER_NO_RESOURCES] = REASON_NONE,
        [KEEPER_TIMEOUT] = REASON_TIMEOUT,       [KEEPER_STOPPED] = REASON_CANCELLED,
        [KEEPER_LOST] = REASON_LOST_OWNER,
    };
    if (exit->kind == KEEPER_EXITED && exit->code == 0 && reports->defer_until_us != 0)
        return (struct attempt_end){.reason = REASON_RESULT, .result = TASK_FAILED};
    if (exit->kind == KEEPER_EXITED && reports->has_result)
        return (struct attempt_end){.reason = REASON_RESULT,
                                    .result = STATE_OF_RESULT[reports->result]};
    return (struct attempt_end){
        .reason = REASONS[exit->kind],
        .exit_code = exit->kind == KEEPER_SIGNALLED ? exit->signal : exit->code,
        .result = TASK_FAILED,
    };
}

struct last_line {
    char text[LAST_LINE_MAX];
    size_t length;
};

static bool note_line(void *context, const struct log_line *line)
{
    struct last_line *last = context;
    size_t length = MIN(line->length, sizeof last->text - 1);
    bool has_text = false;
    for (size_t i = 0; i < length; i++)
        has_text |= (unsigned char)line->bytes[i] > ' ';
    if (has_text) {
        memcpy(last->text, line->bytes, length);
        last->length = length;
    }
    return true;
}

static struct blob_key log_key(const struct attempt_facts *facts)
{
    return (struct blob_key){
        .kind = BLOB_LOG,
        .ids = {facts->claim->run, facts->claim->task, facts->claim->attempt},
        .id_count = 3,
    };
}

/* What the task printed last usually says why it failed. */
static const char *last_words(const struct attempt_facts *facts, struct arena *arena)
{
    struct blob_key key = log_key(facts);
    CLEANUP(log_reader_closep) struct log_reader *reader = NULL;
    struct last_line last = {.length = 0};
    struct err ignored = {0};
    if (log_reader_open(facts->blob, &key, &reader, &ignored) != STATUS_OK ||
        log_reader_tail(reader, 5, note_line, &last, &ignored) != STATUS_OK || last.length == 0)
        return NULL;
    CLEANUP(json_decrefp) json_t *clean = json_text(last.text, last.length);
    return arena_strdup(arena, json_string_value(clean));
}

/* The last lines of its log as far as a message has room for them. */
static const char *log_end_of(const struct attempt_facts *facts, struct arena *arena)
{
    struct blob_key key = log_key(facts);
    CLEANUP(log_reader_closep) struct log_reader *reader = NULL;
    struct log_totals totals = {0};
    struct err ignored = {0};
    char *bytes = arena_alloc(arena, LIMIT_ALERT_ERROR_BYTES + 1);
    size_t length = 0;
    if (log_reader_open(facts->blob, &key, &reader, &ignored) != STATUS_OK ||
        log_reader_totals(reader, &totals, &ignored) != STATUS_OK)
        return NULL;
    uint64_t offset = totals.bytes - MIN(totals.bytes, (uint64_t)LIMIT_ALERT_ERROR_BYTES);
    if (log_reader_bytes(reader, offset, bytes, LIMIT_ALERT_ERROR_BYTES, &length, &ignored) !=
        STATUS_OK)
        return NULL;
    while (length > 0 && (unsigned char)bytes[length - 1] <= ' ')
        length--;
    const char *end = offset > 0 ? memchr(bytes, '\n', length) : NULL;
    const char *first = end != NULL ? end + 1 : bytes;
    length -= (size_t)(first - bytes);
    for (; offset > 0 && length > 0 && ((unsigned char)*first & 0xC0) == 0x80; length--)
        first++; /* not in the middle of a character */
    CLEANUP(json_decrefp) json_t *clean = json_text(first, length);
    return length > 0 ? arena_strdup(arena, json_string_value(clean)) : NULL;
}

/* Only its log can say why it failed. */
static bool is_told_by_log(const struct attempt_facts *facts, const struct keeper_exit *exit)
{
    bool is_explained =
        exit->kind == KEEPER_EXITED && (facts->reports->reason != NULL || exit->code == 0);
    return !is_explained && exit->kind != KEEPER_EXEC_ERROR && exit->kind != KEEPER_NO_RESOURCES &&
           exit->kind != KEEPER_STOPPED;
}

static const char *detail_of(const struct attempt_facts *facts, const struct keeper_exit *exit,
                             struct arena *arena)
{
    if (is_told_by_log(facts, exit))
        return last_words(facts, arena);
    if (exit->kind == KEEPER_EXITED && facts->reports->reason != NULL)
        return arena_strdup(arena, facts->reports->reason);
    bool is_our_word = exit->kind == KEEPER_EXEC_ERROR || exit->kind == KEEPER_NO_RESOURCES;
    return is_our_word ? arena_strdup(arena, exit->text) : NULL;
}

/* A log that could not be kept is no failure of the task, and nothing to keep quiet about. */
static const char *detail_with_log(const char *detail, const struct keeper_exit *exit,
                                   struct arena *arena)
{
    if (exit->log.error[0] == '\0' || exit->log.dropped_bytes == 0)
        return detail;
    return arena_format(arena, "%s%s%llu bytes of its log could not be kept: %s",
                        detail != NULL ? detail : "", detail != NULL ? "; " : "",
                        (unsigned long long)exit->log.dropped_bytes, exit->log.error);
}

/* --- values ---------------------------------------------------------------------------------- */

static enum status keep_value(const struct attempt_facts *facts, const char *key,
                              const json_t *json, struct arena *arena, struct outcome_value *out,
                              struct err *err)
{
    CLEANUP(mem_freep) char *text = json_format(json);
    size_t length = strlen(text);
    *out = (struct outcome_value){.key = arena_strdup(arena, key), .bytes = (int64_t)length};
    if (length <= LIMIT_VALUE_INLINE_BYTES) {
        out->json = arena_strdup(arena, text);
        return STATUS_OK;
    }
    if (length > LIMIT_VALUE_BYTES)
        return err_set(err, STATUS_LIMIT, "value '%s' has %zu bytes, at most %d", key, length,
                       LIMIT_VALUE_BYTES);
    const struct claim *claim = facts->claim;
    struct spill_key place = {claim->run, claim->task, claim->attempt, key};
    struct err away = {0};
    if (spill_put(facts->blob, &place, text, length, &away) == STATUS_OK)
        return STATUS_OK;
    if (!status_is_retryable(away.code) && away.code != STATUS_UNKNOWN) {
        *err = away;
        return err->code;
    }
    /* The place for it cannot be reached now; the outcome itself is delivered when it can. */
    out->json = arena_strdup(arena, text);
    return STATUS_OK;
}

static enum status keep_values(const struct attempt_facts *facts, const json_t *values,
                               struct arena *arena, struct outcome *out, struct err *err)
{
    struct outcome_value *list = arena_array(arena, json_object_size(values) + 1, sizeof *list);
    size_t count = 0;
    for (void *at = json_object_iter((json_t *)(uintptr_t)values); at != NULL;
         at = json_object_iter_next((json_t *)(uintptr_t)values, at)) {
        if (strncmp(json_object_iter_key(at), "__", 2) == 0)
            return err_set(err, STATUS_INVALID, "value '%s': names that begin with __ are ours",
                           json_object_iter_key(at));
        if (keep_value(facts, json_object_iter_key(at), json_object_iter_value(at), arena,
                       &list[count++], err) != STATUS_OK)
            return err->code;
    }
    out->values = list;
    out->values_count = count;
    return STATUS_OK;
}

static enum status take_values(const struct attempt_facts *facts, const struct keeper_exit *exit,
                               struct arena *arena, struct outcome *out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *values = NULL;
    if (exit->outputs_left && keeper_outputs_take(facts->outputs_dir, &values, err) != STATUS_OK)
        return err_wrap(err, "outputs");
    if (facts->reports->values != NULL) {
        if (values == NULL)
            values = json_object();
        CHECK(json_object_update(values, facts->reports->values) == 0);
    }
    return values != NULL ? keep_values(facts, values, arena, out, err) : STATUS_OK;
}

/* A job has no run in which it could wait. */
static void defer(const struct attempt_facts *facts, struct arena *arena, struct outcome *out)
{
    const char *reason = facts->reports->reason;
    if (facts->claim->run == 0) {
        out->detail = "it asked to go on later, which only tasks of a run can";
        return;
    }
    struct wait_plan *wait = arena_alloc(arena, sizeof *wait);
    *wait = (struct wait_plan){
        .kind = SENSOR_RUN,
        .subject = arena_strdup(arena, reason != NULL ? reason : "it asked to go on later"),
        .target_us = facts->reports->defer_until_us,
    };
    out->kind = OUTCOME_DEFER;
    out->wait = wait;
}

void attempt_end_make(const struct attempt_facts *facts, const struct keeper_exit *exit,
                      struct arena *arena, struct outcome *out)
{
    *out = (struct outcome){
        .task = facts->claim->task,
        .run = facts->claim->run,
        .attempt = facts->claim->attempt,
        .nonce = facts->claim->nonce,
        .kind = exit->kind == KEEPER_NO_RESOURCES ? OUTCOME_RETURN
                : exit->kind == KEEPER_LOST       ? OUTCOME_LOST
                                                  : OUTCOME_END,
        .end = end_of(exit, facts->reports),
        .detail = detail_with_log(detail_of(facts, exit, arena), exit, arena),
        .label = facts->label,
        .datasets = facts->datasets,
        .datasets_count = facts->datasets_count,
        .started_at_us = facts->started_at_us,
        .ended_at_us = facts->started_at_us + exit->wall_us,
        .log_bytes = (int64_t)exit->log.bytes,
        .cpu_ms = (exit->user_us + exit->system_us) / 1000,
        .rss_kb = exit->rss_kb,
    };
    /* Nobody is told of jobs. */
    if (facts->claim->run != 0 && is_told_by_log(facts, exit))
        out->log_end = log_end_of(facts, arena);
    if (exit->kind == KEEPER_EXITED && exit->code == 0 && facts->reports->defer_until_us != 0)
        defer(facts, arena, out);
    struct err err = {0};
    bool ended_well =
        exit->kind == KEEPER_EXITED && (exit->code == 0 || facts->reports->has_result);
    /* A task that failed or was stopped may leave half of its outputs: that is not why it failed.
     */
    if (take_values(facts, exit, arena, out, &err) != STATUS_OK && ended_well) {
        out->end = (struct attempt_end){.reason = REASON_LIMIT, .result = TASK_FAILED};
        out->detail = arena_strdup(arena, err.text);
    }
}
