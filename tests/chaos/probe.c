/*
 * probe: a task that leaves evidence outside the product.
 *
 *   probe FOLDER [ms=N] [lines=N] [code=N] [fail=N] [child=MS]
 *
 * Appends one JSON list per line, each synced, to FOLDER/HOST.jsonl (HOST: last part of $HOME):
 * at the start, while it works, at the end. Works for `ms`, prints `lines` numbered lines
 * "L CLAIM NUMBER", and exits with `code`; with `fail=N` the first N attempts exit with 1. With
 * `child` it leaves a process behind that keeps its output open for so long.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { STEP_MS = 200, CLAIM_TAG = 8, BROKEN = 120 };

struct plan {
    long ms;
    long lines;
    long code;
    long fail;
    long child;
};

static const char *setting(const char *name)
{
    const char *value = getenv(name);
    return value != NULL ? value : "";
}

static long long microseconds(clockid_t clock)
{
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* The order of the fields is that of class Probe in history.py. */
static void tell(int evidence, const char *operation, long printed, long code)
{
    const char *home = strrchr(setting("HOME"), '/');
    char line[1024];
    int length = snprintf(
        line, sizeof line, "[\"%s\",\"%s\",%ld,%d,\"%s\",%lld,%lld,\"%s\",%ld,%ld,%ld,\"%s\"]\n",
        operation, setting("EIDER_CLAIM"), strtol(setting("EIDER_TRY_NUMBER"), NULL, 10),
        (int)getpid(), home != NULL ? home + 1 : "", microseconds(CLOCK_REALTIME),
        microseconds(CLOCK_BOOTTIME), setting("EIDER_TASK_ID"),
        strtol(setting("EIDER_MAP_INDEX"), NULL, 10), printed, code, setting("EIDER_JOB_ID"));
    if (length >= (int)sizeof line || write(evidence, line, (size_t)length) != length ||
        fdatasync(evidence) != 0)
        _exit(BROKEN);
}

static struct plan read_plan(int count, char **texts)
{
    struct plan plan = {.ms = 300, .lines = 5};
    const struct {
        const char *name;
        long *value;
    } fields[] = {{"ms=", &plan.ms},
                  {"lines=", &plan.lines},
                  {"code=", &plan.code},
                  {"fail=", &plan.fail},
                  {"child=", &plan.child}};
    for (int i = 0; i < count; i++)
        for (size_t j = 0; j < sizeof fields / sizeof fields[0]; j++)
            if (strncmp(texts[i], fields[j].name, strlen(fields[j].name)) == 0)
                *fields[j].value = strtol(texts[i] + strlen(fields[j].name), NULL, 10);
    return plan;
}

static void wait_ms(long ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep(&left, &left) != 0)
        continue;
}

static int open_evidence(const char *folder)
{
    const char *home = strrchr(setting("HOME"), '/');
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s.jsonl", folder, home != NULL ? home + 1 : "none");
    return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

static void leave_child(long ms)
{
    if (ms == 0 || fork() != 0)
        return;
    wait_ms(ms);
    _exit(0);
}

int main(int argc, char **argv)
{
    int evidence = argc > 1 ? open_evidence(argv[1]) : -1;
    if (evidence < 0)
        return BROKEN;
    (void)signal(SIGPIPE, SIG_IGN);
    struct plan plan = read_plan(argc - 2, argv + 2);
    long long until = microseconds(CLOCK_BOOTTIME) + plan.ms * 1000;
    long printed = 0;
    tell(evidence, "start", 0, 0);
    leave_child(plan.child);
    for (;;) {
        long long left_ms = (until - microseconds(CLOCK_BOOTTIME)) / 1000;
        long due = left_ms <= 0 || plan.ms == 0
                       ? plan.lines
                       : (long)(plan.lines * (plan.ms - left_ms) / plan.ms);
        while (printed < due)
            (void)dprintf(STDOUT_FILENO, "L %.*s %ld\n", CLAIM_TAG, setting("EIDER_CLAIM"),
                          ++printed);
        if (left_ms <= 0)
            break;
        wait_ms(left_ms < STEP_MS ? left_ms : STEP_MS);
        tell(evidence, "tick", printed, 0);
    }
    long attempt = strtol(setting("EIDER_TRY_NUMBER"), NULL, 10);
    long code = attempt <= plan.fail ? 1 : plan.code;
    tell(evidence, "end", printed, code);
    return (int)code;
}
