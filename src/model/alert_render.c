#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/alert_priv.h"
#include "model/duration.h"
#include "model/limits.h"

/* ---- texts of the hook ---- */

enum status alert_refuse(const struct alert_work *work, const char *what, struct err *err)
{
    alert_scope_judge(&work->scope, err);
    return err_wrap(err, "render '%s' of the %s hook", what, hook_target_name(work->hook->target));
}

enum status alert_fill(struct alert_work *work, const char *what, const char *text,
                       const char **out, struct err *err)
{
    alert_scope_begin(&work->scope);
    if (text == NULL || template_is_plain(text)) {
        *out = text;
        return STATUS_OK;
    }
    const struct template *template = NULL;
    struct template_fault fault = {0};
    struct template_scope scope = alert_scope_of(&work->scope);
    CLEANUP(mem_freep) char *rendered = NULL;
    enum status status = template_parse(work->arena, text, &template, &fault, err);
    if (status == STATUS_OK)
        status = template_render_text(template, &scope, &rendered, &fault, err);
    if (status == STATUS_OK && strlen(rendered) > LIMIT_ALERT_BODY_BYTES)
        status = err_set(err, STATUS_LIMIT, "it is longer than %d bytes", LIMIT_ALERT_BODY_BYTES);
    if (status != STATUS_OK)
        return alert_refuse(work, what, err);
    *out = arena_strdup(work->arena, rendered);
    return STATUS_OK;
}

const char *alert_fill_for_people(struct alert_work *work, const char *what, const char *text)
{
    struct err err = {0};
    const char *filled = NULL;
    if (alert_fill(work, what, text, &filled, &err) == STATUS_OK)
        return filled;
    return arena_format(work->arena, "%s (%s)", alert_notice_headline(work->arena, work->notice),
                        err.text);
}

const char *alert_format(struct arena *arena, json_t *taken)
{
    CLEANUP(mem_freep) char *text = json_format(taken);
    json_decref(taken);
    return arena_strdup(arena, text);
}

/* ---- facts for people ---- */

static void add_fact(struct alert_fact *facts, size_t *count, const char *name, const char *text)
{
    if (text != NULL && text[0] != '\0')
        facts[(*count)++] = (struct alert_fact){name, text};
}

static const char *instant_text(struct arena *arena, int64_t at_us)
{
    char text[INSTANT_TEXT_MAX];
    return at_us != 0 ? arena_strdup(arena, instant_format(at_us, text)) : NULL;
}

static const char *duration_text(struct arena *arena, const struct alert_event *event)
{
    char text[DURATION_TEXT_MAX];
    if (event->started_at_us == 0 || event->ended_at_us < event->started_at_us)
        return NULL;
    int64_t ms = (event->ended_at_us - event->started_at_us) / 1000;
    return arena_strdup(arena, duration_format(MIN(ms, DURATION_MS_MAX), text));
}

/* "load, check[3] and 2 more"; NULL: it is not about a run that failed. */
static const char *failed_text(struct arena *arena, const struct alert_event *event)
{
    struct strbuf text;
    size_t count = json_array_size(event->failed);
    if (count == 0)
        return NULL;
    strbuf_init(&text, LIMIT_ALERT_ERROR_BYTES);
    for (size_t i = 0; i < count; i++) {
        const json_t *failed = json_array_get(event->failed, i);
        struct alert_event task = {.task = json_get_string(failed, "task", ""),
                                   .map_index = json_get_int(failed, "map_index", -1)};
        strbuf_addf(&text, "%s%s", i > 0 ? ", " : "", alert_task_text(arena, &task));
    }
    if (event->failed_total > (int64_t)count)
        strbuf_addf(&text, " and %" PRId64 " more", event->failed_total - (int64_t)count);
    const char *kept = arena_strndup(arena, text.text, text.length);
    strbuf_fini(&text);
    return kept;
}

