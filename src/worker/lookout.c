#include "worker/lookout.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/idmap.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "tasks/sensor_file.h"

enum {
    TICK_MS_LEAST = 20, /* looks that are due a little later are made together */
    FILES_AT_ONCE = 2000,
    DAGS_AT_ONCE = 1000,
    TAKE_MS = 5000,  /* between two questions for waits of hosts that are gone */
    READ_EVERY = 12, /* so many of them, and all of our own is read */
    DAGS_GAP_US_LEAST = 100000,
    DAGS_SHARE = 50, /* looking for runs takes at most one part in so many of the time */
};

struct watched {
    struct wait_info wait; /* with texts of its own */
    size_t index;
    int64_t interval_ms;
    int64_t next_us; /* by the steady clock */
    bool is_held;    /* its task has a slot here */
    bool is_asked;   /* the store is being asked about it */
    uint64_t seen;   /* number of the reading that listed it last */
};

/* One question to the store at a time. */
struct question {
    struct store_call call; /* first: done() gets it back */
    struct lookout *owner;
    struct arena *arena;
    struct wait_taker taker;
    bool reads; /* the list of our own; else about runs */
    bool reads_all;
    bool was_read;
    struct wait_list list;
    struct wait_info *waits;
    bool *met;
    size_t count;
    int64_t asked_us;
    int64_t took_us;
    enum status status;
    struct err err;
};

struct lookout {
    struct loop *loop;
    struct lookout_events events;
    struct lookout_options options;
    struct idmap *known; /* by task */
    struct watched **items;
    size_t count;
    size_t capacity;
    size_t dags; /* how many of them wait for DAGs */
    struct loop_timer *tick;
    struct loop_timer *take;
    struct question *asked; /* on its way */
    int64_t armed_us;       /* what the tick is for; INT64_MAX: nothing */
    uint64_t readings;
    uint64_t takes;
    bool wants_reading;
    bool began;
    int64_t dags_due_us; /* look at all DAGs then; 0: each at its own time */
    int64_t dags_free_us;
};

/* --- what is watched ------------------------------------------------------------------------- */

static const char *copy_text(const char *text)
{
    return text != NULL ? mem_strdup(text) : NULL;
}

static void watched_free(struct watched *watched)
{
    free((char *)(uintptr_t)watched->wait.subject);
    free((char *)(uintptr_t)watched->wait.dag);
    free((char *)(uintptr_t)watched->wait.dag_task);
    free(watched);
}

static struct watched *take_out(struct lookout *lookout, int64_t task)
{
    struct watched *watched = idmap_remove(lookout->known, task);
    if (watched == NULL)
        return NULL;
    struct watched *last = lookout->items[--lookout->count];
    lookout->items[watched->index] = last;
    last->index = watched->index;
    lookout->dags -= watched->wait.kind == SENSOR_DAG;
    return watched;
}

static void arm_for(struct lookout *lookout, int64_t next_us);

static struct watched *add(struct lookout *lookout, const struct wait_info *wait)
{
    struct watched *watched = idmap_find(lookout->known, wait->task);
    /* Another attempt at the same task is another wait. */
    if (watched != NULL && watched->wait.attempt != wait->attempt) {
        watched_free(take_out(lookout, wait->task));
        watched = NULL;
    }
    if (watched != NULL || (wait->kind != SENSOR_FILE && wait->kind != SENSOR_DAG))
        return watched;
    watched = mem_zalloc(1, sizeof *watched);
    watched->wait = *wait;
    watched->wait.subject = copy_text(wait->subject);
    watched->wait.dag = copy_text(wait->dag);
    watched->wait.dag_task = copy_text(wait->dag_task);
    watched->interval_ms = MAX(wait->every_ms, (int64_t)TICK_MS_LEAST);
    watched->index = lookout->count;
    lookout->items =
        mem_grow(lookout->items, &lookout->capacity, lookout->count, sizeof(struct watched *));
    lookout->items[lookout->count++] = watched;
    lookout->dags += wait->kind == SENSOR_DAG;
    idmap_set(lookout->known, wait->task, watched);
    /* Files were looked at when the wait began. */
    watched->next_us = clock_mono_us();
    if (wait->kind == SENSOR_FILE)
        watched->next_us += watched->interval_ms * 1000;
    return watched;
}

void lookout_add(struct lookout *lookout, const struct wait_info *wait)
{
    struct watched *watched = add(lookout, wait);
    if (watched != NULL)
        watched->seen = lookout->readings + 1; /* a reading on its way may not list it */
    if (watched != NULL)
        arm_for(lookout, watched->next_us);
}

void lookout_add_held(struct lookout *lookout, const struct wait_info *wait)
{
    struct watched *watched = add(lookout, wait);
    if (watched == NULL)
        return;
    watched->is_held = true;
    arm_for(lookout, watched->next_us);
}

void lookout_remove(struct lookout *lookout, int64_t task)
{
    struct watched *watched = take_out(lookout, task);
    if (watched != NULL)
        watched_free(watched);
}

size_t lookout_count(const struct lookout *lookout)
{
    return lookout->count;
}

