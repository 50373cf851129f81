#include "app/prove_host.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "os/file.h"
#include "os/file_tree.h"
#include "os/proc_tree.h"

enum { LOG_BYTES_MAX = 4 << 20, SETTLE_MS = 10000, LAST_BYTES_MAX = 300 };

enum status prove_host_init(struct prove_host *host, const struct prove_world *world,
                            const char *folder, const char *label, int number, struct err *err)
{
    *host = (struct prove_host){
        .world = world,
        .home = mem_format("%s/host-%d", folder, number),
        .log_path = mem_format("%s/host-%d.log", folder, number),
        .label = mem_strdup(label),
        .name = mem_format("%s-%d", label, number),
        .process = {.pidfd = -1},
    };
    CLEANUP(mem_freep) char *dags = file_path_join(host->home, "dags");
    return file_tree_make(dags, 0700, err);
}

/* --- starting -------------------------------------------------------------------------------- */

struct env_list {
    struct arena *arena;
    const char **items;
    size_t count;
};

static bool is_setting(const char *entry)
{
    for (enum setting_key key = 0; key < SETTING_COUNT; key++) {
        size_t length = strlen(SETTINGS[key].environment);
        if (strncmp(entry, SETTINGS[key].environment, length) == 0 && entry[length] == '=')
            return true;
    }
    return false;
}

static void add(struct env_list *list, enum setting_key key, const char *value)
{
    list->items[list->count++] =
        arena_format(list->arena, "%s=%s", SETTINGS[key].environment, value);
}

/* Ours without settings, then the settings that matter; times are short, since people wait. */
static const char *const *environment_of(const struct prove_host *host, struct arena *arena)
{
    const struct {
        enum setting_key key;
        const char *value;
    } own[] = {
        {SETTING_HOME, host->home},
        {SETTING_STORE, host->world->home->store_url},
        {SETTING_DAGS, arena_format(arena, "%s/dags", host->home)},
        {SETTING_SLOTS, arena_format(arena, "%lld", (long long)host->slots)},
        {SETTING_CLAIM_RATIO, "100"},
        {SETTING_HOST_NAME, host->name},
        {SETTING_LABELS, host->label},
        {SETTING_QUEUES, host->label},
        {SETTING_ROLES, "worker"},
        {SETTING_LEASE, "3s"},
        {SETTING_RENEW, "500ms"},
        {SETTING_MARGIN, "1s"},
        {SETTING_SWEEP, "300ms"},
        {SETTING_POLL, "200ms"},
        {SETTING_DRAIN_GRACE, "1s"},
        {SETTING_LOG_LEVEL, "info"},
    };
    size_t count = 0;
    while (environ[count] != NULL)
        count++;
    struct env_list list = {.arena = arena};
    list.items = arena_array(arena, count + ARRAY_LEN(own) + 1, sizeof *list.items);
    for (size_t i = 0; i < count; i++)
        if (!is_setting(environ[i]))
            list.items[list.count++] = environ[i];
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        add(&list, own[i].key, own[i].value);
    list.items[list.count] = NULL;
    return list.items;
}

enum status prove_host_start(struct prove_host *host, int64_t slots, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(file_closep)
    int log = open(host->log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log < 0)
        return err_set(err, STATUS_IO, "open '%s'", host->log_path);
    host->slots = slots;
    const char *const argv[] = {host->world->exe, "up", NULL};
    struct process_request request = {
        .argv = argv,
        .env = environment_of(host, arena),
        .workdir = host->home,
        .fds = {0, log, log},
    };
    if (process_spawn(&request, &host->process, err) != STATUS_OK) {
        host->process.pidfd = -1;
        return err_wrap(err, "start a host");
    }
    host->starts++;
    return STATUS_OK;
}

static char *read_log(const struct prove_host *host)
{
    struct err err = {0};
    char *text = NULL;
    size_t length = 0;
    if (file_read(host->log_path, LOG_BYTES_MAX, &text, &length, &err) != STATUS_OK)
        return mem_strdup("");
    return text;
}

static int64_t times_said(const struct prove_host *host, const char *words)
{
    CLEANUP(mem_freep) char *text = read_log(host);
    int64_t count = 0;
    for (const char *at = strstr(text, words); at != NULL; at = strstr(at + 1, words))
        count++;
    return count;
}

bool prove_host_is_up(const struct prove_host *host)
{
    return times_said(host, " is up\n") >= host->starts;
}

bool prove_host_is_new(const struct prove_host *host)
{
    return times_said(host, "this is a new host now") > 0;
}

bool prove_host_has_ended(struct prove_host *host, char **out_last)
{
    struct process_end end;
    if (host->process.pidfd < 0 || !process_reap(host->process.pidfd, &end))
        return false;
    file_closep(&host->process.pidfd);
    CLEANUP(mem_freep) char *text = read_log(host);
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == '\n')
        text[--length] = '\0';
    const char *line = strrchr(text, '\n');
    line = line != NULL ? line + 1 : text;
    *out_last = mem_strndup(line, MIN(strlen(line), (size_t)LAST_BYTES_MAX));
    return true;
}

/* --- ending ---------------------------------------------------------------------------------- */

static void reap(struct prove_host *host)
{
    struct process_end end;
    if (host->process.pidfd < 0)
        return;
    process_signal(host->process.pidfd, SIGKILL);
    CHECK(process_wait(host->process.pidfd, -1, &end));
    file_closep(&host->process.pidfd);
}

/* Its keeper was started with its environment; tasks were not. */
static void signal_keepers(const struct prove_host *host, int signo)
{
    struct proc_list list = {0};
    proc_tree_find_env(SETTINGS[SETTING_HOME].environment, host->home, &list);
    for (size_t i = 0; i < list.count; i++) {
        struct proc_info info;
        char again[1024];
        bool is_daemon = host->process.pidfd >= 0 && list.pids[i] == host->process.pid;
        if (!is_daemon && proc_tree_read(list.pids[i], &info) &&
            proc_tree_env(list.pids[i], SETTINGS[SETTING_HOME].environment, again, sizeof again) &&
            str_equal(again, host->home))
            (void)proc_tree_signal(info.pid, info.start_ticks, signo);
    }
    proc_list_fini(&list);
}

void prove_host_kill(struct prove_host *host)
{
    reap(host);
}

void prove_host_kill_all(struct prove_host *host)
{
    /* Stopped first: it must not see its keeper die and tell the store. */
    if (host->process.pidfd >= 0)
        process_signal(host->process.pidfd, SIGSTOP);
    signal_keepers(host, SIGKILL);
    reap(host);
}

void prove_host_freeze(struct prove_host *host)
{
    process_signal(host->process.pidfd, SIGSTOP);
    signal_keepers(host, SIGSTOP);
}

void prove_host_thaw_keepers(struct prove_host *host)
{
    signal_keepers(host, SIGCONT);
}

void prove_host_thaw_daemon(struct prove_host *host)
{
    process_signal(host->process.pidfd, SIGCONT);
}

void prove_host_stop(struct prove_host *host)
{
    struct process_end end;
    if (host->process.pidfd < 0)
        return;
    process_signal(host->process.pidfd, SIGTERM);
    if (process_wait(host->process.pidfd, SETTLE_MS, &end))
        file_closep(&host->process.pidfd);
    reap(host);
}

void prove_host_fini(struct prove_host *host)
{
    if (host->home == NULL)
        return;
    reap(host);
    signal_keepers(host, SIGKILL);
    free(host->home);
    free(host->log_path);
    free(host->label);
    free(host->name);
    *host = (struct prove_host){.process = {.pidfd = -1}};
}
