#include "worker/keeper_book.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "worker/keeper_report.h"
#include "worker/keeper_wire.h"

struct keeper_line {
    struct keeper_line *next;
    size_t length;
    bool cut; /* it was too long, and is empty here */
    char text[];
};

static void hold_free(struct keeper_hold *hold)
{
    while (hold->lines != NULL) {
        struct keeper_line *next = hold->lines->next;
        free(hold->lines);
        hold->lines = next;
    }
    free(hold->context);
    free(hold->exit);
    free(hold);
}

static void forget(struct keeper_book *book, size_t index)
{
    struct keeper_hold *hold = book->holds[index];
    book->count--;
    memmove(&book->holds[index], &book->holds[index + 1],
            (book->count - index) * sizeof(struct keeper_hold *));
    hold_free(hold);
}

void keeper_book_init(struct keeper_book *book, int fd, bool keeps)
{
    *book = (struct keeper_book){.keeps = keeps};
    keeper_link_init(&book->link, fd);
    book->link.broken = fd < 0;
}

void keeper_book_fini(struct keeper_book *book)
{
    keeper_link_fini(&book->link);
    for (size_t i = 0; i < book->count; i++)
        hold_free(book->holds[i]);
    free(book->holds);
    *book = (struct keeper_book){.link.fd = -1};
}

void keeper_book_connect(struct keeper_book *book, int fd)
{
    keeper_link_fini(&book->link);
    keeper_link_init(&book->link, fd);
    book->state = KEEPER_BOOK_SILENT;
}

void keeper_book_disconnect(struct keeper_book *book)
{
    keeper_book_connect(book, -1);
    book->link.broken = true;
}

/* --- telling ------------------------------------------------------------- */

static void put_line(struct keeper_book *book, int64_t id, const char *text, size_t length)
{
    bool cut = text == NULL;
    keeper_wire_put(&book->link.out, &(struct keeper_frame){.type = KEEPER_FRAME_LINE,
                                                            .numbers = {id, cut},
                                                            .text = cut ? "" : text,
                                                            .text_length = length});
}

static void put_end(struct keeper_book *book, const struct keeper_hold *hold)
{
    keeper_wire_put_exit(&book->link.out, hold->id, hold->exit);
}

void keeper_book_begin(struct keeper_book *book)
{
    if (!book->keeps) {
        book->state = KEEPER_BOOK_LIVE;
        return;
    }
    for (size_t i = 0; i < book->count; i++) {
        struct keeper_hold *hold = book->holds[i];
        hold->untold = hold->lines;
        keeper_wire_put(&book->link.out, &(struct keeper_frame){
                                             .type = KEEPER_FRAME_HELD,
                                             .numbers = {hold->id, hold->pid, hold->started_at_us},
                                             .text = hold->context,
                                             .text_length = strlen(hold->context),
                                         });
    }
    for (size_t i = 0; i < book->count; i++)
        if (book->holds[i]->lines_lost)
            put_line(book, book->holds[i]->id, NULL, 0);
    book->state = KEEPER_BOOK_RETELLING;
}

/* True when it has none left. */
static bool tell_lines(struct keeper_book *book, struct keeper_hold *hold)
{
    while (hold->untold != NULL && book->link.out.length < KEEPER_BOOK_FULL_BYTES) {
        const struct keeper_line *line = hold->untold;
        put_line(book, hold->id, line->cut ? NULL : line->text, line->length);
        hold->untold = line->next;
    }
    return hold->untold == NULL;
}

void keeper_book_go_on(struct keeper_book *book)
{
    if (book->state != KEEPER_BOOK_RETELLING)
        return;
    for (size_t i = 0; i < book->count; i++)
        if (!tell_lines(book, book->holds[i]))
            return;
    for (size_t i = 0; i < book->count; i++)
        if (book->holds[i]->exit != NULL)
            put_end(book, book->holds[i]);
    keeper_wire_put(&book->link.out, &(struct keeper_frame){.type = KEEPER_FRAME_ALL});
    book->state = KEEPER_BOOK_LIVE;
}

/* --- keeping lines ------------------------------------------------------- */

