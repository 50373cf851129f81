#include "cli/top_page.h"

#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/humanize.h"
#include "cli/output.h"
#include "cli/progress.h"

enum { KEY_MAX = 4096, TREE_DEPTH_MAX = 12 };
#define DAY_US (INT64_C(86400) * 1000000)

/* Fenced off because a table is read by column. */
/* clang-format off */
static const struct top_column RUNS[] = {
    {"RUN",      "number",        TOP_COLUMN_FIGURE,   6,  false, 0},
    {"STATE",    "state",         TOP_COLUMN_STATE,    9,  false, 0},
    {"DAG",      "dag_id",        TOP_COLUMN_TEXT,     16, true,  0},
    {"DONE",     "counts",        TOP_COLUMN_DONE,     9,  false, 40},
    {"FAILED",   "counts.failed", TOP_COLUMN_NUMBER,   6,  false, 56},
    {"DURATION", "duration",      TOP_COLUMN_DURATION, 8,  false, 48},
    {"AGE",      "queued_at",     TOP_COLUMN_AGE,      8,  false, 72},
    {"TYPE",     "run_type",      TOP_COLUMN_TEXT,     9,  false, 80},
    {"NAME",     "dag_run_id",    TOP_COLUMN_TEXT,     32, false, 120},
    {"BECAUSE",  "waits_because", TOP_COLUMN_TEXT,     30, false, 160},
};
static const struct top_column TASKS[] = {
    {"RUN",      "number",     TOP_COLUMN_FIGURE,   6,  false, 0},
    {"TASK",     "task_id",    TOP_COLUMN_NAME,     16, true,  0},
    {"DAG",      "dag_id",     TOP_COLUMN_TEXT,     18, false, 50},
    {"TRY",      "try_number", TOP_COLUMN_TRY,      5,  false, 60},
    {"DURATION", "duration",   TOP_COLUMN_DURATION, 8,  false, 40},
    {"QUEUE",    "queue",      TOP_COLUMN_TEXT,     10, false, 80},
    {"HOST",     "hostname",   TOP_COLUMN_TEXT,     16, false, 100},
    {"KIND",     "operator",   TOP_COLUMN_TEXT,     10, false, 110},
};
static const struct top_column DAGS[] = {
    {"DAG",      "dag_id",            TOP_COLUMN_TEXT,   16, true,  0},
    {"STATUS",   "status",            TOP_COLUMN_STATUS, 12, false, 0},
    {"LAST",     "last_run.state",    TOP_COLUMN_STATE,  9,  false, 40},
    {"GOING",    "runs_going",        TOP_COLUMN_NUMBER, 5,  false, 60},
    {"WAITING",  "runs_waiting",      TOP_COLUMN_NUMBER, 7,  false, 70},
    {"NEXT",     "next_run",          TOP_COLUMN_CLOCK,  14, false, 76},
    {"TASKS",    "tasks_total",       TOP_COLUMN_FIGURE, 6,  false, 90},
    {"OWNER",    "owner",             TOP_COLUMN_TEXT,   12, false, 110},
};
static const struct top_column QUEUES[] = {
    {"QUEUE",    "name",        TOP_COLUMN_TEXT,     14, true,  0},
    {"STATE",    "state",       TOP_COLUMN_STATE,    9,  false, 0},
    {"READY",    "pending",     TOP_COLUMN_FIGURE,   8,  false, 0},
    {"RUNNING",  "running",     TOP_COLUMN_FIGURE,   7,  false, 40},
    {"OLDEST",   "oldest_wait", TOP_COLUMN_DURATION, 8,  false, 50},
    {"LATER",    "delayed",     TOP_COLUMN_NUMBER,   7,  false, 66},
    {"HOSTS",    "hosts",       TOP_COLUMN_FIGURE,   5,  false, 60},
    {"PRIORITY", "priority",    TOP_COLUMN_FIGURE,   8,  false, 80},
    {"MOST",     "max_running", TOP_COLUMN_NUMBER,   6,  false, 100},
    {"SHARE %",  "max_share",   TOP_COLUMN_NUMBER,   7,  false, 110},
};
static const struct top_column POOLS[] = {
    {"POOL",      "name",           TOP_COLUMN_TEXT,   14, true,  0},
    {"USED",      "occupied_slots", TOP_COLUMN_SHARE,  9,  false, 0},
    {"WAITING",   "waiting",        TOP_COLUMN_FIGURE, 7,  false, 0},
    {"RUNNING",   "running",        TOP_COLUMN_FIGURE, 7,  false, 50},
    {"NAMESPACE", "namespace",      TOP_COLUMN_TEXT,   12, false, 60},
    {"FOR",       "description",    TOP_COLUMN_TEXT,   24, false, 90},
};
static const struct top_column HOSTS[] = {
    {"HOST",    "name",          TOP_COLUMN_TEXT,     14, true,  0},
    {"STATE",   "status",        TOP_COLUMN_STATE,    8,  false, 0},
    {"SLOTS",   "slots_used",    TOP_COLUMN_SHARE,    7,  false, 0},
    {"HEARD",   "heartbeat_age", TOP_COLUMN_DURATION, 8,  false, 50},
    {"KIND",    "kind",          TOP_COLUMN_TEXT,     10, false, 60},
    {"UP",      "birth",         TOP_COLUMN_AGE,      8,  false, 72},
    {"QUEUES",  "queues",        TOP_COLUMN_LIST,     14, false, 80},
    {"LABELS",  "labels",        TOP_COLUMN_LIST,     14, false, 100},
    {"VERSION", "version",       TOP_COLUMN_TEXT,     10, false, 120},
};
static const struct top_column EVENTS[] = {
    {"AT",      "at",     TOP_COLUMN_CLOCK, 8,  false, 0},
    {"EVENT",   "kind",   TOP_COLUMN_TEXT,  16, false, 0},
    {"RUN",     "number", TOP_COLUMN_NUMBER, 6, false, 40},
    {"OBJECT",  "object", TOP_COLUMN_OBJECT, 20, true, 0},
    {"STATE",   "state",  TOP_COLUMN_STATE, 9,  false, 60},
    {"BECAUSE", "reason", TOP_COLUMN_TEXT,  12, false, 76},
    {"BY",      "actor",  TOP_COLUMN_TEXT,  16, false, 100},
};
static const struct top_column TREE[] = {
    {"TASK",     "task_id",    TOP_COLUMN_TREE,     20, true,  0},
    {"STATE",    "state",      TOP_COLUMN_STATE,    15, false, 0},
    {"DONE",     "instances",  TOP_COLUMN_DONE,     9,  false, 60},
    {"TRY",      "try_number", TOP_COLUMN_TRY,      5,  false, 50},
    {"DURATION", "duration",   TOP_COLUMN_DURATION, 8,  false, 40},
    {"BECAUSE",  "reason",     TOP_COLUMN_REASON,   14, false, 76},
    {"MESSAGE",  "message",    TOP_COLUMN_TEXT,     30, false, 110},
    {"HOST",     "hostname",   TOP_COLUMN_TEXT,     14, false, 140},
};

