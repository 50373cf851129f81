#include "service/render_gantt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"

enum { NAME_BYTES = 300, WIDTH_MIN = 30, DURATION_COLUMNS = 10 };

struct bar {
    int64_t start_us;
    int64_t end_us;
    const json_t *task;
    size_t place; /* in the list, for equal starts */
};

static int compare_bars(const void *a, const void *b)
{
    const struct bar *x = a;
    const struct bar *y = b;
    if (x->start_us != y->start_us)
        return x->start_us < y->start_us ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static size_t collect(const struct gantt_request *request, struct bar *bars)
{
    size_t count = 0;
    size_t i;
    json_t *task;
    json_array_foreach(request->tasks, i, task)
    {
        struct bar bar = {.task = task, .end_us = request->now_us, .place = i};
        const char *start = json_get_string(task, "start_date", NULL);
        const char *end = json_get_string(task, "end_date", NULL);
        if (start == NULL || !instant_parse(start, &bar.start_us))
            continue;
        if (end != NULL && !instant_parse(end, &bar.end_us))
            continue;
        bar.end_us = MAX(bar.end_us, bar.start_us);
        bars[count++] = bar;
    }
    qsort(bars, count, sizeof *bars, compare_bars);
    return count;
}

static void name_of(const json_t *task, char out[static NAME_BYTES])
{
    int64_t index = json_get_int(task, "map_index", -1);
    const char *id = json_get_string(task, "task_id", "?");
    int length = index < 0 ? snprintf(out, NAME_BYTES, "%.250s", id)
                           : snprintf(out, NAME_BYTES, "%.250s[%lld]", id, (long long)index);
    CHECK(length >= 0 && length < NAME_BYTES);
}

static void format_duration(int64_t us, char out[static DURATION_COLUMNS + 1])
{
    int64_t s = MIN(us / 1000000, (int64_t)359999999);
    int length;
    if (s < 60)
        length = snprintf(out, DURATION_COLUMNS + 1, "%lld.%llds", (long long)s,
                          (long long)(us / 100000 % 10));
    else if (s < 3600)
        length = snprintf(out, DURATION_COLUMNS + 1, "%lldm%02llds", (long long)(s / 60),
                          (long long)(s % 60));
    else
        length = snprintf(out, DURATION_COLUMNS + 1, "%lldh%02lldm", (long long)(s / 3600),
                          (long long)(s % 3600 / 60));
    CHECK(length > 0);
}

static const char *bar_symbol(const json_t *task, bool ascii)
{
    static const struct {
        const char *state;
        const char *symbol;
        const char *ascii;
    } SYMBOLS[] = {
        {"failed", "▓", "x"},
        {"running", "▒", ">"},
        {"skipped", "░", "-"},
        {"cancelled", "░", "/"},
    };
    const char *state = json_get_string(task, "state", "");
    for (size_t i = 0; i < ARRAY_LEN(SYMBOLS); i++)
        if (strcmp(SYMBOLS[i].state, state) == 0)
            return ascii ? SYMBOLS[i].ascii : SYMBOLS[i].symbol;
    return ascii ? "=" : "█";
}

static void print_bar(const struct bar *bar, int64_t origin_us, int64_t span_us, size_t columns,
                      bool ascii, struct strbuf *out)
{
    double scale = (double)columns / (double)MAX(span_us, (int64_t)1);
    size_t from = (size_t)((double)(bar->start_us - origin_us) * scale);
    size_t to = (size_t)((double)(bar->end_us - origin_us) * scale + 0.5);
    from = MIN(from, columns - 1);
    to = MIN(MAX(to, from + 1), columns); /* the shortest task has a mark, too */
    strbuf_add_repeat(out, ' ', from);
    for (size_t i = from; i < to; i++)
        strbuf_add(out, bar_symbol(bar->task, ascii));
    strbuf_add_repeat(out, ' ', columns - to);
}

void render_gantt(const struct gantt_request *request, struct strbuf *out)
{
    CLEANUP(mem_freep)
    struct bar *bars = mem_zalloc(json_array_size(request->tasks) + 1, sizeof *bars);
    size_t count = collect(request, bars);
    if (count == 0) {
        strbuf_add(out, "no task has started\n");
        return;
    }
    char name[NAME_BYTES];
    char duration[DURATION_COLUMNS + 1];
    size_t names = 4;
    int64_t end_us = bars[0].end_us;
    for (size_t i = 0; i < count; i++) {
        name_of(bars[i].task, name);
        names = MAX(names, str_columns(name));
        end_us = MAX(end_us, bars[i].end_us);
    }
    size_t width = MAX(request->width, (size_t)WIDTH_MIN);
    names = MIN(names, width / 3);
    size_t columns = width - names - DURATION_COLUMNS - 3;
    int64_t span_us = end_us - bars[0].start_us;
    for (size_t i = 0; i < count; i++) {
        name_of(bars[i].task, name);
        format_duration(bars[i].end_us - bars[i].start_us, duration);
        if (str_columns(name) > names)
            name[names] = '\0';
        strbuf_addf(out, "%s%*s |", name, (int)(names - MIN(names, str_columns(name))), "");
        print_bar(&bars[i], bars[0].start_us, span_us, columns, request->ascii, out);
        strbuf_addf(out, "| %s\n", duration);
    }
    format_duration(span_us, duration);
    strbuf_addf(out, "%*s 0%*s%s\n", (int)names, "", (int)(columns + 1 - strlen(duration)), "",
                duration);
}
