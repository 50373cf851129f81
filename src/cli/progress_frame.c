/*
 * Frames. Three ways to show the tasks, the first that fits: everything with its groups;
 * the same with quiet groups folded into a line; the most telling tasks and a sum of the rest.
 */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/humanize.h"
#include "cli/progress_priv.h"

enum { BAR_MAX = 40, NAME_MIN = 12, LINE_BYTES_MAX = 4096 };

/* A line being written: colours take no columns, text is cut where the room ends. */
struct line {
    struct strbuf *out;
    const struct style *style;
    size_t left;
};

static void line_start(struct line *line, const struct progress_view *view, struct strbuf *out)
{
    *line = (struct line){.out = out, .style = &view->style, .left = view->columns};
}

static void line_add(struct line *line, const char *color, const char *text)
{
    if (line->left == 0)
        return;
    size_t columns = str_columns(text);
    if (color[0] != '\0')
        strbuf_add(line->out, color);
    humanize_add_text(line->out, text, line->left, line->style->utf8);
    if (color[0] != '\0')
        strbuf_add(line->out, style_reset(line->style));
    line->left -= MIN(line->left, columns);
}

static void line_pad(struct line *line, size_t columns)
{
    size_t pad = MIN(columns, line->left);
    strbuf_add_repeat(line->out, ' ', pad);
    line->left -= pad;
}

static void line_end(struct line *line)
{
    strbuf_add_char(line->out, '\n');
}

/* --- what a row says --- */

static bool is_active(enum task_state state)
{
    return state == TASK_RUNNING || state == TASK_UP_FOR_RETRY || state == TASK_DEFERRED ||
           state == TASK_AWAITING_INPUT || state == TASK_UP_FOR_RESCHEDULE;
}

static const char *skip_group(const struct progress_node *node)
{
    size_t length = strlen(node->group);
    bool has_prefix =
        length > 0 && strncmp(node->id, node->group, length) == 0 && node->id[length] == '.';
    return has_prefix ? node->id + length + 1 : node->id;
}

static void add_times(struct strbuf *out, const struct progress_node *node, enum task_state state,
                      int64_t now_us)
{
    char text[HUMAN_MAX];
    int64_t ms = -1;
    if (state == TASK_RUNNING && node->attempt_at_us > 0)
        ms = (now_us - (node->is_expanded ? node->started_at_us : node->attempt_at_us)) / 1000;
    else if (node->is_expanded && node->started_at_us > 0)
        ms = (MAX(node->ended_at_us, node->started_at_us) - node->started_at_us) / 1000;
    else if (task_state_is_final(state))
        ms = node->duration_ms;
    if (ms >= 0)
        strbuf_addf(out, "  %s", humanize_duration(ms, text));
}

static void add_counts(struct strbuf *out, const int32_t *counts)
{
    static const enum task_state SHOWN[] = {TASK_RUNNING,   TASK_FAILED,  TASK_UP_FOR_RETRY,
                                            TASK_CANCELLED, TASK_SKIPPED, TASK_UPSTREAM_FAILED};
    for (size_t i = 0; i < ARRAY_LEN(SHOWN); i++)
        if (counts[SHOWN[i]] > 0)
            strbuf_addf(out, "  %d %s", counts[SHOWN[i]], task_state_name(SHOWN[i]));
}

/* "  1.2s  try 2/3", or for instances "  3 running  1 failed  4.0s". */
static void add_detail(struct strbuf *out, const struct progress_node *node, int64_t now_us)
{
    enum task_state state = progress_node_state(node);
    if (node->is_expanded)
        add_counts(out, node->counts);
    add_times(out, node, state, now_us);
    if (node->is_expanded)
        return;
    if (state == TASK_RUNNING && node->percent >= 0)
        strbuf_addf(out, "  %d%%", node->percent);
    if (state == TASK_RUNNING && node->said[0] != '\0') {
        strbuf_add(out, "  ");
        humanize_add_text(out, node->said, sizeof node->said, false);
    }
    if (node->attempt > 1)
        strbuf_addf(out, "  try %lld/%lld", (long long)node->attempt,
                    (long long)MAX(node->attempts_max, node->attempt));
    if (state != TASK_SUCCESS && state != TASK_RUNNING && state != TASK_NONE)
        strbuf_addf(out, "  %s", task_state_name(state));
}

