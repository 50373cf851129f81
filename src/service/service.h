#pragma once
/*
 * service: what the use cases work on, and how they reach the store and the logs.
 *
 * The application fills the open members; store and logs are opened by the first operation that
 * needs them and kept until service_fini. A store is made by running a DAG, by the first queue that
 * is set and by the first job.
 *
 * Ownership  Texts, settings and contexts are borrowed and outlive the service. Whatever an
 *            operation borrows from the store (DAGs) is valid until the operation returns.
 * Threads    One thread at a time.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/json.h"
#include "store/store.h"

struct blob;
struct dag;
struct host_info;
struct meters;
struct observer;
struct principal;
struct row_taker;
struct settings;
struct span_sink;
struct vault;
struct vault_sources;

struct service_preview {
    const struct dag *dag;
    const char *path;     /* of its file, or "" */
    const json_t *params; /* resolved */
    const json_t *conf;   /* or NULL */
    int64_t logical_at_us;
    int64_t node;
    struct vault *vault;
};

struct service {
    const struct settings *settings;
    const char *home;                  /* state folder */
    const char *dags;                  /* folder of DAG files; NULL: none */
    const char *actor;                 /* who asks; kept with every change */
    const struct principal *principal; /* what that one may do; NULL: nothing */
    const char *reason;                /* why, as the request says; or NULL */
    const char *traceparent;           /* the trace that asks, as its header says; or NULL */
    bool (*is_alive)(void *context, int64_t host); /* NULL: leases tell */
    void *is_alive_context;
    /*
     * Take back what dead processes held, and kill what is left of them. NULL: only the store is
     * put right, by `is_alive`.
     */
    enum status (*recover)(void *context, struct store *store, struct err *err);
    void *recover_context;
    /* Whether some process works on the run right now. */
    bool (*is_held)(void *context, int64_t run);
    void *is_held_context;
    /* After a commit that made work claimable or asked for a cancel; NULL: nobody listens. */
    void (*wake)(void *context);
    void *wake_context;
    int64_t (*now_us)(void);         /* NULL: the wall clock */
    const struct house_hooks *hooks; /* of all DAGs; NULL: none */
    struct meters *meters;           /* that count what is done; NULL: nobody counts */
    const struct span_sink *spans;   /* who traces it; NULL: nobody does */
    /* Make the state folder, for whoever may be the first; NULL: it is there. */
    enum status (*make_home)(void *context, struct err *err);
    void *make_home_context;
    /*
     * Fill in the templates of a task as a run would: a list of {"field", "value"}, a new
     * reference. Rendering belongs to the worker, which this layer does not know.
     */
    json_t *(*preview)(void *context, const struct service_preview *preview);
    void *preview_context;
    const struct vault_sources *sources; /* of variables, connections and secrets */
    /* How far something long is: now at this many rows of a table. NULL: nobody waits. */
    void (*progress)(void *context, const char *table, int64_t rows);
    void *progress_context;

    /* What is measured in this process, for metrics and health; NULL: nothing is. */
    struct observer *observer;

    const struct row_taker *row_taker; /* of the rows of a list (row_list.h); NULL: nobody */

    const char *sight; /* which namespaces lists show; see store/sight.h */
    struct store *store;
    enum db_mode store_mode;
    struct blob *blob;
    bool is_together;  /* what is done now becomes durable later, with others (together.h) */
    bool wakes_at_end; /* and then somebody is to be woken */
};

/* Why what is changed from here on is changed; borrowed until the next call. NULL: nobody said. */
void service_set_reason(struct service *service, const char *reason);
/* Which namespaces lists show from here on (store/sight.h); borrowed until the next call. */
void service_set_sight(struct service *service, const char *spaces);
void service_fini(struct service *service); /* twice is fine */

/*
 * The store, opened at the first call; a read-write one serves readers too.
 *
 *   STATUS_NOT_FOUND  there is none yet
 */
NODISCARD enum status service_store(struct service *service, enum db_mode mode, struct store **out,
                                    struct err *err);
/* The same for writing, made when there is none. */
NODISCARD enum status service_store_new(struct service *service, struct store **out,
                                        struct err *err);
/* For lists: *out is NULL when there is no store yet. */
NODISCARD enum status service_store_if_any(struct service *service, struct store **out,
                                           struct err *err);
/* How the store is opened by itself; its URL, heap, goes to *out_url. */
NODISCARD struct store_options service_store_options(const struct service *service,
                                                     enum db_mode mode, char **out_url);
/* Close the store, and the logs with it: another one takes its place. */
void service_close_store(struct service *service);

/*
 * Logs and large values, until the store is opened for writing or closed. *out is NULL when nothing
 * was ever written.
 */
NODISCARD enum status service_blob_if_any(struct service *service, struct blob **out,
                                          struct err *err);

/*
 * The place of this store's logs and large values alone, without what other stores left in the
 * state folder; made when it is missing, and the store with it unless that is a file. To fill it.
 * The caller closes it, before the service.
 */
NODISCARD enum status service_blob_new(struct service *service, struct blob **out, struct err *err);

/* The store's URL with its path made absolute or relative to the state folder; heap. */
NODISCARD char *service_store_url(const struct service *service);
/* Path of the store's file; heap. STATUS_INVALID when the store is not a file. */
NODISCARD enum status service_store_path(const struct service *service, char **out,
                                         struct err *err);

/* Variables, connections and secrets of all places; without a store those outside. Heap. */
NODISCARD enum status service_vault(struct service *service, struct vault **out, struct err *err);

/* Whoever asks is on this machine: its files are that one's as well. */
bool service_is_local(const struct service *service);

int64_t service_now_us(const struct service *service);
void service_wake(struct service *service);
bool service_host_is_alive(const struct service *service, int64_t host);
/* The same by its lease, where it has one. */
bool service_host_lives(const struct service *service, const struct host_info *host);
bool service_run_is_held(const struct service *service, int64_t run);