#define COLUMNS(table) (table), ARRAY_LEN(table)
const struct top_page_row TOP_PAGES[TOP_PAGE_COUNT] = {
    [TOP_RUNS] = {"Runs", "top.overview", "dag_runs", {"number"}, COLUMNS(RUNS), 0,
        "nothing ran yet"},
    [TOP_TASKS] = {"Tasks", "run.active", "task_instances", {"dag_run_id", "task_id", "map_index"},
        COLUMNS(TASKS), 0, "no task runs now"},
    [TOP_DAGS] = {"DAGs", "dag.list", "dags", {"dag_id"}, COLUMNS(DAGS), 5000, "no DAGs"},
    [TOP_QUEUES] = {"Queues", "queue.list", "queues", {"name"}, COLUMNS(QUEUES), 0, "no queues"},
    [TOP_POOLS] = {"Pools", "pool.list", "pools", {"name", "namespace"}, COLUMNS(POOLS), 0,
        "no pools: `eider pools set` makes one"},
    [TOP_HOSTS] = {"Hosts", "host.list", "hosts", {"id"}, COLUMNS(HOSTS), 0,
        "no host is there: `eider up` starts one"},
    [TOP_EVENTS] = {"Events", "event.list", "events", {"id"}, COLUMNS(EVENTS), 0,
        "nothing happened yet"},
    [TOP_RUN] = {"Run", "top.tasks", "tasks", {"task_id", "map_index"}, COLUMNS(TREE), 0,
        "no tasks"},
    [TOP_LOG] = {"Log", "log.read", NULL, {NULL}, NULL, 0, 0, "nothing was printed yet"},
    [TOP_EXPLAIN] = {"Why", "run.explain", NULL, {NULL}, NULL, 0, 2000, "nothing to explain"},
};
/* clang-format on */

/* --- cells ----------------------------------------------------------------------------------- */

static void add_duration(struct strbuf *out, double seconds)
{
    char text[HUMAN_MAX];
    strbuf_add(out, humanize_duration((int64_t)(seconds * 1000 + 0.5), text));
}

