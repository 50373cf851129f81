#include "os/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/mem.h"
#include "os/file.h"

enum { PROC_BYTES_MAX = 16 << 10 };

static int64_t memory_line(const char *meminfo, const char *name)
{
    const char *line = strstr(meminfo, name);
    return line != NULL ? strtoll(line + strlen(name), NULL, 10) : 0;
}

struct machine_load machine_load_read(const char *loadavg, const char *meminfo, int64_t cores)
{
    struct machine_load load = {0};
    int64_t total = memory_line(meminfo, "MemTotal:");
    int64_t available = memory_line(meminfo, "MemAvailable:");
    if (cores > 0)
        load.cpu_percent = (int64_t)(strtod(loadavg, NULL) * 100 / (double)cores);
    if (total > 0 && available >= 0 && available <= total) {
        load.memory_percent = 100 - available * 100 / total;
        load.memory_bytes = (total - available) * 1024;
    }
    return load;
}

static char *read_proc(const char *path)
{
    char *text = NULL;
    size_t length = 0;
    struct err ignored = {0};
    return file_read(path, PROC_BYTES_MAX, &text, &length, &ignored) == STATUS_OK ? text
                                                                                  : mem_strdup("");
}

struct machine_load machine_load_now(void)
{
    CLEANUP(mem_freep) char *loadavg = read_proc("/proc/loadavg");
    CLEANUP(mem_freep) char *meminfo = read_proc("/proc/meminfo");
    return machine_load_read(loadavg, meminfo, sysconf(_SC_NPROCESSORS_ONLN));
}
