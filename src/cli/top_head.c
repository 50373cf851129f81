/*
 * The head of the picture: what wants attention, the numbers, the throughput.
 */
#include <stdio.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/humanize.h"
#include "cli/progress.h"
#include "cli/top_view.h"

enum { LABEL_COLUMNS = 8 };

/* Put a text and go on behind it. */
static void put(struct top_canvas *canvas, struct top_spot *spot, enum top_look look,
                const char *text)
{
    spot->look = look;
    spot->column += top_canvas_put(canvas, spot, text);
}

/* "3 running  ": a number that is not there is dim, so that the eye finds those that are. */
static void put_count(struct top_canvas *canvas, struct top_spot *spot, enum top_look look,
                      int64_t count, const char *name)
{
    CLEANUP(mem_freep) char *text = mem_format("%lld %s", (long long)count, name);
    put(canvas, spot, count > 0 ? look : TOP_LOOK_DIM, text);
    spot->column += 2;
}

static struct top_spot label(struct top_canvas *canvas, size_t row, const char *name)
{
    struct top_spot spot = {.row = row, .column = 1, .width = canvas->columns};
    put(canvas, &spot, TOP_LOOK_BOLD, name);
    spot.column = LABEL_COLUMNS;
    return spot;
}

/* --- the first line -------------------------------------------------------------------------- */

static void add_warning(struct strbuf *out, int64_t count, const char *one, const char *many)
{
    if (count > 0)
        strbuf_addf(out, "%s%lld %s", out->length > 0 ? ", " : "", (long long)count,
                    count == 1 ? one : many);
}

static void add_warnings(const struct top *top, struct strbuf *out)
{
    const json_t *hosts = json_object_get(top->overview, "hosts");
    const json_t *tasks = json_object_get(top->overview, "tasks");
    const json_t *runs = json_object_get(top->overview, "runs");
    bool is_alone = json_get_int(hosts, "active", 0) == 0 && json_get_int(tasks, "running", 0) == 0;
    if (is_alone && json_get_int(tasks, "ready", 0) > 0)
        strbuf_add(out, "work waits and no host is there");
    add_warning(out, json_get_int(hosts, "gone", 0), "host is gone", "hosts are gone");
    add_warning(out, json_get_int(runs, "failed", 0), "run failed in an hour",
                "runs failed in an hour");
    add_warning(out, json_get_int(top->overview, "broken_files", 0), "DAG file has problems",
                "DAG files have problems");
    add_warning(out, json_get_int(top->overview, "dead_letters", 0), "dead letter", "dead letters");
}

static void add_where(const struct top *top, struct strbuf *out)
{
    const char *number = top->run_number != NULL ? top->run_number : "";
    const char *dag_id = json_get_string(top->run, "dag_id", NULL);
    bool is_same = str_equal(json_get_string(top->run, "number", NULL), number);
    strbuf_addf(out, "run %s", number);
    if (dag_id != NULL && is_same)
        strbuf_addf(out, " %s", dag_id);
    if (top->page == TOP_EXPLAIN)
        strbuf_add(out, ": why");
    if (top->page != TOP_RUN && top->task_id != NULL) {
        strbuf_add(out, top->page == TOP_LOG ? ": log of " : " ");
        progress_add_name(out, top->task_id, top->map_index, NULL);
    }
    if (top->page == TOP_LOG)
        strbuf_add(out, top->tables[TOP_LOG].is_moved ? " (End follows)"
                        : top->log_is_live            ? " (follows)"
                                                      : "");
}

static void draw_title(const struct top *top, struct top_canvas *canvas)
{
    char clock[HUMAN_MAX];
    CLEANUP(strbuf_fini) struct strbuf text;
    struct top_spot spot = {.column = 1, .width = canvas->columns - 1};
    strbuf_init(&text, 1024);
    CLEANUP(mem_freep)
    char *right = mem_format("%s  every %llds", humanize_clock(top->now_us, clock),
                             (long long)top_rate_s(top));
    size_t right_columns = str_columns(right) + 1;
    put(canvas, &spot, TOP_LOOK_BOLD, "eider top");
    spot.column += 2;
    enum top_look look = TOP_LOOK_PLAIN;
    if (top->problem[0] != '\0') {
        strbuf_addf(&text, "no answer: %s", top->problem);
        look = TOP_LOOK_BAD;
        right_columns = 0;
    } else if (top->page >= TOP_TABS) {
        add_where(top, &text);
    } else {
        add_warnings(top, &text);
        look = TOP_LOOK_BAD;
    }
    bool fits = spot.column + right_columns + 10 < canvas->columns;
    size_t end = canvas->columns - (fits ? right_columns : 0);
    spot.width = end > spot.column + 1 ? end - spot.column - 1 : 0;
    put(canvas, &spot, look, text.text);
    if (!fits || right_columns == 0 || top->now_us == 0)
        return;
    spot = (struct top_spot){0, end, right_columns - 1, TOP_LOOK_DIM};
    top_canvas_put_right(canvas, &spot, right);
}

/* --- the numbers ----------------------------------------------------------------------------- */

static void draw_runs(const struct top *top, struct top_canvas *canvas)
{
    const json_t *runs = json_object_get(top->overview, "runs");
    struct top_spot spot = label(canvas, 1, "Runs");
    put_count(canvas, &spot, TOP_LOOK_ACTIVE, json_get_int(runs, "running", 0), "running");
    put_count(canvas, &spot, TOP_LOOK_PLAIN, json_get_int(runs, "queued", 0), "queued");
    put(canvas, &spot, TOP_LOOK_DIM, "  last hour  ");
    put_count(canvas, &spot, TOP_LOOK_GOOD, json_get_int(runs, "success", 0), "success");
    put_count(canvas, &spot, TOP_LOOK_BAD, json_get_int(runs, "failed", 0), "failed");
    put_count(canvas, &spot, TOP_LOOK_CARE, json_get_int(runs, "cancelled", 0), "cancelled");
}