static void add_label(struct strbuf *out, const struct progress_node *node, bool is_short)
{
    strbuf_add(out, is_short ? skip_group(node) : node->id);
    if (node->is_expanded)
        strbuf_addf(out, " [%lld/%d]", (long long)progress_node_done(node), node->total);
}

/* --- which rows there are --- */

/* A run of nodes of one group in `order`, or one node without group. */
struct span {
    size_t start, end;
    bool is_group;
    int64_t done, total;
    enum task_state state; /* the most telling of its members */
};

static struct span next_span(const struct progress *progress, size_t start)
{
    const char *group = progress->nodes[progress->order[start]].group;
    struct span span = {.start = start, .end = start, .is_group = group[0] != '\0'};
    struct progress_node sum = {0};
    do {
        const struct progress_node *node = &progress->nodes[progress->order[span.end++]];
        for (size_t state = 0; state < TASK_STATE_COUNT; state++)
            sum.counts[state] += node->counts[state];
        span.total += node->total;
    } while (span.is_group && span.end < progress->nodes_count &&
             strcmp(progress->nodes[progress->order[span.end]].group, group) == 0);
    span.done = progress_node_done(&sum);
    span.state = progress_node_state(&sum);
    return span;
}

/* Nothing to see in there: all of it ended well, or none of it has begun. */
static bool is_quiet(const struct span *span)
{
    return span->state == TASK_SUCCESS || span->state == TASK_SKIPPED ||
           (span->state == TASK_NONE && span->done == 0);
}

static bool is_folded(const struct span *span, bool folding)
{
    return span->is_group && folding && is_quiet(span);
}

static size_t tree_lines(const struct progress *progress, bool folding, size_t enough)
{
    size_t lines = 0;
    for (size_t at = 0; at < progress->nodes_count && lines <= enough;) {
        struct span span = next_span(progress, at);
        size_t members = is_folded(&span, folding) ? 0 : span.end - span.start;
        lines += members + span.is_group;
        at = span.end;
    }
    return lines;
}

struct rows {
    const struct progress *progress;
    const struct progress_view *view;
    struct strbuf *out;
    size_t name_width;
};

static void print_node(const struct rows *rows, const struct progress_node *node, size_t indent,
                       bool is_short)
{
    struct line line;
    struct strbuf text;
    enum task_state state = progress_node_state(node);
    const char *color = style_color(&rows->view->style, state);
    line_start(&line, rows->view, rows->out);
    line_pad(&line, indent);
    line_add(&line, color, style_symbol(&rows->view->style, state));
    line_pad(&line, 1);
    strbuf_init(&text, LINE_BYTES_MAX);
    add_label(&text, node, is_short);
    size_t used = indent + str_columns(text.text);
    line_add(&line, "", text.text);
    strbuf_clear(&text);
    add_detail(&text, node, rows->view->now_us);
    if (used < rows->name_width && text.length > 0)
        line_pad(&line, rows->name_width - used);
    line_add(&line, state == TASK_SUCCESS ? style_dim(&rows->view->style) : color, text.text);
    strbuf_fini(&text);
    line_end(&line);
}

static void print_group(const struct rows *rows, const struct span *span)
{
    const struct progress *progress = rows->progress;
    struct line line;
    struct strbuf text;
    line_start(&line, rows->view, rows->out);
    line_add(&line, style_color(&rows->view->style, span->state),
             style_symbol(&rows->view->style, span->state));
    line_pad(&line, 1);
    strbuf_init(&text, LINE_BYTES_MAX);
    strbuf_addf(&text, "%s [%lld/%lld]", progress->nodes[progress->order[span->start]].group,
                (long long)span->done, (long long)span->total);
    line_add(&line, style_bold(&rows->view->style), text.text);
    strbuf_fini(&text);
    line_end(&line);
}

