#include "os/process_usage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/file.h"

enum { STAT_BYTES_MAX = 4096 };

enum status process_usage_read(pid_t pid, struct process_usage *out, struct err *err)
{
    char path[64];
    char *text = NULL;
    size_t length = 0;
    uint64_t user = 0;
    uint64_t system = 0;
    int64_t pages = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (file_read(path, STAT_BYTES_MAX, &text, &length, err) != STATUS_OK)
        return err->code;
    /* The name of the program may hold anything; what follows its last bracket is numbers. */
    const char *numbers = strrchr(text, ')');
    bool is_read =
        numbers != NULL && sscanf(numbers,
                                  ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64
                                  " %" SCNu64 " %*d %*d %*d %*d %*d %*d %*u %*u %" SCNd64,
                                  &user, &system, &pages) == 3;
    free(text);
    if (!is_read)
        return err_set(err, STATUS_INVALID, "'%s' is not as expected", path);
    *out = (struct process_usage){
        .cpu_ms = (int64_t)((user + system) * 1000 / (uint64_t)sysconf(_SC_CLK_TCK)),
        .rss_bytes = pages * sysconf(_SC_PAGESIZE),
    };
    return STATUS_OK;
}
