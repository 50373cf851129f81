#include "model/meters.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "model/run_state.h"
#include "model/task_state.h"

enum { STATES_MAX = TASK_STATE_COUNT };
_Static_assert((int)RUN_STATE_COUNT <= (int)STATES_MAX, "states of runs have a place, too");

struct meter {
    atomic_int_fast64_t sum; /* of a counter or gauge: its value */
    atomic_int_fast64_t buckets[METRIC_BUCKETS_MAX];
};

typedef _Atomic(struct meter *) meter_place;

/* A DAG, a task or a queue: what several series have in common. */
struct subject {
    uint64_t hash;
    char *first;
    char *second;
    meter_place places[]; /* as many as its family has */
};

typedef _Atomic(struct subject *) subject_place;

struct family {
    size_t places; /* of a subject */
    size_t mask;   /* of the table, a power of two less one */
    atomic_size_t count;
    subject_place *table;
    struct subject *other;
};

struct meters {
    size_t series_max;
    struct meter plain[METRIC_COUNT];
    size_t offsets[METRIC_COUNT]; /* of the metric's first place in a subject */
    struct family families[METRIC_FAMILY_COUNT];
    atomic_int_fast64_t signs[SIGN_COUNT];
    char *host;
};

/* --- making ---------------------------------------------------------------------------------- */

static struct subject *subject_new(const struct family *family, const struct meter_labels *labels,
                                   uint64_t hash)
{
    struct subject *subject = mem_zalloc(1, sizeof *subject + family->places * sizeof(meter_place));
    subject->hash = hash;
    subject->first = mem_strdup(labels->first);
    subject->second = mem_strdup(labels->second != NULL ? labels->second : "");
    return subject;
}

static void subject_free(struct subject *subject, size_t places)
{
    if (subject == NULL)
        return;
    for (size_t i = 0; i < places; i++)
        free(atomic_load(&subject->places[i]));
    free(subject->first);
    free(subject->second);
    free(subject);
}

static void place_metrics(struct meters *meters)
{
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        enum metric metric = (enum metric)i;
        enum metric_family family = metric_family_of(metric);
        if (family == METRIC_FAMILY_NONE || METRICS[i].source != OF_PROCESS)
            continue;
        meters->offsets[i] = meters->families[family].places;
        meters->families[family].places += metric_has_state(metric) ? STATES_MAX : 1;
    }
}

struct meters *meters_new(size_t series_max)
{
    struct meters *meters = mem_zalloc(1, sizeof *meters);
    size_t size = 16;
    while (size < series_max * 2)
        size *= 2;
    meters->series_max = series_max;
    meters->host = mem_strdup("");
    place_metrics(meters);
    for (size_t i = METRIC_FAMILY_NONE + 1; i < METRIC_FAMILY_COUNT; i++) {
        struct family *family = &meters->families[i];
        bool has_second = i == METRIC_FAMILY_TASK;
        const struct meter_labels other = {.first = "other", .second = has_second ? "other" : ""};
        family->mask = size - 1;
        family->table = mem_zalloc(size, sizeof *family->table);
        family->other = subject_new(family, &other, 0);
    }
    return meters;
}

void meters_free(struct meters *meters)
{
    if (meters == NULL)
        return;
    for (size_t i = METRIC_FAMILY_NONE + 1; i < METRIC_FAMILY_COUNT; i++) {
        struct family *family = &meters->families[i];
        for (size_t j = 0; j <= family->mask; j++)
            subject_free(atomic_load(&family->table[j]), family->places);
        subject_free(family->other, family->places);
        free(family->table);
    }
    free(meters->host);
    free(meters);
}

void meters_set_host(struct meters *meters, const char *name)
{
    if (meters == NULL)
        return;
    free(meters->host);
    meters->host = mem_strdup(name);
}

/* --- finding --------------------------------------------------------------------------------- */

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3U;
    return (hash ^ 0xFFU) * 0x100000001b3U;
}

static bool is_subject(const struct subject *subject, const struct meter_labels *labels,
                       uint64_t hash)
{
    const char *second = labels->second != NULL ? labels->second : "";
    return subject->hash == hash && strcmp(subject->first, labels->first) == 0 &&
           strcmp(subject->second, second) == 0;
}

/* The table is never more than half full, so the search ends. */
static struct subject *find_subject(const struct meters *meters, struct family *family,
                                    const struct meter_labels *labels)
{
    uint64_t hash = hash_text(0xcbf29ce484222325U, labels->first);
    hash = hash_text(hash, labels->second != NULL ? labels->second : "");
    for (size_t i = hash & family->mask;; i = (i + 1) & family->mask) {
        struct subject *there = atomic_load_explicit(&family->table[i], memory_order_acquire);
        if (there == NULL) {
            if (atomic_fetch_add(&family->count, 1) >= meters->series_max) {
                (void)atomic_fetch_sub(&family->count, 1);
                return family->other;
            }
            struct subject *fresh = subject_new(family, labels, hash);
            if (atomic_compare_exchange_strong(&family->table[i], &there, fresh))
                return fresh;
            /* Somebody was faster, perhaps with the same. */
            subject_free(fresh, family->places);
            (void)atomic_fetch_sub(&family->count, 1);
        }
        if (is_subject(there, labels, hash))
            return there;
    }
}

