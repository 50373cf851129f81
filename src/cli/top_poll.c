/*
 * What the monitor asks, and what it makes of the answers.
 */
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/request.h"
#include "cli/top.h"

enum {
    SECOND_US = 1000000,
    AGAIN_S = 3,     /* seconds that are asked for again: what committed late counts, too */
    RUNS_AHEAD = 20, /* more than fit, for who scrolls */
    RUNS_MAX = 1000, /* as many as the operation gives */
    LOG_TAIL = 500,  /* lines that a log begins with */
    EVENTS_PAGE = 100,
    SENTENCE_MAX = 1 << 16,
    PATIENCE = 4 /* an answer that took a second is not asked for again for four */
};

#define NEVER_US (INT64_C(60) * SECOND_US) /* not before the next key, and there is no hurry */

/* --- questions ------------------------------------------------------------------------------- */

/* The picture at the top, and the runs, come with one answer. */
static bool needs_glance(const struct top *top)
{
    return !top->shows_help && top->page < TOP_TABS &&
           (top->page == TOP_RUNS || top_layout(top).has_head);
}

static int64_t due_in_us(const struct top *top, const struct top_table *table, int64_t every_ms,
                         int64_t mono_us)
{
    int64_t every_us = MAX(top_rate_s(top) * SECOND_US, every_ms * 1000);
    every_us = MAX(every_us, table->took_us * PATIENCE);
    return table->is_due ? 0 : MAX(table->asked_at_us + every_us - mono_us, (int64_t)0);
}

static int64_t glance_in_us(const struct top *top, int64_t mono_us)
{
    return needs_glance(top) ? due_in_us(top, &top->glance, 0, mono_us) : NEVER_US;
}

static int64_t page_in_us(const struct top *top, int64_t mono_us)
{
    if (top->page == TOP_RUNS || top->shows_help)
        return NEVER_US;
    return due_in_us(top, top_table_of(top), TOP_PAGES[top->page].every_ms, mono_us);
}

static json_t *ask_glance(const struct top *top)
{
    json_t *request = request_new();
    const struct top_table *runs = &top->tables[TOP_RUNS];
    size_t wanted = runs->first + top_layout(top).body_rows + RUNS_AHEAD;
    /* A filter looks for what is not on the screen. */
    if (runs->filter[0] != '\0')
        wanted = MAX(wanted, (size_t)200);
    json_put_int(request, "limit",
                 top->page == TOP_RUNS ? (int64_t)MIN(wanted, (size_t)RUNS_MAX) : 0);
    if (top->pace.last != 0)
        json_put_instant(request, "since", (top->pace.last - AGAIN_S) * SECOND_US);
    return request;
}

static json_t *ask_log(const struct top *top)
{
    json_t *request = request_new();
    json_put_string(request, "run", top->run_number);
    json_put_string(request, "task", top->task_id);
    if (top->map_index >= 0)
        json_put_int(request, "map_index", top->map_index);
    if (top->cursor_of_log != NULL)
        json_put_string(request, "cursor", top->cursor_of_log);
    else
        json_put_int(request, "tail", LOG_TAIL);
    return request;
}

static json_t *ask_why(const struct top *top)
{
    json_t *request = request_new();
    json_put_string(request, "run", top->run_number);
    if (top->task_id != NULL)
        json_put_string(request, "task", top->task_id);
    if (top->task_id != NULL && top->map_index >= 0)
        json_put_int(request, "map_index", top->map_index);
    return request;
}

static json_t *ask_page(const struct top *top)
{
    if (top->page == TOP_LOG)
        return ask_log(top);
    if (top->page == TOP_EXPLAIN)
        return ask_why(top);
    json_t *request = request_new();
    if (top->page == TOP_EVENTS) {
        json_put_int(request, "limit", EVENTS_PAGE);
        if (top->cursor_of_events != NULL)
            json_put_string(request, "cursor", top->cursor_of_events);
    }
    if (top->page == TOP_RUN) {
        json_put_string(request, "run", top->run_number);
        json_put(request, "open", json_incref(top->open_tasks));
    }
    return request;
}

