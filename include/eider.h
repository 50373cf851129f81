#ifndef EIDER_H
#define EIDER_H
/*
 * eider: producing and running plain jobs of an Eider store from a C program.
 *
 * A producer opens a store and enqueues. A worker registers as a host, claims jobs, does them and
 * says how they ended; daemons (`eider up`) and other workers share the same queues. Tasks of DAGs
 * are left to daemons.
 *
 * A job runs at least once. Every claim carries a token, and whatever comes from a claim that is
 * not the current one is answered with EIDER_STALE and changes nothing: of a job that was taken
 * away from a silent worker, only the new owner's end counts.
 *
 * Ownership  What is passed in is borrowed for the call. Claims are freed by eider_claim_free.
 * Threads    One thread at a time per handle; any number of handles. Not across fork().
 * Failures   Every call returns a status; eider_error has the text of the last one that failed. Of
 *            calls that failed nothing happened, except after EIDER_UNKNOWN. When memory is used
 *            up, or an invariant is broken, the program is ended.
 * Versions   Until 1.0 the minor version is part of the library's name for the linker: a program
 *            finds the library it was built for, or none.
 *
 * Link with `pkg-config --cflags --libs eider`. Examples are in examples/c, a guide is
 * docs/library.md.
 */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define EIDER_API __attribute__((visibility("default")))
#else
#define EIDER_API
#endif

#define EIDER_VERSION_MAJOR 0
#define EIDER_VERSION_MINOR 1
#define EIDER_VERSION_PATCH 0

/* Of the library that runs, "0.1.0"; the numbers above are of the header. */
EIDER_API const char *eider_version(void);

enum eider_status {
    EIDER_OK = 0,
    EIDER_INVALID = 1,     /* what was asked for cannot be done as it is */
    EIDER_NOT_FOUND = 2,   /* no such queue, store or job */
    EIDER_CONFLICT = 3,    /* a name or dedupe key is taken, or the store is a newer program's */
    EIDER_LIMIT = 4,       /* too large, or the queue takes no more */
    EIDER_BUSY = 5,        /* others are in the way; the same again may work */
    EIDER_UNREACHABLE = 6, /* no server to talk to; the same again may work */
    EIDER_DENIED = 7,      /* the store does not let this user in */
    EIDER_IO = 8,          /* a disk or connection failed */
    EIDER_FULL = 9,        /* no space */
    EIDER_CORRUPT = 10,    /* what is stored makes no sense */
    EIDER_UNKNOWN = 11,    /* the answer was lost and could not be read back; call again */
    EIDER_STALE = 12,      /* the claim is not the current one; nothing changed */
    EIDER_LOST = 13        /* the lease was taken: no claim of this worker counts any more */
};

EIDER_API const char *eider_status_text(enum eider_status status);

/* --- a store --------------------------------------------------------------------------------- */

struct eider;

/*
 * Open "sqlite:PATH" or "postgresql://...". The store is made, or brought to this library's
 * schema, if need be.
 *
 * When it fails, *out is a handle all the same, of use only for eider_error and eider_close.
 */
EIDER_API enum eider_status eider_open(const char *url, struct eider **out);

/* Ends a worker first, as eider_worker_end does. NULL is allowed. */
EIDER_API void eider_close(struct eider *e);

/* What went wrong last, for people; "" at first. Valid until the next call on this handle. */
EIDER_API const char *eider_error(const struct eider *e);

/* --- producing ------------------------------------------------------------------------------- */

#define EIDER_ID_SIZE  24 /* of a job's id as text, with the NUL */
#define EIDER_NO_DELAY (-1)

/* Zero or NULL is the usual value of every member but `handler`. */
struct eider_job_request {
    const char *queue;      /* NULL: "default" */
    const char *handler;    /* what to do: a name that a worker or the project file knows */
    const char *payload;    /* JSON, at most 1 MiB; NULL: null */
    const char *namespace_; /* NULL: "default" */
    const char *dedupe;     /* a second job with the same key is not made; NULL: none */
    const char *actor;      /* who asks, for the record; NULL: "library" */
    int64_t priority;       /* more is sooner */
    int64_t run_after_us;   /* not before: microseconds since 1970; 0: at once */
    int64_t delay_ms;       /* the same, counted from now; only one of the two */
    int64_t retries;        /* tries after the first one failed */
    int64_t retry_delay_ms; /* 0: the usual growing delay; EIDER_NO_DELAY: none */
    int64_t timeout_ms;     /* 0: none; kept by daemons, told to workers */
};