static size_t line_bytes(const struct keeper_line *line)
{
    return sizeof *line + line->length + 1;
}

static bool is_progress(const struct keeper_line *line)
{
    struct keeper_report report;
    keeper_report_parse(line->text, line->length, &report);
    bool progress = report.type == KEEPER_REPORT_PROGRESS;
    keeper_report_fini(&report);
    return progress;
}

static void drop_line(struct keeper_hold *hold, struct keeper_line **at)
{
    struct keeper_line *line = *at;
    CHECK(line != NULL);
    *at = line->next;
    if (hold->untold == line)
        hold->untold = line->next;
    if (hold->lines_end == &line->next)
        hold->lines_end = at;
    if (hold->seen == &line->next)
        hold->seen = at;
    hold->line_bytes -= line_bytes(line);
    free(line);
}

/* `seen` only moves on, so every line is looked at once, however many are dropped. */
static void make_room(struct keeper_hold *hold)
{
    while (hold->line_bytes > KEEPER_BOOK_LINE_BYTES) {
        while (*hold->seen != NULL && !is_progress(*hold->seen))
            hold->seen = &(*hold->seen)->next;
        hold->lines_lost = hold->lines_lost || *hold->seen == NULL;
        drop_line(hold, *hold->seen != NULL ? hold->seen : &hold->lines);
    }
}

static void keep_line(struct keeper_hold *hold, const char *text, size_t length, bool told)
{
    struct keeper_line *line = mem_alloc(sizeof *line + length + 1);
    *line = (struct keeper_line){.length = length, .cut = text == NULL};
    if (text != NULL)
        memcpy(line->text, text, length);
    line->text[length] = '\0';
    *hold->lines_end = line;
    hold->lines_end = &line->next;
    hold->line_bytes += line_bytes(line);
    if (!told && hold->untold == NULL)
        hold->untold = line;
    make_room(hold);
}

/* --- what happens -------------------------------------------------------- */

struct keeper_hold *keeper_book_open(struct keeper_book *book, const struct keeper_task *task)
{
    keeper_book_acknowledge(book, task->id);
    struct keeper_hold *hold = mem_zalloc(1, sizeof *hold);
    *hold = (struct keeper_hold){
        .id = task->id,
        .context = mem_strdup(task->context == NULL ? "" : task->context),
        .lines_end = &hold->lines,
        .seen = &hold->lines,
    };
    book->holds = mem_grow(book->holds, &book->capacity, book->count,
                           sizeof(struct keeper_hold *)); /* NOLINT(bugprone-sizeof-expression) */
    book->holds[book->count++] = hold;
    return hold;
}

void keeper_book_started(struct keeper_book *book, struct keeper_hold *hold, pid_t pid,
                         int64_t started_at_us)
{
    hold->pid = pid;
    hold->started_at_us = started_at_us;
    /* The daemon that asked for it hears it even while it is told of others. */
    if (book->state != KEEPER_BOOK_SILENT)
        keeper_wire_put(&book->link.out,
                        &(struct keeper_frame){.type = KEEPER_FRAME_STARTED,
                                               .numbers = {hold->id, pid, started_at_us}});
}

void keeper_book_line(struct keeper_book *book, struct keeper_hold *hold, const char *text,
                      size_t length)
{
    bool live = book->state == KEEPER_BOOK_LIVE;
    if (live)
        put_line(book, hold->id, text, length);
    if (book->keeps)
        keep_line(hold, text, length, live);
}

void keeper_book_ended(struct keeper_book *book, struct keeper_hold *hold,
                       const struct keeper_exit *exit)
{
    CHECK(hold->exit == NULL);
    hold->exit = mem_alloc(sizeof *hold->exit);
    *hold->exit = *exit;
    if (book->state == KEEPER_BOOK_LIVE)
        put_end(book, hold);
    if (!book->keeps)
        keeper_book_acknowledge(book, hold->id);
}

void keeper_book_acknowledge(struct keeper_book *book, int64_t id)
{
    for (size_t i = 0; i < book->count; i++)
        if (book->holds[i]->id == id && book->holds[i]->exit != NULL) {
            forget(book, i);
            return;
        }
}
