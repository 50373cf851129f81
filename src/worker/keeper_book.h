#pragma once
/*
 * keeper_book: what the keeper has to tell its daemon about each task, and the link to it.
 *
 * A keeper in the foreground tells and forgets. One that stays keeps all it said about a
 * task until the daemon acknowledges the end, so that the next daemon hears it again:
 *
 *   silent --- hello ---> retelling: held tasks, lines, ends ---> live
 *
 * While it retells, what happens is only written down; the retelling comes to it.
 * Nothing more than a packet waits in the link for that, however much there is to tell.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attrs.h"
#include "worker/keeper_link.h"
#include "worker/keeper_task.h"

/* Lines kept of one task; beyond it the oldest progress goes first, then the oldest at all. */
enum { KEEPER_BOOK_LINE_BYTES = 20 << 20 };
/* More than this in the link: the daemon does not keep up. */
enum { KEEPER_BOOK_FULL_BYTES = 1 << 20 };

struct keeper_line; /* of descriptor 4 */

/* One task from its start until its end is told or, if we stay, acknowledged. */
struct keeper_hold {
    int64_t id;
    pid_t pid; /* 0: not started */
    int64_t started_at_us;
    char *context;
    struct keeper_line *lines;
    struct keeper_line **lines_end;
    struct keeper_line **seen;  /* no progress before it */
    struct keeper_line *untold; /* the first that the daemon at hand does not know */
    size_t line_bytes;
    bool lines_lost;          /* others than progress */
    struct keeper_exit *exit; /* NULL: not ended */
};

enum keeper_book_state { KEEPER_BOOK_SILENT, KEEPER_BOOK_RETELLING, KEEPER_BOOK_LIVE };

struct keeper_book {
    struct keeper_link link;
    enum keeper_book_state state;
    bool keeps; /* ends until they are acknowledged, and lines */
    struct keeper_hold **holds;
    size_t count;
    size_t capacity;
};

/* `fd`: the daemon's socket, -1 if there is none yet. */
void keeper_book_init(struct keeper_book *book, int fd, bool keeps);
void keeper_book_fini(struct keeper_book *book);

/* Another daemon at `fd`, which becomes the link's; it is told nothing before the greeting. */
void keeper_book_connect(struct keeper_book *book, int fd);
/* The daemon is gone; the socket is closed. */
void keeper_book_disconnect(struct keeper_book *book);
/* It has greeted, and our answer is on its way: tell it everything. */
void keeper_book_begin(struct keeper_book *book);
/* Go on telling as far as the link has room. */
void keeper_book_go_on(struct keeper_book *book);

/* A task is about to start. An earlier one with its id has been written down, if it has ended. */
NODISCARD struct keeper_hold *keeper_book_open(struct keeper_book *book,
                                               const struct keeper_task *task);
void keeper_book_started(struct keeper_book *book, struct keeper_hold *hold, pid_t pid,
                         int64_t started_at_us);
/* `text` NULL: it was too long. */
void keeper_book_line(struct keeper_book *book, struct keeper_hold *hold, const char *text,
                      size_t length);
/* The hold is the book's alone from here on. */
void keeper_book_ended(struct keeper_book *book, struct keeper_hold *hold,
                       const struct keeper_exit *exit);
/* Forget the end of that task; one that is unknown or runs is fine. */
void keeper_book_acknowledge(struct keeper_book *book, int64_t id);