static bool instant_of(const json_t *value, int64_t *out_us)
{
    return json_is_string(value) && instant_parse(json_string_value(value), out_us);
}

static void add_instant(const struct top_column *column, const json_t *value, int64_t now_us,
                        struct strbuf *out)
{
    char text[HUMAN_MAX];
    int64_t at_us = 0;
    if (!instant_of(value, &at_us))
        return;
    if (column->kind == TOP_COLUMN_AGE)
        add_duration(out, (double)MAX(now_us - at_us, (int64_t)0) / 1e6);
    else if (at_us - now_us < DAY_US && now_us - at_us < DAY_US)
        strbuf_add(out, humanize_clock(at_us, text));
    else
        strbuf_addf(out, "%.14s", humanize_instant(at_us, text) + 2);
}

/* Of a run by the states of its tasks, of a mapped task by its instances. */
static void add_done(const json_t *row, struct strbuf *out)
{
    static const char *const OVER[] = {"success",         "failed",    "skipped",
                                       "upstream_failed", "cancelled", "removed"};
    const json_t *instances = json_object_get(row, "instances");
    const json_t *counts = instances != NULL ? instances : json_object_get(row, "counts");
    int64_t total = instances != NULL ? json_get_int(instances, "total", 0)
                                      : json_get_int(row, "tasks_total", 0);
    int64_t done = 0;
    if (counts == NULL)
        return;
    for (size_t i = 0; i < ARRAY_LEN(OVER); i++)
        done += json_get_int(counts, OVER[i], 0);
    strbuf_addf(out, "%lld/%lld", (long long)done, (long long)total);
}

static void add_name(const json_t *row, bool is_tree, struct strbuf *out)
{
    int64_t depth = MIN(json_get_int(row, "depth", 0), (int64_t)TREE_DEPTH_MAX);
    int64_t index = json_get_int(row, "map_index", -1);
    if (is_tree)
        strbuf_add_repeat(out, ' ', (size_t)MAX(depth, (int64_t)0) * 2);
    progress_add_name(out, json_get_string(row, "task_id", "-"), index,
                      json_get_string(row, "label", NULL));
    if (is_tree && json_object_get(row, "instances") != NULL)
        strbuf_add(out, " +"); /* there is more below it */
}

static void add_reason(const json_t *row, struct strbuf *out)
{
    int64_t code = json_get_int(row, "exit_code", 0);
    int64_t number = json_get_int(row, "signal", 0);
    if (str_equal(json_get_string(row, "state", ""), "success"))
        return;
    strbuf_add(out, json_get_string(row, "reason", ""));
    if (code != 0 || number != 0)
        strbuf_addf(out, " %lld", (long long)(code != 0 ? code : number));
}

static void add_object(const json_t *row, struct strbuf *out)
{
    const char *dag_id = json_get_string(row, "dag_id", NULL);
    if (dag_id == NULL) {
        strbuf_add(out, json_get_string(row, "object", ""));
        return;
    }
    strbuf_add(out, dag_id);
    if (json_get_string(row, "task_id", NULL) == NULL)
        return;
    strbuf_add_char(out, ' ');
    add_name(row, false, out);
}

static void add_status(const json_t *row, struct strbuf *out)
{
    strbuf_add(out, json_get_bool(row, "is_paused", false)
                        ? "paused"
                        : json_get_string(row, "status", "active"));
}

static void add_try(const json_t *row, struct strbuf *out)
{
    int64_t attempt = json_get_int(row, "try_number", 0);
    int64_t most = json_get_int(row, "max_tries", 0) + 1;
    if (attempt > 0 && most > 1)
        strbuf_addf(out, "%lld/%lld", (long long)attempt, (long long)MAX(most, attempt));
    else if (attempt > 0)
        strbuf_addf(out, "%lld", (long long)attempt);
}

/* A mapped task waits while its instances run: as a whole it runs. */
static void add_state(const json_t *row, const json_t *value, struct strbuf *out)
{
    const char *state = json_is_string(value) ? json_string_value(value) : "";
    bool is_spread = json_object_get(row, "instances") != NULL && str_equal(state, "deferred");
    strbuf_add(out, is_spread ? "running" : state);
}

static void add_list(const json_t *value, struct strbuf *out)
{
    size_t i;
    json_t *item;
    json_array_foreach(value, i, item)
    {
        if (json_is_string(item))
            strbuf_addf(out, "%s%s", i > 0 ? " " : "", json_string_value(item));
    }
}