bool top_ask(struct top *top, int64_t mono_us, struct top_question *out)
{
    struct top_question question = {.page = top->page, .turn = top->turn};
    if (top->change.is_agreed && !top->change.is_sent) {
        top->change.is_sent = true;
        question.kind = TOP_ASKS_CHANGE;
        question.operation = top->change.operation;
        question.request = json_incref(top->change.request);
    } else if (glance_in_us(top, mono_us) == 0) {
        question.kind = TOP_ASKS_GLANCE;
        question.operation = TOP_PAGES[TOP_RUNS].operation;
        question.request = ask_glance(top);
        top->glance.asked_at_us = mono_us;
        top->glance.is_due = false;
    } else if (page_in_us(top, mono_us) == 0) {
        question.kind = TOP_ASKS_PAGE;
        question.operation = TOP_PAGES[top->page].operation;
        question.request = ask_page(top);
        top_table(top)->asked_at_us = mono_us;
        top_table(top)->is_due = false;
    } else {
        return false;
    }
    *out = question;
    return true;
}

int64_t top_wait_ms(const struct top *top, int64_t mono_us)
{
    if (top->change.is_agreed && !top->change.is_sent)
        return 0;
    int64_t wait_us = MIN(glance_in_us(top, mono_us), page_in_us(top, mono_us));
    return (wait_us + 999) / 1000;
}

/* --- answers --------------------------------------------------------------------------------- */

static void take_now(struct top *top, const json_t *response)
{
    int64_t now_us = 0;
    if (instant_parse(json_get_string(response, "now", ""), &now_us))
        top->now_us = now_us;
}

static void set_rows(struct top *top, enum top_page page, json_t *taken)
{
    struct top_table *table = &top->tables[page];
    json_decref(table->rows);
    table->rows = taken;
    table->is_loaded = true;
    top_rows_refresh(top, page);
}

static void take_rows(struct top *top, enum top_page page, const json_t *response)
{
    set_rows(top, page, json_incref(json_object_get(response, TOP_PAGES[page].list)));
}

/* Runs came with it if they were on the screen when it was asked for. */
static void take_glance(struct top *top, enum top_page asked_from, const json_t *response)
{
    const json_t *throughput = json_object_get(response, "throughput");
    int64_t from_us = 0;
    json_decref(top->overview);
    top->overview = json_incref((json_t *)(uintptr_t)response);
    take_now(top, response);
    if (instant_parse(json_get_string(throughput, "from", ""), &from_us))
        top_pace_add(&top->pace, from_us / SECOND_US, json_object_get(throughput, "finished"));
    if (asked_from == TOP_RUNS)
        take_rows(top, TOP_RUNS, response);
}

/* Newest first, since that is where the eye begins. */
static void take_events(struct top *top, const json_t *response)
{
    json_t *rows = json_array();
    const json_t *events = json_object_get(response, "events");
    const json_t *before = top->tables[TOP_EVENTS].rows;
    const char *cursor = json_get_string(response, "cursor", NULL);
    CHECK(rows != NULL);
    for (size_t i = json_array_size(events); i-- > 0;)
        CHECK(json_array_append(rows, json_array_get(events, i)) == 0);
    for (size_t i = 0; i < json_array_size(before) && json_array_size(rows) < TOP_EVENTS_MAX; i++)
        CHECK(json_array_append(rows, json_array_get(before, i)) == 0);
    set_rows(top, TOP_EVENTS, rows);
    if (cursor != NULL)
        top_keep(&top->cursor_of_events, cursor);
    top->tables[TOP_EVENTS].is_due = json_get_bool(response, "more", false);
}

static void take_log(struct top *top, const json_t *response)
{
    struct top_table *table = &top->tables[TOP_LOG];
    json_t *lines = table->rows != NULL ? json_incref(table->rows) : json_array();
    size_t i;
    json_t *entry;
    CHECK(lines != NULL);
    json_array_foreach(json_object_get(response, "entries"), i, entry)
    {
        top_lines_add(top, lines, json_get_string(entry, "text", "(bytes that are no text)\n"));
    }
    top_keep(&top->cursor_of_log, json_get_string(response, "cursor", ""));
    top->log_is_live = json_get_bool(response, "live", false);
    set_rows(top, TOP_LOG, lines);
    table->is_due = json_get_bool(response, "more", false);
}