size_t alert_facts(struct arena *arena, const struct alert_event *event,
                   struct alert_fact out[ALERT_FACTS_MAX])
{
    size_t count = 0;
    add_fact(out, &count, "DAG", event->dag);
    add_fact(out, &count, "Run", event->run_id);
    if (event->task != NULL)
        add_fact(out, &count, "Task", alert_task_text(arena, event));
    if (event->task != NULL && event->try_number > 0)
        add_fact(out, &count, "Attempt", arena_format(arena, "%" PRId64, event->try_number));
    add_fact(out, &count, "State", event->state);
    add_fact(out, &count, "Reason", event->reason);
    if (event->has_exit_code)
        add_fact(out, &count, "Exit code", arena_format(arena, "%" PRId64, event->exit_code));
    else if (event->signal != 0)
        add_fact(out, &count, "Signal", arena_format(arena, "%" PRId64, event->signal));
    add_fact(out, &count, "Failed", failed_text(arena, event));
    add_fact(out, &count, "Date", instant_text(arena, event->logical_at_us));
    add_fact(out, &count, "Duration", duration_text(arena, event));
    add_fact(out, &count, "Note", event->note);
    CHECK(count <= ALERT_FACTS_MAX);
    return count;
}

void alert_list(struct arena *arena, const struct alert_notice *notice, const char *bullet,
                struct strbuf *out)
{
    size_t shown = MIN(notice->count, (size_t)LIMIT_ALERT_LISTED);
    for (size_t i = 0; i < shown; i++)
        strbuf_addf(out, "%s%s (%s)\n", bullet, alert_headline(arena, &notice->events[i]),
                    alert_text_or(notice->events[i].run_id, "no run"));
    if (notice->total > shown)
        strbuf_addf(out, "%sand %zu more\n", bullet, notice->total - shown);
}

/* ---- webhook ---- */

/* A text for one line. */
static enum status fill_line(struct alert_work *work, const char *what, const char *text,
                             const char **out, struct err *err)
{
    if (alert_fill(work, what, text, out, err) != STATUS_OK)
        return err->code;
    for (const char *p = *out; p != NULL && *p != '\0'; p++) {
        if ((unsigned char)*p < 0x20 || *p == 0x7f) {
            (void)err_set(err, STATUS_INVALID, "it has a line break or a control character");
            return alert_refuse(work, what, err);
        }
    }
    return STATUS_OK;
}

