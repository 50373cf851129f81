#pragma once
/*
 * live_priv: the parts of live.
 *
 *   live         the thread that reads the store, and what is told to whom
 *   live_reader  one listener: what it still has to get
 *   live_starts  what runs, for those who want to hear of it
 */
#include <pthread.h>
#include <stdatomic.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "serve/event_ring.h"
#include "serve/live.h"
#include "serve/start_board.h"
#include "service/principal.h"

enum { LIVE_ID_MAX = 400 };

enum reader_phase {
    READER_NEW,     /* came after the round began that is on */
    READER_JOINING, /* the next end of a round is its beginning */
    READER_BEHIND,  /* gets from the store what it missed */
    READER_LIVE,    /* goes on in the ring */
    READER_OVER,    /* gets what is written for it, and no more */
};

/* Everything under the lock of its owner, except what never changes. */
struct live_reader {
    struct live *live;
    struct arena *arena;
    struct principal principal;
    struct event_filter filter;
    enum reader_phase phase;
    size_t users; /* the stream, and the thread while it reads the store for it */
    bool is_closed;
    char place[LIVE_ID_MAX]; /* all before was told; "": it begins with what comes */
    bool is_place_told;      /* as the id of something */
    const char *lost;        /* why it begins anew, or NULL; static */
    char until[LIVE_ID_MAX]; /* behind: where the ring goes on at `next` */
    uint64_t next;           /* in the ring */
    bool wants_starts;
    struct start_place starts;
    struct strbuf out; /* only for it */
    size_t out_sent;
    struct ring_event *event; /* being sent */
    size_t event_sent;
    bool is_asleep; /* until it is woken */
    void (*wake)(void *waker);
    void *waker;
    int64_t spoke_us;  /* when it last got something */
    int64_t looked_us; /* when it was last seen that it may listen */
    int64_t ends_us;
    uint64_t fed; /* how often, so that all have their turn */
    struct live_reader *before, *after;
};

struct live {
    struct live_options options;
    struct thread *thread;
    int knock;
    pthread_mutex_t lock;
    struct event_ring *ring;
    struct live_reader *readers;
    _Atomic bool has_readers;
    char place[LIVE_ID_MAX]; /* what the ring ends with; "": nobody listened so far */
    bool is_over;
    /* Of the thread alone: */
    struct service *service;
    int64_t looked_us;     /* when the last round began */
    int64_t not_before_us; /* after a failure */
    bool is_in_round;      /* there was more than a page */
    bool is_failing;
    struct start_board *board;
    int64_t starts_us;      /* when it was last seen what runs */
    int64_t starts_cost_us; /* how long that takes, on average */
    bool is_start_near;     /* we were woken since */
};

void live_lock(struct live *live);
void live_unlock(struct live *live);

/* Without the lock: an operation on the store of the thread. */
NODISCARD enum status live_call(struct live *live, const char *name, json_t *taken_request,
                                json_t **out, struct err *err);

/* All with the lock. */
/* Listeners stay: what they miss meanwhile they get when the store is back. */
void live_note_failure(struct live *live, const struct err *err);
/* When to look at what runs; INT64_MAX: nobody wants to know. */
int64_t live_starts_due_us(struct live *live);
/* Look, and tell all who want to know. The lock is let go of meanwhile. */
void live_starts_look(struct live *live);
/* What started, if it is at the end of what it was given. */
void live_reader_tell_starts(struct live_reader *reader, const struct start_board *board,
                             size_t most);
/* It has something to read, or nothing will come any more. */
void live_reader_wake(struct live_reader *reader);
/* Where there is something in the ring that it wants. */
void live_reader_notice(struct live_reader *reader);
/* The round that it waited for is over. */
void live_reader_join(struct live_reader *reader);
/* Begin anew with what comes, and say why. */
void live_reader_reset(struct live_reader *reader, const char *why);
/* A page of what it missed. */
void live_reader_feed(struct live_reader *reader, const json_t *response);
bool live_reader_is_hungry(const struct live_reader *reader);
/* A word if it was silent for long, or its end; when to look again. */
int64_t live_reader_mind(struct live_reader *reader, int64_t now_us);
void live_reader_let_go(struct live_reader *reader);
