/*
 * The shortest way from one text to the other by removing and adding lines, found by following the
 * furthest reach of every diagonal for one more change at a time. What each number of changes
 * reached is kept, so that the way can be walked back.
 */
#include "model/text_diff.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"

enum { CHANGES_MOST = 1000, CONTEXT = 3 };

struct line {
    const char *text;
    size_t length;
};

struct lines {
    struct line *items;
    size_t count;
    bool ends; /* with a newline */
};

static void split(const char *text, struct lines *out)
{
    size_t capacity = 0;
    *out = (struct lines){.ends = true};
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        out->items = mem_grow(out->items, &capacity, out->count, sizeof *out->items);
        out->items[out->count++] = (struct line){text, length};
        out->ends = text[length] == '\n';
        text += length + out->ends;
    }
}

static bool same(const struct line *a, const struct line *b)
{
    return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

struct diff {
    struct lines a, b;
    size_t head, tail; /* lines that both begin and end with */
    bool *removed;     /* one per line of a */
    bool *added;       /* one per line of b */
};

static void mark_all(struct diff *d)
{
    for (size_t i = d->head; i < d->a.count - d->tail; i++)
        d->removed[i] = true;
    for (size_t i = d->head; i < d->b.count - d->tail; i++)
        d->added[i] = true;
}

static bool goes_down(const int64_t *reach, int64_t k, int64_t depth)
{
    return k == -depth || (k != depth && reach[k - 1] < reach[k + 1]);
}

/* From the end to the beginning: which change came last, which before it. */
static void walk_back(struct diff *d, int64_t *const *reaches, int64_t depth)
{
    int64_t x = (int64_t)(d->a.count - d->tail - d->head);
    int64_t y = (int64_t)(d->b.count - d->tail - d->head);
    for (; depth > 0; depth--) {
        const int64_t *reach = reaches[depth - 1] + CHANGES_MOST + 1;
        int64_t k = x - y;
        bool is_down = goes_down(reach, k, depth);
        int64_t from = is_down ? k + 1 : k - 1;
        x = reach[from];
        y = x - from;
        if (is_down)
            d->added[d->head + (size_t)y] = true;
        else
            d->removed[d->head + (size_t)x] = true;
    }
}

static int64_t *copy_reach(const int64_t *reach)
{
    size_t size = (2 * CHANGES_MOST + 3) * sizeof *reach;
    int64_t *copy = mem_alloc(size);
    memcpy(copy, reach, size);
    return copy;
}

/* One more change on every diagonal; true: the end is reached. */
static bool advance(const struct diff *d, int64_t *reach, int64_t depth)
{
    int64_t width = (int64_t)(d->a.count - d->tail - d->head);
    int64_t height = (int64_t)(d->b.count - d->tail - d->head);
    const struct line *a = d->a.items + d->head;
    const struct line *b = d->b.items + d->head;
    for (int64_t k = -depth; k <= depth; k += 2) {
        int64_t x = depth == 0 ? 0 : goes_down(reach, k, depth) ? reach[k + 1] : reach[k - 1] + 1;
        while (x < width && x - k < height && x - k >= 0 && same(&a[x], &b[x - k]))
            x++;
        reach[k] = x;
        if (x == width && x - k == height)
            return true;
    }
    return false;
}

static void compare(struct diff *d)
{
    int64_t *storage = mem_zalloc(2 * CHANGES_MOST + 3, sizeof *storage);
    int64_t **reaches = mem_zalloc(CHANGES_MOST + 1, sizeof *reaches);
    int64_t depth = 0;
    bool is_done = false;
    for (; depth <= CHANGES_MOST && !is_done; depth++) {
        is_done = advance(d, storage + CHANGES_MOST + 1, depth);
        if (!is_done && depth < CHANGES_MOST)
            reaches[depth] = copy_reach(storage);
    }
    if (is_done)
        walk_back(d, reaches, depth - 1);
    else
        mark_all(d);
    for (size_t i = 0; i <= CHANGES_MOST; i++)
        free(reaches[i]);
    free(reaches);
    free(storage);
}

/* --- writing --------------------------------------------------------------------------------- */

static void write_line(struct strbuf *out, char mark, const struct lines *lines, size_t i)
{
    strbuf_add_char(out, mark);
    strbuf_add_bytes(out, lines->items[i].text, lines->items[i].length);
    strbuf_add_char(out, '\n');
    if (i + 1 == lines->count && !lines->ends)
        strbuf_add(out, "\\ No newline at end of file\n");
}

struct place {
    size_t a, b;
};

/* Where the next change is, or both ends. */
static struct place next_change(const struct diff *d, struct place at)
{
    while ((at.a < d->a.count || at.b < d->b.count) && !(at.a < d->a.count && d->removed[at.a]) &&
           !(at.b < d->b.count && d->added[at.b])) {
        at.a++;
        at.b++;
    }
    return at;
}

static struct place end_of_change(const struct diff *d, struct place at)
{
    while (at.a < d->a.count && d->removed[at.a])
        at.a++;
    while (at.b < d->b.count && d->added[at.b])
        at.b++;
    return at;
}

static void write_hunk(const struct diff *d, struct place from, struct place to, struct strbuf *out)
{
    strbuf_addf(out, "@@ -%zu,%zu +%zu,%zu @@\n", from.a + (to.a > from.a), to.a - from.a,
                from.b + (to.b > from.b), to.b - from.b);
    while (from.a < to.a || from.b < to.b) {
        if (from.a < to.a && d->removed[from.a])
            write_line(out, '-', &d->a, from.a++);
        else if (from.b < to.b && d->added[from.b])
            write_line(out, '+', &d->b, from.b++);
        else {
            write_line(out, ' ', &d->a, from.a);
            from.a++;
            from.b++;
        }
    }
}

static void write_hunks(const struct diff *d, struct strbuf *out)
{
    struct place at = next_change(d, (struct place){0, 0});
    while (at.a < d->a.count || at.b < d->b.count) {
        size_t before = MIN(at.a, at.b);
        before = MIN(before, (size_t)CONTEXT);
        struct place from = {at.a - before, at.b - before};
        struct place end = end_of_change(d, at);
        at = next_change(d, end);
        /* Changes with little between them are shown together. */
        while ((at.a < d->a.count || at.b < d->b.count) && at.a - end.a <= 2 * (size_t)CONTEXT) {
            end = end_of_change(d, at);
            at = next_change(d, end);
        }
        size_t after = MIN(d->a.count - end.a, d->b.count - end.b);
        after = MIN(after, (size_t)CONTEXT);
        write_hunk(d, from, (struct place){end.a + after, end.b + after}, out);
    }
}

static bool last_lines_differ(const struct diff *d)
{
    return d->a.ends != d->b.ends && d->a.count > 0 && d->b.count > 0;
}

void text_diff(const struct diff_text *before, const struct diff_text *after, struct strbuf *out)
{
    struct diff d = {0};
    if (strcmp(before->text, after->text) == 0)
        return;
    split(before->text, &d.a);
    split(after->text, &d.b);
    size_t least = MIN(d.a.count, d.b.count);
    while (d.head < least && same(&d.a.items[d.head], &d.b.items[d.head]))
        d.head++;
    while (d.tail < least - d.head &&
           same(&d.a.items[d.a.count - 1 - d.tail], &d.b.items[d.b.count - 1 - d.tail]))
        d.tail++;
    d.removed = mem_zalloc(d.a.count + 1, sizeof *d.removed);
    d.added = mem_zalloc(d.b.count + 1, sizeof *d.added);
    compare(&d);
    if (last_lines_differ(&d) && !d.removed[d.a.count - 1] && !d.added[d.b.count - 1]) {
        d.removed[d.a.count - 1] = true;
        d.added[d.b.count - 1] = true;
    }
    strbuf_addf(out, "--- %s\n+++ %s\n", before->name, after->name);
    write_hunks(&d, out);
    free(d.a.items);
    free(d.b.items);
    free(d.removed);
    free(d.added);
}
