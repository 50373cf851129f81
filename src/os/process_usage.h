#pragma once
/*
 * process_usage: what a process has used so far, as the kernel tells.
 */
#include <stdint.h>
#include <sys/types.h>

#include "base/attrs.h"
#include "base/err.h"

struct process_usage {
    int64_t cpu_ms;    /* of all its threads, without its children */
    int64_t rss_bytes; /* in memory now */
};

/* STATUS_NOT_FOUND: there is no such process. */
NODISCARD enum status process_usage_read(pid_t pid, struct process_usage *out, struct err *err);
