#include "model/diag.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "model/limits.h"

enum { TEXT_BYTES_MAX = 4096 };

void diag_list_fini(struct diag_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i].text);
    free(list->items);
    *list = (struct diag_list){0};
}

void diag_add(struct diag_list *list, enum diag_severity severity, int line, int column, int length,
              const char *fmt, ...)
{
    list->errors += severity == DIAG_ERROR;
    if (list->count == LIMIT_DIAGNOSTICS) {
        list->truncated = true;
        return;
    }
    struct strbuf text;
    strbuf_init(&text, TEXT_BYTES_MAX);
    va_list args;
    va_start(args, fmt);
    strbuf_addv(&text, fmt, args);
    va_end(args);

    list->items = mem_grow(list->items, &list->capacity, list->count, sizeof *list->items);
    list->items[list->count++] = (struct diag){
        .severity = severity,
        .line = line,
        .column = column,
        .length = MAX(length, 1),
        .text = strbuf_take(&text),
    };
}

static bool comes_before(const struct diag *a, const struct diag *b)
{
    return a->line != b->line ? a->line < b->line : a->column < b->column;
}

/* Insertion: the list is short, mostly sorted already, and equal places keep their order. */
void diag_list_sort(struct diag_list *list)
{
    for (size_t i = 1; i < list->count; i++) {
        struct diag moved = list->items[i];
        size_t place = i;
        for (; place > 0 && comes_before(&moved, &list->items[place - 1]); place--)
            list->items[place] = list->items[place - 1];
        list->items[place] = moved;
    }
}
