#pragma once
/*
 * process: starting, signalling and reaping children.
 *
 * A child gets its own process group, default signals, exactly the descriptors and the
 * environment of the request, and nothing else. Starting is as quick from a large
 * parent as from a small one. Whatever fails on the way to its program is reported by
 * process_spawn itself, with the step and the reason, and leaves no child behind.
 *
 * Threads  Any thread may spawn. With `die_with_parent` the child dies with that thread.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attrs.h"
#include "base/err.h"

enum { PROCESS_FDS = 5 };

struct process_limit {
    int resource; /* RLIMIT_... */
    uint64_t soft;
    uint64_t hard;
};

struct process_user {
    uid_t uid;
    gid_t gid;
    gid_t *groups; /* heap */
    size_t group_count;
};

struct process_request {
    const char *const *argv; /* NULL at the end; without a slash the first is looked up in PATH */
    const char *const *env;  /* the whole environment, NULL at the end; its PATH counts */
    const char *workdir;     /* NULL: as ours */
    /* What becomes descriptor 0 to 4. Zero means /dev/null for 0 to 2 and closed for 3 and 4. */
    int fds[PROCESS_FDS];
    const struct process_user *user; /* NULL: as ours */
    const struct process_limit *limits;
    size_t limit_count;
    uint64_t ignored; /* signals that we ignore, see process_ignored_signals; 0: not known */
    bool umask_set;
    mode_t umask;
    bool die_with_parent;
};

struct process {
    pid_t pid;
    int pidfd; /* close-on-exec; readable when the process has ended */
};

/*
 * Start a child; on STATUS_OK its program runs.
 *
 *   STATUS_BUSY  there are too many processes or too little memory at the moment.
 *
 * Texts: "exec '/usr/bin/nope': No such file or directory", "enter working directory '/x': ...".
 */
NODISCARD enum status process_spawn(const struct process_request *request, struct process *out,
                                    struct err *err);

/* A user of the system with all groups. STATUS_NOT_FOUND: there is none of that name. */
NODISCARD enum status process_user_find(const char *name, struct process_user *out,
                                        struct err *err);
void process_user_fini(struct process_user *user);

struct process_end {
    bool signalled;
    int code;   /* exit code, when not signalled */
    int signal; /* when signalled */
    int64_t user_us;
    int64_t system_us;
    int64_t rss_kb; /* most memory at once */
};

/* Reap the process if it has ended: true and *out once, false while it runs. */
NODISCARD bool process_reap(int pidfd, struct process_end *out);
/* Wait at most `timeout_ms` for its end (negative: as long as it takes), then reap it. */
NODISCARD bool process_wait(int pidfd, int64_t timeout_ms, struct process_end *out);

/* Wait at most `timeout_ms` for the end of any process, a child or not; it is not reaped. */
NODISCARD bool process_wait_gone(int pidfd, int64_t timeout_ms);

/* Bit n - 1 is set when we ignore signal n, which a child would inherit; never 0. */
uint64_t process_ignored_signals(void);

/*
 * Go on in a session of our own, as nobody's child: whoever started us sees us end with 0. Before
 * any thread is started.
 */
NODISCARD enum status process_detach(struct err *err);

/* Adopt descendants whose parents end, under the name `name`, deaf to the terminal's signals. */
NODISCARD enum status process_become_keeper(const char *name, struct err *err);

/* Raise the soft limit of open files to the hard one; *out is the limit as it was. */
void process_raise_files(struct process_limit *out);

/* A descriptor for a running child that was not started by process_spawn. */
NODISCARD enum status process_open(pid_t pid, int *out_pidfd, struct err *err);
/* Reap a child by its number if it has ended. */
void process_reap_pid(pid_t pid);

/* Signal exactly this process; one that has ended is fine. */
void process_signal(int pidfd, int signo);
/* Signal the group led by a child that is not reaped yet, so that its number is still its own. */
void process_signal_group(pid_t leader, int signo);
