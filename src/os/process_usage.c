#include "os/process_usage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/file.h"

enum {
    STAT_BYTES_MAX = 4096,
    /* Fields after the name, from 0; see proc(5). */
    FIELD_USER = 11,
    FIELD_SYSTEM = 12,
    FIELD_PAGES = 21,
    FIELDS = 22,
};

/* The name of the program may hold anything; what follows its last bracket is a state, numbers. */
static bool read_fields(const char *text, int64_t out[static FIELDS])
{
    const char *rest = strrchr(text, ')');
    if (rest == NULL || strlen(rest) < 3)
        return false;
    rest += 3;
    out[0] = 0;
    for (size_t i = 1; i < FIELDS; i++) {
        char *end = NULL;
        out[i] = strtoll(rest, &end, 10);
        if (end == rest)
            return false;
        rest = end;
    }
    return true;
}

enum status process_usage_read(pid_t pid, struct process_usage *out, struct err *err)
{
    char path[64];
    char *text = NULL;
    size_t length = 0;
    int64_t fields[FIELDS];
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (file_read(path, STAT_BYTES_MAX, &text, &length, err) != STATUS_OK)
        return err->code;
    bool is_read = read_fields(text, fields);
    free(text);
    if (!is_read)
        return err_set(err, STATUS_INVALID, "'%s' is not as expected", path);
    *out = (struct process_usage){
        .cpu_ms = (fields[FIELD_USER] + fields[FIELD_SYSTEM]) * 1000 / sysconf(_SC_CLK_TCK),
        .rss_bytes = fields[FIELD_PAGES] * sysconf(_SC_PAGESIZE),
    };
    return STATUS_OK;
}