static void put_off(struct watched *watched, int64_t now_us)
{
    watched->next_us = now_us + watched->interval_ms * 1000;
    watched->interval_ms = sensor_interval_after_ms(watched->interval_ms, watched->wait.backoff,
                                                    watched->wait.every_max_ms);
}

static void tell(struct lookout *lookout, int64_t task)
{
    struct watched *watched = take_out(lookout, task);
    if (watched == NULL)
        return; /* it was removed while the store was asked */
    lookout->events.met(lookout->events.context, &watched->wait);
    watched_free(watched);
}

/* --- files ----------------------------------------------------------------------------------- */

static void look_at_files(struct lookout *lookout, int64_t now_us)
{
    size_t looked = 0;
    /* What is met leaves the list, and the last one takes its place. */
    for (size_t i = lookout->count; i > 0 && looked < FILES_AT_ONCE; i--) {
        struct watched *watched = lookout->items[i - 1];
        if (watched->wait.kind != SENSOR_FILE || watched->next_us > now_us)
            continue;
        looked++;
        if (sensor_file_is_there(watched->wait.subject))
            tell(lookout, watched->wait.task);
        else
            put_off(watched, now_us);
    }
}

/* --- questions to the store ------------------------------------------------------------------ */

static void question_free(struct question *question)
{
    if (question == NULL)
        return;
    arena_free(question->arena);
    free(question);
}

/* All of our own, unless there is nothing to take over and it is not time to read it again. */
static void read_list(struct store *store, struct question *question)
{
    bool is_left = false;
    if (!question->reads_all) {
        question->status = store_waits_left(store, &is_left, &question->err);
        if (question->status != STATUS_OK || !is_left || !question->taker.takes)
            return;
    }
    question->status =
        store_waits_take(store, &question->taker, question->arena, &question->list, &question->err);
    question->was_read = question->status == STATUS_OK;
}

static void ask(struct store *store, struct store_call *call)
{
    struct question *question = (struct question *)call;
    if (question->reads)
        read_list(store, question);
    else
        question->status = store_waits_look(store, question->waits, question->count, question->met,
                                            &question->err);
    question->took_us = clock_mono_us() - question->asked_us;
}

/* What the store does not list any more is over; what it lists is looked at within an interval. */
static void merge(struct lookout *lookout, const struct wait_list *list)
{
    int64_t now_us = clock_mono_us();
    for (size_t i = 0; i < list->count; i++) {
        bool is_new = idmap_find(lookout->known, list->items[i].task) == NULL;
        struct watched *watched = add(lookout, &list->items[i]);
        if (watched == NULL)
            continue;
        watched->seen = MAX(watched->seen, lookout->readings);
        if (is_new)
            watched->next_us =
                now_us + (int64_t)rng_below((uint32_t)MIN(watched->interval_ms, 1000)) * 1000;
    }
    for (size_t i = lookout->count; i > 0; i--) {
        const struct watched *watched = lookout->items[i - 1];
        if (!watched->is_held && watched->seen < lookout->readings)
            lookout_remove(lookout, watched->wait.task);
    }
}

static void take_looks(struct lookout *lookout, const struct question *question)
{
    int64_t now_us = clock_mono_us();
    lookout->dags_free_us =
        now_us + MAX(question->took_us * DAGS_SHARE, (int64_t)DAGS_GAP_US_LEAST);
    for (size_t i = 0; i < question->count; i++) {
        struct watched *watched = idmap_find(lookout->known, question->waits[i].task);
        if (watched == NULL || watched->wait.attempt != question->waits[i].attempt)
            continue;
        watched->is_asked = false;
        if (question->status == STATUS_OK && question->met[i])
            tell(lookout, watched->wait.task);
        else
            put_off(watched, now_us);
    }
}

static void arm(struct lookout *lookout);

static void answered(struct store_call *call)
{
    struct question *question = (struct question *)call;
    struct lookout *lookout = question->owner;
    lookout->asked = NULL;
    if (question->status != STATUS_OK)
        log_debug("a look at what tasks wait for failed", LOG_STR("error", question->err.text));
    if (!question->reads)
        take_looks(lookout, question);
    else if (question->was_read)
        merge(lookout, &question->list);
    question_free(question);
    arm(lookout);
}

static struct question *question_new(struct lookout *lookout)
{
    struct question *question = mem_zalloc(1, sizeof *question);
    *question = (struct question){
        .call = {.run = ask, .done = answered},
        .owner = lookout,
        .arena = arena_new(),
        .taker = lookout->options.taker,
        .asked_us = clock_mono_us(),
    };
    return question;
}

static void send(struct lookout *lookout, struct question *question)
{
    lookout->asked = question;
    store_thread_call(lookout->options.store_thread, &question->call);
}

static void ask_for_list(struct lookout *lookout)
{
    struct question *question = question_new(lookout);
    question->reads = true;
    question->reads_all = lookout->wants_reading;
    lookout->wants_reading = false;
    lookout->readings++;
    send(lookout, question);
}