/* Sentences are longer than the screen is wide: broken at blanks, what follows is indented. */
static void add_sentence(struct top *top, json_t *lines, const char *lead, const char *text)
{
    CLEANUP(strbuf_fini) struct strbuf out;
    size_t used = strlen(lead);
    size_t indent = used;
    strbuf_init(&out, SENTENCE_MAX);
    strbuf_add(&out, lead);
    while (text != NULL && text[0] != '\0') {
        size_t bytes = strcspn(text, " \n");
        bool breaks = text[bytes] == '\n';
        if (used > indent && used + bytes + 1 > top->columns) {
            strbuf_add_char(&out, '\n');
            strbuf_add_repeat(&out, ' ', indent);
            used = indent;
        }
        strbuf_add_bytes(&out, text, bytes);
        strbuf_add_char(&out, breaks ? '\n' : ' ');
        used = breaks ? 0 : used + bytes + 1;
        text += bytes + (text[bytes] != '\0');
    }
    strbuf_add_char(&out, '\n');
    if (text != NULL)
        top_lines_add(top, lines, out.text);
}

static void take_why(struct top *top, const json_t *response)
{
    json_t *lines = json_array();
    size_t i;
    json_t *task;
    CHECK(lines != NULL);
    top->ends_mid_line = false;
    add_sentence(top, lines, "", json_get_string(response, "summary", ""));
    json_array_foreach(json_object_get(response, "tasks"), i, task)
    {
        CLEANUP(mem_freep)
        char *name = mem_format("%s (%s)", json_get_string(task, "task_id", "-"),
                                json_get_string(task, "state", "-"));
        add_sentence(top, lines, "", "");
        add_sentence(top, lines, "", name);
        add_sentence(top, lines, "  because  ", json_get_string(task, "because", NULL));
        add_sentence(top, lines, "  change   ", json_get_string(task, "change", NULL));
    }
    set_rows(top, TOP_EXPLAIN, lines);
}

static void take_run(struct top *top, const json_t *response)
{
    json_decref(top->run);
    top->run = json_incref(json_object_get(response, "run"));
    take_now(top, response);
    take_rows(top, TOP_RUN, response);
}

static void take_page(struct top *top, enum top_page page, const json_t *response)
{
    if (page == TOP_EVENTS)
        take_events(top, response);
    else if (page == TOP_LOG)
        take_log(top, response);
    else if (page == TOP_EXPLAIN)
        take_why(top, response);
    else if (page == TOP_RUN)
        take_run(top, response);
    else
        take_rows(top, page, response);
}

/* What was changed is seen at once. */
static void end_change(struct top *top, const struct err *err)
{
    if (err != NULL)
        top_say(top, true, "cannot %.60s: %.120s", top->change.what, err->text);
    else
        top_say(top, false, "done: %.160s", top->change.what);
    top_change_drop(top);
    top_table(top)->is_due = true;
    top->glance.is_due = true;
}

/* About a run, a task or a reason that is not open any more. */
static bool is_late(const struct top *top, const struct top_question *question)
{
    return question->page >= TOP_TABS && question->turn != top->turn;
}

void top_answer(struct top *top, const struct top_question *question, const json_t *response,
                const struct err *err)
{
    if (question->kind == TOP_ASKS_CHANGE) {
        end_change(top, response == NULL ? err : NULL);
        return;
    }
    if (response == NULL) {
        (void)snprintf(top->problem, sizeof top->problem, "%.190s", err->text);
        return;
    }
    top->problem[0] = '\0';
    if (question->kind == TOP_ASKS_GLANCE)
        take_glance(top, question->page, response);
    else if (!is_late(top, question))
        take_page(top, question->page, response);
}

void top_note_time(struct top *top, const struct top_question *question, int64_t mono_us)
{
    struct top_table *table =
        question->kind == TOP_ASKS_GLANCE ? &top->glance : &top->tables[question->page];
    if (question->kind != TOP_ASKS_CHANGE)
        table->took_us = mono_us - table->asked_at_us;
}
