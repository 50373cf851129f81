#pragma once
/*
 * daemon_priv: the parts of the daemon.
 *
 *   daemon        from start to end, and what it hears meanwhile
 *   daemon_await  waiting for a store that is away
 *   daemon_host   which host it is
 *   daemon_stop   how it ends
 */
#include "app/api.h"
#include "app/daemon.h"
#include "app/measuring.h"
#include "app/session.h"
#include "notify/sender.h"
#include "sched/scheduler.h"
#include "worker/housekeeping.h"
#include "worker/pulse.h"
#include "worker/task_api.h"

enum daemon_phase {
    DAEMON_WORKING,
    DAEMON_DRAINING,  /* waits for what runs */
    DAEMON_RETURNING, /* gives it back */
};

struct daemon {
    struct session session;
    const struct settings *settings;
    struct file_lock lock;
    struct pulse *pulse;
    struct log_ship *log_ship;         /* NULL: logs stay here */
    struct housekeeping *housekeeping; /* NULL: none is needed */
    struct scheduler *scheduler;       /* NULL: not its role */
    struct dag_watch *dag_watch;
    struct sender *sender;    /* the same */
    struct api *api;          /* NULL: none is wanted */
    struct task_api task_api; /* what tasks are told of one; without a URL: nothing */
    struct measuring measuring;
    struct lease_times lease;
    char *queues;
    char *roles;
    char *journal_path; /* NULL: none */
    char *dead_log_path;
    char *scratch_dir; /* nobody else's */
    struct loop_signal *signals[3];
    struct loop_file *wake;
    struct loop_timer *drain;
    struct loop_timer *reconcile;
    struct loop_timer *health;
    enum daemon_phase phase;
    bool is_up;             /* and has said so */
    bool is_drained;        /* on somebody's request */
    bool is_loaded;         /* the machine is too busy for more */
    bool was_swept;         /* until it is a new host */
    bool has_neighbours;    /* others use the store in a file */
    int64_t heard_since_us; /* since when beats came regularly */
    int64_t beat_us;        /* when the store was asked last and answered, by the steady clock */
    struct err failure;
};

bool daemon_is_embedded(const struct daemon *daemon);
/* Claim or not, as its roles and others say. */
void daemon_open_or_close(struct daemon *daemon);
/* End with this failure; what runs goes on, for the daemon that comes after this one. */
void daemon_fail(struct daemon *daemon, const struct err *err);

/* --- daemon_await ---------------------------------------------------------------------------- */

/*
 * Return when the store answers: hosts and their database start in any order. What does not mend
 * itself, such as a wrong password, is a failure. *out_stopped: somebody asked to stop meanwhile.
 */
NODISCARD enum status daemon_await_store(const struct session_options *options, bool *out_stopped,
                                         struct err *err);

/* --- daemon_host ----------------------------------------------------------------------------- */

/* Be the host that this home had before, or a new one. */
NODISCARD enum status daemon_host_begin(struct daemon *daemon, struct err *err);
/* Say whose tasks may still run here, under a keeper of their own: they are left alone. */
void daemon_host_tell_of_others(const struct daemon *daemon);
/* A sweep has taken the host: everything is killed; a new one follows when it is dead. */
void daemon_host_lost(struct daemon *daemon);
/* To be called whenever something ended. */
void daemon_host_renew_if_lost(struct daemon *daemon);

/* --- daemon_stop ----------------------------------------------------------------------------- */

/* TERM or INT. */
void daemon_stop_asked(struct daemon *daemon);
/* For the timer: the time for running tasks is over. */
void daemon_stop_grace_over(void *context);
/* To be called whenever something ended. */
void daemon_stop_if_done(struct daemon *daemon);