static bool is_dag_due(const struct lookout *lookout, const struct watched *watched, int64_t now_us)
{
    if (watched->wait.kind != SENSOR_DAG || watched->is_asked)
        return false;
    bool all = lookout->dags_due_us != 0 && lookout->dags_due_us <= now_us;
    return all || watched->next_us <= now_us;
}

static void ask_about_runs(struct lookout *lookout, int64_t now_us)
{
    struct question *question = NULL;
    bool is_full = false;
    if (lookout->dags == 0)
        return;
    for (size_t i = 0; i < lookout->count && !is_full; i++) {
        struct watched *watched = lookout->items[i];
        if (!is_dag_due(lookout, watched, now_us))
            continue;
        if (question == NULL) {
            question = question_new(lookout);
            question->waits = arena_array(question->arena, DAGS_AT_ONCE, sizeof *question->waits);
            question->met = arena_array(question->arena, DAGS_AT_ONCE, sizeof *question->met);
        }
        struct wait_info *copy = &question->waits[question->count];
        *copy = watched->wait;
        copy->subject = NULL;
        copy->dag = arena_strdup(question->arena, watched->wait.dag);
        copy->dag_task = arena_strdup_null(question->arena, watched->wait.dag_task);
        watched->is_asked = true;
        is_full = ++question->count == DAGS_AT_ONCE;
    }
    if (!is_full)
        lookout->dags_due_us = 0;
    if (question != NULL)
        send(lookout, question);
}

/* --- time ------------------------------------------------------------------------------------ */

static void tick(void *context)
{
    struct lookout *lookout = context;
    int64_t now_us = clock_mono_us();
    lookout->armed_us = INT64_MAX;
    look_at_files(lookout, now_us);
    if (lookout->asked == NULL && lookout->wants_reading)
        ask_for_list(lookout);
    else if (lookout->asked == NULL)
        ask_about_runs(lookout, now_us);
    arm(lookout);
}

/* A little later than it could be, so that others join the look. */
static void arm_for(struct lookout *lookout, int64_t next_us)
{
    if (!lookout->began || lookout->armed_us <= next_us)
        return;
    lookout->armed_us = next_us;
    int64_t wait_ms = (next_us - clock_mono_us()) / 1000 + 1;
    loop_timer_start(lookout->tick, MAX(wait_ms, (int64_t)TICK_MS_LEAST), 0);
}

static void arm(struct lookout *lookout)
{
    int64_t next_us = INT64_MAX;
    for (size_t i = 0; i < lookout->count; i++)
        if (!lookout->items[i]->is_asked)
            next_us = MIN(next_us, lookout->items[i]->next_us);
    if (lookout->dags_due_us != 0)
        next_us = MIN(next_us, lookout->dags_due_us);
    if (lookout->wants_reading && lookout->asked == NULL)
        next_us = clock_mono_us();
    arm_for(lookout, next_us);
}

/* In a scope of one run there are no other hosts. */
static void take(void *context)
{
    struct lookout *lookout = context;
    bool is_time = ++lookout->takes % READ_EVERY == 0;
    lookout->wants_reading |= is_time;
    if (lookout->asked == NULL && (is_time || lookout->options.taker.scope == 0))
        ask_for_list(lookout);
}

void lookout_runs_changed(struct lookout *lookout)
{
    if (lookout->dags == 0 || lookout->dags_due_us != 0)
        return;
    lookout->dags_due_us = MAX(clock_mono_us(), lookout->dags_free_us);
    arm_for(lookout, lookout->dags_due_us);
}

/* --- the whole ------------------------------------------------------------------------------- */

struct lookout *lookout_new(struct loop *loop, const struct lookout_events *events)
{
    struct lookout *lookout = mem_zalloc(1, sizeof *lookout);
    lookout->loop = loop;
    lookout->events = *events;
    lookout->known = idmap_new();
    lookout->armed_us = INT64_MAX;
    lookout->tick = loop_timer_new(loop, tick, lookout);
    lookout->take = loop_timer_new(loop, take, lookout);
    return lookout;
}

void lookout_free(struct lookout *lookout)
{
    if (lookout == NULL)
        return;
    loop_timer_free(lookout->tick);
    loop_timer_free(lookout->take);
    for (size_t i = 0; i < lookout->count; i++)
        watched_free(lookout->items[i]);
    free(lookout->items);
    idmap_free(lookout->known);
    question_free(lookout->asked);
    free(lookout);
}

void lookout_begin(struct lookout *lookout, const struct lookout_options *options)
{
    bool takes = lookout->options.taker.takes;
    lookout->options = *options;
    lookout->options.taker.takes = takes;
    lookout->began = true;
    lookout->wants_reading = true;
    loop_timer_start(lookout->take, TAKE_MS, TAKE_MS);
    arm(lookout);
}

void lookout_set_host(struct lookout *lookout, int64_t host)
{
    lookout->options.taker.host = host;
    lookout->wants_reading = true;
    arm(lookout);
}

void lookout_set_taking(struct lookout *lookout, bool takes)
{
    lookout->options.taker.takes = takes;
}
