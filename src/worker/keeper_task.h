#pragma once
/*
 * keeper_task: what the keeper is asked to run and what it tells about the end.
 *
 * Plain data, shared by both sides of the socket.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "blob/blob.h"
#include "blob/log_writer.h"

/* Marks every process of a claim, so that those that left the tree are still found. */
#define KEEPER_CLAIM_VARIABLE "EIDER_CLAIM"

enum { KEEPER_NONCE_MAX = 64, KEEPER_TEXT_MAX = 512, KEEPER_CONTEXT_MAX = 64 << 10 };

struct keeper_limits { /* 0: none */
    int64_t cpu_s;
    int64_t memory_bytes;
    int64_t processes;
};

struct keeper_task {
    int64_t id;
    const char *nonce;       /* hex, unique to the attempt; becomes EIDER_CLAIM */
    const char *const *argv; /* NULL at the end */
    const char *const *env;  /* NULL at the end; with EIDER_CLAIM this is all the task gets */
    const char *workdir;     /* NULL: the keeper's */
    const char *user;        /* NULL: the keeper's */
    struct keeper_limits limits;
    int64_t timeout_ms;   /* 0: none */
    int64_t grace_ms;     /* from TERM to KILL */
    int64_t output_bytes; /* cap of the log */
    const char *blob_root;
    struct blob_key log_key;
    const char *outputs_dir;    /* NULL: none; made 0700 for the user before the start */
    bool keep_outputs_dir;      /* it may be there, empty, and stays when it is empty at the end */
    const char *script;         /* NULL: none; written 0700 for the user before the start and ... */
    const char *script_path;    /* ... removed at the end; argv names it */
    bool protocol;              /* descriptors 3 and 4, see docs/process-protocol.md */
    const char *request;        /* with `protocol`: the JSON on descriptor 3 */
    const char *context;        /* NULL: none; the daemon's, kept for the next one */
    const char *const *secrets; /* NULL at the end; values hidden in the log. NULL: none */
    bool survives_deadline;     /* the lease deadline does not end it */
};

/* A task that the keeper has from an earlier daemon: it runs, or its end was not acknowledged. */
struct keeper_held {
    int64_t id;
    pid_t pid; /* 0: it could not be started */
    int64_t started_at_us;
    const char *context; /* as it was spawned */
};

enum keeper_exit_kind {
    KEEPER_EXITED,       /* by itself, with `code` */
    KEEPER_SIGNALLED,    /* by a signal that we did not send */
    KEEPER_EXEC_ERROR,   /* never ran: `text` says why, trying again will not help by itself */
    KEEPER_NO_RESOURCES, /* never ran, the machine is short of something: hand it back */
    KEEPER_TIMEOUT,      /* ended by us after timeout_ms */
    KEEPER_STOPPED,      /* ended by us on request */
    KEEPER_LOST,         /* ended by us since the lease deadline passed */
    KEEPER_EXIT_KIND_COUNT
};

struct keeper_exit {
    enum keeper_exit_kind kind;
    int code;   /* when the process exited, whatever the kind */
    int signal; /* when a signal ended it; 0 otherwise */
    char text[KEEPER_TEXT_MAX];
    int64_t wall_us;
    int64_t user_us;
    int64_t system_us;
    int64_t rss_kb;
    struct log_result log;
    bool outputs_left; /* outputs_dir holds something; an empty one is removed already */
};

const char *keeper_exit_kind_name(enum keeper_exit_kind kind);