static void print_tree(const struct rows *rows, bool folding)
{
    const struct progress *progress = rows->progress;
    for (size_t at = 0; at < progress->nodes_count;) {
        struct span span = next_span(progress, at);
        at = span.end;
        if (span.is_group)
            print_group(rows, &span);
        if (is_folded(&span, folding))
            continue;
        for (size_t i = span.start; i < span.end; i++)
            print_node(rows, &progress->nodes[progress->order[i]], span.is_group ? 2 : 0, true);
    }
}

/* Lower is shown first. */
static unsigned class_of(enum task_state state)
{
    if (is_active(state))
        return 0;
    if (state == TASK_FAILED)
        return 1;
    if (state == TASK_QUEUED || state == TASK_SCHEDULED)
        return 2;
    if (state == TASK_UPSTREAM_FAILED || state == TASK_CANCELLED)
        return 3;
    return state == TASK_NONE ? 4 : 5;
}

enum { CLASSES = 6 };

static void print_rest(const struct rows *rows, const int32_t *hidden, size_t count)
{
    struct line line;
    struct strbuf text;
    strbuf_init(&text, LINE_BYTES_MAX);
    strbuf_addf(&text, "%s %zu more:", rows->view->style.utf8 ? "…" : "...", count);
    for (enum task_state state = 0; state < TASK_STATE_COUNT; state++)
        if (hidden[state] > 0)
            strbuf_addf(&text, " %d %s", hidden[state],
                        state == TASK_NONE ? "waiting" : task_state_name(state));
    line_start(&line, rows->view, rows->out);
    line_add(&line, style_dim(&rows->view->style), text.text);
    strbuf_fini(&text);
    line_end(&line);
}

static void print_selection(const struct rows *rows, size_t room)
{
    const struct progress *progress = rows->progress;
    size_t quota[CLASSES] = {0};
    size_t left = room - 1; /* the last line sums up the rest */
    for (size_t i = 0; i < progress->nodes_count; i++)
        quota[class_of(progress_node_state(&progress->nodes[i]))]++;
    for (size_t class = 0; class < CLASSES; class ++) {
        quota[class] = MIN(quota[class], left);
        left -= quota[class];
    }
    int32_t hidden[TASK_STATE_COUNT] = {0};
    size_t hidden_count = 0;
    for (size_t i = 0; i < progress->nodes_count; i++) {
        const struct progress_node *node = &progress->nodes[progress->order[i]];
        enum task_state state = progress_node_state(node);
        if (quota[class_of(state)] > 0) {
            quota[class_of(state)]--;
            print_node(rows, node, 0, false);
        } else {
            hidden[state]++;
            hidden_count++;
        }
    }
    if (hidden_count > 0)
        print_rest(rows, hidden, hidden_count);
}

static size_t name_width(const struct progress *progress, size_t columns)
{
    size_t width = NAME_MIN;
    size_t most = MAX(columns / 2, (size_t)NAME_MIN);
    for (size_t i = 0; i < progress->nodes_count && width < most; i++)
        width = MAX(width, str_columns(progress->nodes[i].id) + 2);
    return MIN(width, most);
}

static void print_tasks(const struct progress *progress, const struct progress_view *view,
                        size_t room, struct strbuf *out)
{
    struct rows rows = {progress, view, out, name_width(progress, view->columns)};
    if (room == 0)
        return;
    if (tree_lines(progress, false, room) <= room)
        print_tree(&rows, false);
    else if (tree_lines(progress, true, room) <= room)
        print_tree(&rows, true);
    else
        print_selection(&rows, room);
}

/* --- head and foot --- */

