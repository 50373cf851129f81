#pragma once
/*
 * observer: what is measured of this process and of the store, for metrics and health.
 *
 * The store is asked at most once a second, and less often when that takes long, however many ask
 * at once; what it answered, a failure too, is kept for the others.
 *
 * Threads  Any: each with a service of its own.
 */
#include "model/meters.h"
#include "model/settings.h"
#include "service/service.h"
#include "store/census.h"

struct observer;

#define OBSERVER_TEXT_MAX ((size_t)64 << 20)

struct observer_options {
    struct meters *meters;           /* borrowed */
    const struct settings *settings; /* borrowed */
    bool schedules;                  /* this process has a scheduler */
};

NODISCARD struct observer *observer_new(const struct observer_options *options);
void observer_free(struct observer *observer); /* NULL is allowed */

/* From when the process does all that its roles say. */
void observer_set_up(struct observer *observer);
bool observer_is_up(const struct observer *observer);

/*
 * Calls `look` with what there is, while nobody else does. Without an observer (the program beside
 * a store) the store is asked at once. `census` is NULL when there is no store yet.
 */
NODISCARD enum status observer_look(struct service *service,
                                    void (*look)(void *context, const struct census *census),
                                    void *context, struct err *err);

/* Everything that is measured, in the arena of the samples. */
NODISCARD enum status observer_samples(struct service *service, struct metric_samples *out,
                                       struct err *err);
/* The same in the text format of Prometheus. */
NODISCARD enum status observer_text(struct service *service, struct strbuf *out, struct err *err);

/*
 * Whether work moves, as operation `health.show` tells it: a new reference. A store that does not
 * answer is an answer, too.
 */
NODISCARD json_t *observer_health(struct service *service);
/* Why requests should go elsewhere; false and "" when they need not. */
NODISCARD bool observer_is_ready(struct service *service, struct err *why);
