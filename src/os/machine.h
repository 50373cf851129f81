#pragma once
/*
 * machine: how busy this machine is, as its kernel tells.
 */
#include <stdint.h>

struct machine_load {
    int64_t cpu_percent;    /* of the last minute: 100 is as much to do as there are cores */
    int64_t memory_percent; /* in use and not to be had back at once */
    int64_t memory_bytes;   /* the same */
};

/* What cannot be found out is 0. */
struct machine_load machine_load_now(void);

/* The same from the texts of /proc/loadavg and /proc/meminfo. */
struct machine_load machine_load_read(const char *loadavg, const char *meminfo, int64_t cores);