static struct meter *open_meter(meter_place *place)
{
    struct meter *there = atomic_load_explicit(place, memory_order_acquire);
    if (there != NULL)
        return there;
    struct meter *fresh = mem_zalloc(1, sizeof *fresh);
    if (atomic_compare_exchange_strong(place, &there, fresh))
        return fresh;
    free(fresh);
    return there;
}

struct meter *meters_find(struct meters *meters, enum metric metric,
                          const struct meter_labels *labels)
{
    if (meters == NULL)
        return NULL;
    CHECK(metric < METRIC_COUNT);
    enum metric_family number = metric_family_of(metric);
    if (number == METRIC_FAMILY_NONE)
        return &meters->plain[metric];
    struct family *family = &meters->families[number];
    struct subject *subject = find_subject(meters, family, labels);
    CHECK(labels->state >= 0 && labels->state < STATES_MAX);
    size_t state = metric_has_state(metric) ? (size_t)labels->state : 0;
    return open_meter(&subject->places[meters->offsets[metric] + state]);
}

/* --- counting -------------------------------------------------------------------------------- */

void meter_count(struct meter *meter, enum metric metric, int64_t amount)
{
    if (meter == NULL)
        return;
    (void)atomic_fetch_add_explicit(&meter->sum, amount, memory_order_relaxed);
    if (METRICS[metric].type != METRIC_HISTOGRAM)
        return;
    size_t count = 0;
    size_t bucket = 0;
    const int64_t *bounds = metric_bounds(metric, &count);
    while (bucket < count && amount > bounds[bucket])
        bucket++;
    (void)atomic_fetch_add_explicit(&meter->buckets[bucket], 1, memory_order_relaxed);
}

void meters_count(struct meters *meters, enum metric metric, int64_t amount)
{
    if (meters != NULL)
        meter_count(&meters->plain[metric], metric, amount);
}

void meters_set(struct meters *meters, enum metric metric, int64_t value)
{
    if (meters != NULL)
        atomic_store_explicit(&meters->plain[metric].sum, value, memory_order_relaxed);
}

void meters_sign(struct meters *meters, enum meter_sign sign, int64_t at_us)
{
    if (meters != NULL)
        atomic_store_explicit(&meters->signs[sign], at_us, memory_order_relaxed);
}

void meters_sign_once(struct meters *meters, enum meter_sign sign, int64_t at_us)
{
    int_fast64_t unset = 0;
    if (meters != NULL)
        (void)atomic_compare_exchange_strong(&meters->signs[sign], &unset, at_us);
}

int64_t meters_sign_at(const struct meters *meters, enum meter_sign sign)
{
    return meters != NULL ? atomic_load_explicit(&meters->signs[sign], memory_order_relaxed) : 0;
}

/* --- reading --------------------------------------------------------------------------------- */

static const char *state_name(enum metric metric, size_t state)
{
    if (metric_family_of(metric) == METRIC_FAMILY_DAG)
        return run_state_name((enum run_state)state);
    return task_state_name((enum task_state)state);
}

static struct metric_sample *read_meter(const struct meter *meter, enum metric metric,
                                        struct metric_samples *out)
{
    struct metric_sample *sample = metric_samples_push(out, metric);
    sample->value =
        (double)atomic_load_explicit(&meter->sum, memory_order_relaxed) / metric_scale(metric);
    for (size_t i = 0; i < METRIC_BUCKETS_MAX; i++) {
        sample->buckets[i] = atomic_load_explicit(&meter->buckets[i], memory_order_relaxed);
        sample->count += sample->buckets[i];
    }
    return sample;
}

static void read_subject(const struct meters *meters, struct subject *subject,
                         enum metric_family family, struct metric_samples *out)
{
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        enum metric metric = (enum metric)i;
        if (metric_family_of(metric) != family || METRICS[i].source != OF_PROCESS)
            continue;
        size_t states = metric_has_state(metric) ? STATES_MAX : 1;
        for (size_t state = 0; state < states; state++) {
            const struct meter *meter = atomic_load_explicit(
                &subject->places[meters->offsets[i] + state], memory_order_acquire);
            if (meter == NULL)
                continue;
            struct metric_sample *sample = read_meter(meter, metric, out);
            size_t label = 0;
            sample->labels[label++] = subject->first;
            if (family == METRIC_FAMILY_TASK)
                sample->labels[label++] = subject->second;
            if (metric_has_state(metric))
                sample->labels[label] = state_name(metric, state);
        }
    }
}

void meters_collect(const struct meters *meters, struct metric_samples *out)
{
    if (meters == NULL)
        return;
    for (size_t i = 0; i < METRIC_COUNT; i++)
        if (METRICS[i].source == OF_PROCESS && metric_family_of((enum metric)i) == 0)
            read_meter(&meters->plain[i], (enum metric)i, out)->labels[0] = meters->host;
    for (size_t i = METRIC_FAMILY_NONE + 1; i < METRIC_FAMILY_COUNT; i++) {
        const struct family *family = &meters->families[i];
        for (size_t j = 0; j <= family->mask; j++) {
            struct subject *subject = atomic_load_explicit(&family->table[j], memory_order_acquire);
            if (subject != NULL)
                read_subject(meters, subject, (enum metric_family)i, out);
        }
        read_subject(meters, family->other, (enum metric_family)i, out);
    }
}