static void add_plain(const struct top_column *column, const json_t *value, struct strbuf *out)
{
    if (json_is_integer(value) &&
        (column->kind != TOP_COLUMN_NUMBER || json_integer_value(value) != 0))
        strbuf_addf(out, "%lld", (long long)json_integer_value(value));
    else if (json_is_string(value))
        strbuf_add(out, json_string_value(value));
}

void top_column_text(const struct top_column *column, const json_t *row, int64_t now_us,
                     struct strbuf *out)
{
    const json_t *value = output_member(row, column->member);
    switch (column->kind) {
    case TOP_COLUMN_DURATION:
        if (json_is_number(value))
            add_duration(out, json_number_value(value));
        return;
    case TOP_COLUMN_AGE:
    case TOP_COLUMN_CLOCK:
        add_instant(column, value, now_us, out);
        return;
    case TOP_COLUMN_DONE:
        add_done(row, out);
        return;
    case TOP_COLUMN_SHARE:
        strbuf_addf(out, "%lld/%lld", (long long)json_integer_value(value),
                    (long long)json_get_int(row, "slots", 0));
        return;
    case TOP_COLUMN_NAME:
    case TOP_COLUMN_TREE:
        add_name(row, column->kind == TOP_COLUMN_TREE, out);
        return;
    case TOP_COLUMN_TRY:
        add_try(row, out);
        return;
    case TOP_COLUMN_OBJECT:
        add_object(row, out);
        return;
    case TOP_COLUMN_REASON:
        add_reason(row, out);
        return;
    case TOP_COLUMN_STATUS:
        add_status(row, out);
        return;
    case TOP_COLUMN_LIST:
        add_list(value, out);
        return;
    case TOP_COLUMN_STATE:
        add_state(row, value, out);
        return;
    case TOP_COLUMN_TEXT:
    case TOP_COLUMN_NUMBER:
    case TOP_COLUMN_FIGURE:
        add_plain(column, value, out);
        return;
    }
}

bool top_column_is_right(const struct top_column *column)
{
    return column->kind == TOP_COLUMN_NUMBER || column->kind == TOP_COLUMN_FIGURE ||
           column->kind == TOP_COLUMN_DONE || column->kind == TOP_COLUMN_SHARE ||
           column->kind == TOP_COLUMN_DURATION || column->kind == TOP_COLUMN_AGE ||
           column->kind == TOP_COLUMN_TRY;
}

/* --- order ----------------------------------------------------------------------------------- */

/* Numbers come as texts, too, where they are ids. */
static bool number_of(const json_t *value, double *out)
{
    int64_t number = 0;
    bool is_id = json_is_string(value) &&
                 str_parse_i64(json_string_value(value), INT64_MIN, INT64_MAX, &number);
    *out = is_id ? (double)number : json_number_value(value);
    return is_id || json_is_number(value);
}

int top_column_compare(const struct top_column *column, const json_t *a, const json_t *b)
{
    CLEANUP(strbuf_fini) struct strbuf left;
    CLEANUP(strbuf_fini) struct strbuf right;
    const json_t *first = output_member(a, column->member);
    const json_t *second = output_member(b, column->member);
    double x = 0;
    double y = 0;
    strbuf_init(&left, KEY_MAX);
    strbuf_init(&right, KEY_MAX);
    bool has_x = number_of(first, &x);
    bool has_y = number_of(second, &y);
    if (has_x || has_y)
        return has_x != has_y ? (has_x ? 1 : -1) : (x > y) - (x < y);
    if (column->kind == TOP_COLUMN_AGE || column->kind == TOP_COLUMN_CLOCK) {
        strbuf_add(&left, json_is_string(first) ? json_string_value(first) : "");
        strbuf_add(&right, json_is_string(second) ? json_string_value(second) : "");
    } else {
        top_column_text(column, a, 0, &left);
        top_column_text(column, b, 0, &right);
    }
    return strcmp(left.text, right.text);
}

char *top_page_key(enum top_page page, const json_t *row)
{
    struct strbuf buf;
    strbuf_init(&buf, KEY_MAX);
    for (size_t i = 0; i < TOP_KEYS_MAX && TOP_PAGES[page].keys[i] != NULL; i++) {
        const json_t *value = json_object_get(row, TOP_PAGES[page].keys[i]);
        if (i > 0)
            strbuf_add_char(&buf, '\n');
        if (json_is_string(value))
            strbuf_add(&buf, json_string_value(value));
        else
            strbuf_addf(&buf, "%lld", (long long)json_integer_value(value));
    }
    return strbuf_take(&buf);
}