static void draw_tasks(const struct top *top, struct top_canvas *canvas)
{
    const json_t *tasks = json_object_get(top->overview, "tasks");
    const json_t *hosts = json_object_get(top->overview, "hosts");
    struct top_spot spot = label(canvas, 2, "Tasks");
    put_count(canvas, &spot, TOP_LOOK_ACTIVE, json_get_int(tasks, "running", 0), "running");
    put_count(canvas, &spot, TOP_LOOK_PLAIN, json_get_int(tasks, "ready", 0), "ready");
    put_count(canvas, &spot, TOP_LOOK_PLAIN, json_get_int(tasks, "held", 0), "held");
    put_count(canvas, &spot, TOP_LOOK_CARE, json_get_int(tasks, "later", 0), "later");
    put(canvas, &spot, TOP_LOOK_BOLD, " Hosts ");
    put_count(canvas, &spot, TOP_LOOK_GOOD, json_get_int(hosts, "active", 0), "active");
    CLEANUP(mem_freep)
    char *slots = mem_format("%lld/%lld slots", (long long)json_get_int(hosts, "slots_used", 0),
                             (long long)json_get_int(hosts, "slots", 0));
    put(canvas, &spot, TOP_LOOK_PLAIN, slots);
}

static void add_rate(struct strbuf *out, double rate)
{
    strbuf_addf(out, rate < 10 ? "%.1f/s" : "%.0f/s", rate);
}

/* The second that is going on is not shown: it would always look like a dip. */
static void add_spark(const struct top_pace *pace, size_t seconds, bool utf8, struct strbuf *out)
{
    static const char *const BARS[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const PLAIN[] = {"_", ".", ":", "-", "=", "+", "*", "#"};
    int64_t most = 1;
    size_t first = TOP_PACE_SECONDS - 1 - seconds;
    for (size_t i = 0; i < seconds; i++)
        most = MAX(most, pace->counts[first + i]);
    for (size_t i = 0; i < seconds; i++) {
        int64_t count = pace->counts[first + i];
        size_t level = (size_t)((count * 8 + most - 1) / most);
        strbuf_add(out, level == 0 ? " " : utf8 ? BARS[level - 1] : PLAIN[level - 1]);
    }
}

static void draw_pace(const struct top *top, struct top_canvas *canvas)
{
    CLEANUP(strbuf_fini) struct strbuf text;
    strbuf_init(&text, 1024);
    add_rate(&text, top_pace_mean(&top->pace, 10));
    strbuf_add(&text, " now, ");
    add_rate(&text, top_pace_mean(&top->pace, TOP_PACE_SECONDS - 1));
    strbuf_add(&text, " in a minute");
    size_t words = canvas->columns >= 60 ? str_columns(text.text) + 2 : 8;
    struct top_spot spot = label(canvas, 3, "Done");
    size_t room = canvas->columns > spot.column + words ? canvas->columns - spot.column - words : 0;
    CLEANUP(strbuf_fini) struct strbuf spark;
    strbuf_init(&spark, 1024);
    add_spark(&top->pace, MIN(room, (size_t)TOP_PACE_SECONDS - 1), canvas->utf8, &spark);
    put(canvas, &spot, TOP_LOOK_ACTIVE, spark.text);
    spot.column++;
    spot.width = words;
    put(canvas, &spot, TOP_LOOK_BOLD, text.text);
}

/* --- a run ----------------------------------------------------------------------------------- */

static void draw_run(const struct top *top, struct top_canvas *canvas)
{
    static const char *const STATES[] = {"running",      "failed",  "upstream_failed",
                                         "up_for_retry", "success", "queued",
                                         "scheduled",    "none",    "skipped"};
    const char *state = json_get_string(top->run, "state", "");
    const json_t *counts = json_object_get(top->run, "counts");
    const char *why = json_get_string(top->run, "waits_because", NULL);
    struct top_spot spot = {.row = 1, .column = 1, .width = canvas->columns};
    char text[HUMAN_MAX];
    put(canvas, &spot, top_view_look(state), state);
    spot.column += 2;
    double seconds = json_number_value(json_object_get(top->run, "duration"));
    put(canvas, &spot, TOP_LOOK_BOLD, humanize_duration((int64_t)(seconds * 1000), text));
    spot.column += 2;
    for (size_t i = 0; i < ARRAY_LEN(STATES); i++)
        if (json_get_int(counts, STATES[i], 0) > 0)
            put_count(canvas, &spot, top_view_look(STATES[i]), json_get_int(counts, STATES[i], 0),
                      str_equal(STATES[i], "none") ? "waiting" : STATES[i]);
    put(canvas, &spot, TOP_LOOK_CARE, why != NULL ? why : "");
}

void top_view_head(const struct top *top, struct top_canvas *canvas)
{
    struct top_layout layout = top_layout(top);
    draw_title(top, canvas);
    if (layout.has_head && top->page == TOP_RUN && top->run != NULL)
        draw_run(top, canvas);
    if (!layout.has_head || !layout.has_tabs)
        return;
    draw_runs(top, canvas);
    draw_tasks(top, canvas);
    draw_pace(top, canvas);
}