static void print_header(const struct progress *progress, const struct progress_view *view,
                         struct strbuf *out)
{
    char elapsed[HUMAN_MAX];
    struct line line;
    struct strbuf text;
    line_start(&line, view, out);
    line_add(&line, style_bold(&view->style), progress->dag_id);
    strbuf_init(&text, LINE_BYTES_MAX);
    strbuf_addf(&text, "  %s", progress->run_id);
    if (progress->number > 0)
        strbuf_addf(&text, "  #%lld", (long long)progress->number);
    line_add(&line, style_dim(&view->style), text.text);
    int64_t ms = MAX(view->now_us - progress->started_at_us, (int64_t)0) / 1000;
    line_add(&line, "", "  ");
    line_add(&line, "", humanize_duration(ms, elapsed));
    strbuf_fini(&text);
    line_end(&line);
}

static void add_bar(struct strbuf *out, const struct progress *progress, size_t width, bool utf8)
{
    size_t filled =
        progress->total == 0
            ? width
            : (size_t)((double)width * (double)progress->done / (double)progress->total);
    filled = MIN(filled, width);
    for (size_t i = 0; i < width; i++)
        strbuf_add(out, i < filled ? (utf8 ? "█" : "#") : (utf8 ? "░" : "."));
}

static void print_bar(const struct progress *progress, const struct progress_view *view,
                      struct strbuf *out)
{
    static const enum task_state SHOWN[] = {TASK_SUCCESS,     TASK_FAILED,    TASK_UPSTREAM_FAILED,
                                            TASK_SKIPPED,     TASK_CANCELLED, TASK_RUNNING,
                                            TASK_UP_FOR_RETRY};
    struct line line;
    struct strbuf text;
    strbuf_init(&text, LINE_BYTES_MAX);
    line_start(&line, view, out);
    add_bar(&text, progress, MIN(view->columns / 3, (size_t)BAR_MAX), view->style.utf8);
    line_add(
        &line,
        style_color(&view->style, progress->counts[TASK_FAILED] > 0 ? TASK_FAILED : TASK_SUCCESS),
        text.text);
    strbuf_clear(&text);
    strbuf_addf(&text, " %lld/%lld", (long long)progress->done, (long long)progress->total);
    line_add(&line, style_bold(&view->style), text.text);
    for (size_t i = 0; i < ARRAY_LEN(SHOWN); i++) {
        if (progress->counts[SHOWN[i]] == 0)
            continue;
        strbuf_clear(&text);
        strbuf_addf(&text, "  %lld %s", (long long)progress->counts[SHOWN[i]],
                    task_state_name(SHOWN[i]));
        line_add(&line, style_color(&view->style, SHOWN[i]), text.text);
    }
    double seconds = (double)(view->now_us - progress->started_at_us) / 1e6;
    int64_t done = progress->done - progress->done_before;
    if (seconds >= 1 && done > 0) {
        strbuf_clear(&text);
        strbuf_addf(&text, "  %.1f/s", (double)done / seconds);
        line_add(&line, style_dim(&view->style), text.text);
    }
    strbuf_fini(&text);
    line_end(&line);
}

static void print_notice(const struct progress_view *view, struct strbuf *out, const char *symbol,
                         enum task_state color, const char *text)
{
    struct line line;
    line_start(&line, view, out);
    line_add(&line, style_color(&view->style, color), symbol);
    line_pad(&line, 1);
    line_add(&line, style_color(&view->style, color), text);
    line_end(&line);
}

void progress_frame(const struct progress *progress, const struct progress_view *view,
                    struct strbuf *out)
{
    if (view->rows == 0 || progress->nodes == NULL)
        return;
    bool has_failure = progress->last_failure.length > 0 && view->rows >= 4;
    bool has_notice = progress->interrupts > 0 && view->rows >= 5;
    size_t fixed = 1 + (view->rows >= 2) + has_failure + has_notice;
    if (view->rows >= 2)
        print_header(progress, view, out);
    print_tasks(progress, view, view->rows - fixed, out);
    if (has_failure)
        print_notice(view, out, style_symbol(&view->style, TASK_FAILED), TASK_FAILED,
                     progress->last_failure.text);
    if (has_notice)
        print_notice(view, out, style_symbol(&view->style, TASK_CANCELLED), TASK_CANCELLED,
                     progress->interrupts == 1 ? "stopping; Ctrl-C again kills" : "killing");
    print_bar(progress, view, out);
}