static enum status fill_headers(struct alert_work *work, struct alert_message *out, struct err *err)
{
    const struct hook *hook = work->hook;
    out->headers = arena_array(work->arena, hook->headers_count + 1, sizeof *out->headers);
    for (size_t i = 0; i < hook->headers_count; i++) {
        struct env_entry *header = &out->headers[out->headers_count++];
        header->name = hook->headers[i].name;
        if (fill_line(work, header->name, hook->headers[i].value, &header->value, err) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

static enum status fill_url(struct alert_work *work, const char **out, struct err *err)
{
    if (fill_line(work, "url", work->hook->url, out, err) != STATUS_OK)
        return err->code;
    if (*out == NULL || str_starts_with(*out, "http://") || str_starts_with(*out, "https://"))
        return STATUS_OK;
    (void)err_set(err, STATUS_INVALID, "it does not begin with http:// or https://");
    return alert_refuse(work, "url", err);
}

static enum status render_webhook(struct alert_work *work, struct alert_message *out,
                                  struct err *err)
{
    const struct hook *hook = work->hook;
    if (fill_url(work, &out->url, err) != STATUS_OK ||
        alert_fill(work, "secret", hook->secret, &out->secret, err) != STATUS_OK ||
        alert_fill(work, "body", hook->body, &out->body, err) != STATUS_OK)
        return err->code;
    if (out->body == NULL)
        out->body = alert_format(work->arena, json_incref(work->scope.document));
    return fill_headers(work, out, err);
}

/* ---- command ---- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct env_entry *)a)->name, ((const struct env_entry *)b)->name);
}

static size_t own_variables(struct alert_work *work, struct env_entry *out)
{
    struct arena *arena = work->arena;
    const struct alert_event *event = &work->notice->events[0];
    char date[INSTANT_TEXT_MAX] = "";
    if (event->logical_at_us != 0)
        (void)instant_format_offset(event->logical_at_us, date);
    const struct env_entry rows[] = {
        {"EIDER_DAG_ID", event->dag},
        {"EIDER_DELIVERY", work->notice->id},
        {"EIDER_EVENT", hook_event_name(event->kind)},
        {"EIDER_EVENT_COUNT", arena_format(arena, "%zu", work->notice->total)},
        {"EIDER_EXIT_CODE",
         event->has_exit_code ? arena_format(arena, "%" PRId64, event->exit_code) : ""},
        {"EIDER_LOGICAL_DATE", arena_strdup(arena, date)},
        {"EIDER_MAP_INDEX",
         arena_format(arena, "%" PRId64, event->task != NULL ? event->map_index : -1)},
        {"EIDER_REASON", alert_text_or(event->reason, "")},
        {"EIDER_RUN_ID", alert_text_or(event->run_id, "")},
        {"EIDER_STATE", alert_text_or(event->state, "")},
        {"EIDER_TASK_ID", alert_text_or(event->task, "")},
        {"EIDER_TRY_NUMBER", arena_format(arena, "%" PRId64, event->try_number)},
        {"EIDER_URL", alert_text_or(event->url, "")},
    };
    memcpy(out, rows, sizeof rows);
    return ARRAY_LEN(rows);
}

enum { OWN_VARIABLES_MAX = 16 };

static enum status render_command(struct alert_work *work, struct alert_message *out,
                                  struct err *err)
{
    const struct hook *hook = work->hook;
    if (alert_fill(work, "run", hook->run, &out->run, err) != STATUS_OK)
        return err->code;
    out->timeout_ms = hook->timeout_ms;
    out->body = alert_format(work->arena, json_incref(work->scope.document));
    out->env = arena_array(work->arena, hook->env_count + OWN_VARIABLES_MAX, sizeof *out->env);
    out->env_count = own_variables(work, out->env);
    size_t own = out->env_count;
    CHECK(own <= OWN_VARIABLES_MAX);
    for (size_t i = 0; i < hook->env_count; i++) {
        struct env_entry entry = hook->env[i];
        if (alert_fill(work, entry.name, entry.value, &entry.value, err) != STATUS_OK)
            return err->code;
        if (bsearch(&entry, out->env, own, sizeof entry, compare_names) == NULL)
            out->env[out->env_count++] = entry;
    }
    qsort(out->env, out->env_count, sizeof *out->env, compare_names);
    return STATUS_OK;
}

/* ---- all of them ---- */

typedef enum status render_target(struct alert_work *work, struct alert_message *out,
                                  struct err *err);

enum status alert_render(struct arena *arena, const struct hook *hook,
                         const struct alert_notice *notice, const struct template_scope *more,
                         struct alert_message *out, struct err *err)
{
    static render_target *const TARGETS[] = {
        [HOOK_COMMAND] = render_command, [HOOK_WEBHOOK] = render_webhook,
        [HOOK_SLACK] = alert_slack,      [HOOK_PAGERDUTY] = alert_pagerduty,
        [HOOK_EMAIL] = alert_email,
    };
    _Static_assert(ARRAY_LEN(TARGETS) == HOOK_TARGET_COUNT, "every target is rendered");
    CHECK(notice->count >= 1);
    CHECK(notice->total >= notice->count);
    struct alert_message message = {
        .target = hook->target,
        .id = arena_strdup(arena, notice->id),
        .at_us = notice->at_us,
    };
    struct alert_work work = {.arena = arena,
                              .hook = hook,
                              .notice = notice,
                              .scope = {.document = alert_notice_write(notice), .more = more}};
    enum status status = TARGETS[hook->target](&work, &message, err);
    json_decref(work.scope.document);
    if (status != STATUS_OK)
        return status;
    message.body_length = message.body != NULL ? strlen(message.body) : 0;
    *out = message;
    return STATUS_OK;
}

enum status alert_is_wanted(const struct hook *hook, const struct alert_event *event,
                            const struct template_scope *more, bool *out, struct err *err)
{
    if (hook->condition == NULL) {
        *out = true;
        return STATUS_OK;
    }
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *document = alert_event_write(event);
    CLEANUP(json_decrefp) json_t *value = NULL;
    struct alert_scope own = {.document = document, .more = more};
    struct template_scope scope = alert_scope_of(&own);
    const struct template *template = NULL;
    struct template_fault fault = {0};
    if (template_parse(arena, hook->condition, &template, &fault, err) != STATUS_OK ||
        template_render(template, &scope, &value, &fault, err) != STATUS_OK) {
        alert_scope_judge(&own, err);
        return err_wrap(err, "render 'if' of the %s hook", hook_target_name(hook->target));
    }
    *out = template_truth(value);
    return STATUS_OK;
}
