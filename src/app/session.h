#pragma once
/*
 * session: one executor with everything it needs, from the loop to the lock that says that this
 * process lives. Built in order, torn down in reverse.
 */
#include "app/config.h"
#include "app/home.h"
#include "blob/blob.h"
#include "os/loop.h"
#include "store/spare.h"
#include "worker/executor.h"
#include "worker/lease.h"
#include "worker/presence.h"
#include "worker/pulse.h"

/* A DAG lent to the store of the store's thread. */
struct session_loan {
    struct store_call call;
    int64_t version;
    const struct dag *dag;
};

struct session {
    const struct config *config;
    const struct home *home;
    enum executor_mode mode;
    char *labels;     /* of this host, as in word_set.h */
    bool is_onlooker; /* runs nothing itself: no keeper, no executor, no thread, no host */
    struct loop *loop;
    struct executor *executor;
    struct keeper *keeper;
    struct store *store; /* of the loop's thread */
    struct spare *spare; /* of all others that need a store now and then */
    struct store_info store_info;
    struct home_place place; /* of that store */
    struct blob *blob;
    struct vault *vault; /* of the loop's thread */
    struct store_thread *store_thread;
    int64_t host;
    struct presence presence;
    struct session_loan loan;
    bool leaves_all; /* of a daemon: what runs goes on, for the next one, which is this host */
    /* In the foreground: */
    struct executor_events events;
    void (*heard)(void *context);
    struct lease_times lease;  /* of this process; of 0 ms on an embedded store */
    int64_t registered_us;     /* by the steady clock */
    struct pulse *pulse;       /* NULL on an embedded store */
    struct log_ship *log_ship; /* the same */
};

struct session_options {
    const struct config *config;
    const struct home *home;
    const char *vault_url; /* the store of variables and secrets; NULL: that of the home */
    const char *exe;
    enum executor_mode mode;
    struct executor_events events;
    /* In the foreground: something may have happened to the run elsewhere; NULL: never mind. */
    void (*heard)(void *context);
};

/* The store is a file: everybody who uses it is on this machine. */
bool session_is_embedded(const struct session *session);

/*
 * Everything but claiming: the keeper runs, the store is open. In the foreground this process is
 * registered too; a daemon decides itself which host it is.
 */
NODISCARD enum status session_open(struct session *session, const struct session_options *options,
                                   struct err *err);
/* Only what is needed to make a run for daemons and to watch it. */
NODISCARD enum status session_open_onlooker(struct session *session,
                                            const struct session_options *options, struct err *err);
/* Spare the stores reading a DAG that is at hand, once; it must outlive the session. */
void session_lend(struct session *session, int64_t version, const struct dag *dag);
/* Claim the work of a scope; then loop_run. */
void session_begin(struct session *session, int64_t scope);
/* What that begins with, for those who want more. */
struct executor_options session_executor_options(const struct session *session);
struct store_options session_store_options(const struct session *session);
void session_close(struct session *session); /* half-built is fine */
