#pragma once
/*
 * measuring: what a daemon measures of itself, and whom it sends that to.
 *
 * Built before the stores, which count into it, and freed after them.
 */
#include "app/config.h"
#include "app/home.h"
#include "notify/statsd.h"
#include "notify/tracer.h"
#include "service/observer.h"
#include "store/spare.h"

struct local_service;

struct measuring {
    struct meters *meters;
    struct observer *observer;
    struct tracer *tracer;         /* NULL: nobody traces */
    struct statsd *statsd;         /* NULL: nobody is sent anything */
    struct local_service *service; /* of the thread that sends */
};

struct measuring_options {
    const struct config *config;
    const struct home *home;
    struct spare *spare;
    const char *store_uuid;
};

void measuring_init(struct measuring *measuring, const struct settings *settings);
/* Send, as the settings say; the store is there. */
NODISCARD enum status measuring_begin(struct measuring *measuring,
                                      const struct measuring_options *options, struct err *err);
/* What is left to be sent is sent. */
void measuring_end(struct measuring *measuring);
void measuring_fini(struct measuring *measuring); /* twice is fine */

/* For stores; NULL: nobody traces. */
const struct span_sink *measuring_spans(const struct measuring *measuring);
