#pragma once
/*
 * log_ship: brings the logs of this host's attempts into the store, where every host reads them.
 *
 * Keepers write logs into a local directory. What comes together there is added to the store's log
 * of the same key: of one that is being written when there are 64 KiB or after a second, of one
 * that ended the rest at once, with its end; then the local files are removed. A log in the store
 * without its end is not all there yet. While the store cannot be reached, logs wait in the
 * directory; those that lie there when it starts are found and brought along.
 *
 * Ownership  Texts of the options are copied.
 * Threads    Its own, which takes the spare store for each pass: nobody waits for it. The functions
 * here are called from one thread, which they do not hold up, log_ship_stop excepted.
 */
#include <stdbool.h>
#include <stdint.h>

#include "store/spare.h"

struct log_ship;

struct log_ship_options {
    struct spare *spare;   /* must outlive it */
    const char *directory; /* of local blobs */
    int64_t interval_ms;   /* 0: a second */
    /*
     * A log that was found and that nobody follows has ended when the store says so and it has not
     * grown for this long; 0: five seconds.
     */
    int64_t settle_ms;
};

NODISCARD enum status log_ship_start(const struct log_ship_options *options, struct log_ship **out,
                                     struct err *err);
/* An attempt runs, or was found running after a restart. A job has run 0. */
void log_ship_follow(struct log_ship *ship, int64_t run, int64_t task, int64_t attempt);
/* Nothing is written any more. Without a log nothing happens. */
void log_ship_ended(struct log_ship *ship, int64_t run, int64_t task, int64_t attempt);
/*
 * Bring what is there, for at most `wait_ms` and a call to the store. False: something is left for
 * the next start. NULL is allowed.
 */
bool log_ship_stop(struct log_ship *ship, int64_t wait_ms);