/*
 * Put a job in its queue. When the dedupe key has a job with the same handler and payload, its id
 * is the answer and nothing is made; with others it is EIDER_CONFLICT.
 */
EIDER_API enum eider_status eider_enqueue(struct eider *e, const struct eider_job_request *request,
                                          char id[EIDER_ID_SIZE]);

/* The same for up to EIDER_ENQUEUE_MAX of them, all or none. `ids` has room for `count`. */
#define EIDER_ENQUEUE_MAX 10000
EIDER_API enum eider_status eider_enqueue_many(struct eider *e,
                                               const struct eider_job_request *requests,
                                               size_t count, char (*ids)[EIDER_ID_SIZE]);

/* --- running: to be a host ------------------------------------------------------------------- */

/* Zero or NULL is the usual value of every member. */
struct eider_worker_options {
    const char *name;   /* unique among the living; NULL: MACHINE-PID-NUMBER */
    const char *queues; /* to claim from, separated by commas; NULL: all */
    const char *labels; /* what jobs may ask for, separated by commas */
    int64_t slots;      /* shown to people; 0: 1 */
    int64_t lease_ms;   /* so long may it be silent before its jobs are taken back; 0: 30 s */
};

/* EIDER_CONFLICT: a living host has this name. After EIDER_LOST it may be called again. */
EIDER_API enum eider_status eider_worker_begin(struct eider *e,
                                               const struct eider_worker_options *options);

/* Hand back what is still claimed, uncounted, and take leave. */
EIDER_API enum eider_status eider_worker_end(struct eider *e);

/*
 * Show that this worker lives. To be called when eider_heartbeat_due says so, at a third of the
 * lease, also while jobs run.
 *
 *   EIDER_LOST  it came too late and another host has taken its jobs: end them
 */
EIDER_API enum eider_status eider_heartbeat(struct eider *e);

/* Milliseconds until the next one is due; 0: now; -1: this is no worker. */
EIDER_API int64_t eider_heartbeat_due(const struct eider *e);

/* 1 when an operator wants this worker to claim nothing more, as of the last heartbeat. */
EIDER_API int eider_is_draining(const struct eider *e);

/* --- running: claims ------------------------------------------------------------------------- */

/* Open to read; the last member is the library's. */
struct eider_claim {
    char job[EIDER_ID_SIZE];
    int64_t attempt;    /* 1 for the first try */
    int64_t generation; /* one more each time somebody has it run again after it was over */
    int64_t timeout_ms; /* 0: none */
    const char *queue;
    const char *handler;
    const char *payload; /* JSON */
    const char *namespace_;
    unsigned char token[16];
};

/*
 * Claim up to `max` jobs, most urgent first; *count tells how many there were. Sends a heartbeat
 * first when one is due. Nothing to do, or draining, is EIDER_OK with a count of 0. Must not be
 * called with claims in `out` that were not freed.
 */
EIDER_API enum eider_status eider_claim(struct eider *e, size_t max, struct eider_claim *out,
                                        size_t *count);

/*
 * Until there may be something to claim, a heartbeat is due, or the time is up, whichever is first;
 * where the store cannot tell, for a fraction of a second.
 */
EIDER_API enum eider_status eider_wait(struct eider *e, int64_t timeout_ms);

/* Done. `result_json` is kept with the job, at most 1 MiB; NULL: none. */
EIDER_API enum eider_status eider_complete(struct eider *e, const struct eider_claim *claim,
                                           const char *result_json);

/* Not done. With `retry` it is tried again if it has tries left, without it is over. */
EIDER_API enum eider_status eider_fail(struct eider *e, const struct eider_claim *claim,
                                       const char *message, int retry);

/* Hand it back for another worker; the try counts for nothing. */
EIDER_API enum eider_status eider_release(struct eider *e, const struct eider_claim *claim);

/* Stopped, because eider_is_cancelled said so. */
EIDER_API enum eider_status eider_cancel(struct eider *e, const struct eider_claim *claim);

/* *out is 1 when somebody wants the job to stop. EIDER_STALE: it is another's by now, or over. */
EIDER_API enum eider_status eider_is_cancelled(struct eider *e, const struct eider_claim *claim,
                                               int *out);

/* Free its texts; the job is not touched. A claim of zeros, and twice, is fine. */
EIDER_API void eider_claim_free(struct eider_claim *claim);

#ifdef __cplusplus
}
#endif
#endif
