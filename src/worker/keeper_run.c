#include "worker/keeper_run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/sabotage.h"
#include "base/str.h"
#include "model/limits.h"
#include "model/task_token.h"
#include "os/file.h"
#include "os/file_tree.h"
#include "os/poller.h"
#include "os/privacy.h"
#include "os/secret_box.h"
#include "os/seqpacket.h"
#include "worker/keeper_hide.h"

/* A value as JSON text can be somewhat longer than the value. */
enum { LINE_BYTES_MAX = LIMIT_VALUE_BYTES + (64 << 10) };
/* What a writer that has ended can have left in a pipe, whatever size it chose. */
enum { DRAIN_BYTES_MAX = 1 << 20 };
/* So long without output, what may begin a secret is held back. */
enum { IDLE_US = 100 * 1000 };

/* --- shared by all runs -------------------------------------------------- */

static void root_free(struct keeper_root *root)
{
    blob_close(root->blob);
    free(root->path);
    free(root);
}

static struct keeper_root *root_take(struct keeper_room *room, const char *path, struct err *err)
{
    for (struct keeper_root *root = room->roots; root != NULL; root = root->next)
        if (strcmp(root->path, path) == 0) {
            root->users++;
            return root;
        }
    struct blob *blob = NULL;
    if (blob_open_directory(path, &blob, err) != STATUS_OK)
        return NULL;
    for (struct keeper_root **at = &room->roots; *at != NULL;) {
        struct keeper_root *root = *at;
        if (root->users > 0) {
            at = &root->next;
            continue;
        }
        *at = root->next;
        root_free(root);
    }
    struct keeper_root *root = mem_zalloc(1, sizeof *root);
    *root = (struct keeper_root){
        .path = mem_strdup(path), .blob = blob, .users = 1, .next = room->roots};
    room->roots = root;
    return root;
}

void keeper_room_fini(struct keeper_room *room)
{
    while (room->roots != NULL) {
        struct keeper_root *next = room->roots->next;
        root_free(room->roots);
        room->roots = next;
    }
    keeper_book_fini(&room->book);
    free(room->buffer);
    file_closep(&room->poller);
}

/* --- start --------------------------------------------------------------- */

/* What only lives during a start. */
struct start {
    const struct keeper_task *task;
    struct process_user user;
    bool has_user;
    int output[2];
    int report[2];
    int request;
};

static void start_fini(struct start *start)
{
    process_user_fini(&start->user);
    for (int i = 0; i < 2; i++) {
        file_closep(&start->output[i]);
        file_closep(&start->report[i]);
    }
    file_closep(&start->request);
}

static enum status make_pipe(int out[2], struct err *err)
{
    if (pipe2(out, O_CLOEXEC) != 0)
        return err_set(err, STATUS_BUSY, "make pipe: %s", strerror(errno));
    /* Only our end: the task would be surprised by writes that do not wait. */
    (void)fcntl(out[0], F_SETFL, O_NONBLOCK);
    return STATUS_OK;
}

static enum status give_to_user(const struct start *start, const char *path, struct err *err)
{
    if (start->has_user && lchown(path, start->user.uid, start->user.gid) != 0)
        return err_errno(err, errno, "give '%s' to user '%s'", path, start->task->user);
    return STATUS_OK;
}

static enum status write_script(const struct start *start, struct err *err)
{
    const struct keeper_task *task = start->task;
    CLEANUP(file_closep)
    int fd = open(task->script_path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0700);
    if (fd < 0)
        return err_errno(err, errno, "write script '%s'", task->script_path);
    if (file_write_fd(fd, task->script_path, task->script, strlen(task->script), err) != STATUS_OK)
        return err->code;
    return give_to_user(start, task->script_path, err);
}

/* Ours, a folder and nothing in it; making and removing one costs much more than a look. */
static bool is_empty_folder(const char *path)
{
    struct stat status;
    CLEANUP(file_closep)
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0 || status.st_uid != geteuid())
        return false;
    _Alignas(struct dirent64) char entries[1024];
    long length = syscall(SYS_getdents64, fd, entries, sizeof entries);
    for (long at = 0; at < length;) {
        const struct dirent64 *entry = (const struct dirent64 *)(entries + at);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            return false;
        at += entry->d_reclen;
    }
    return length >= 0;
}

static enum status make_outputs(const struct start *start, struct err *err)
{
    const char *path = start->task->outputs_dir;
    if (mkdir(path, 0700) != 0) {
        if (errno == EEXIST && start->task->keep_outputs_dir && is_empty_folder(path))
            return STATUS_OK;
        if (errno != ENOENT)
            return err_errno(err, errno, "make directory '%s'", path);
        if (file_tree_make(path, 0700, err) != STATUS_OK)
            return err->code;
    }
    return give_to_user(start, path, err);
}

static bool has_secrets(const struct keeper_task *task)
{
    return task->secrets != NULL && task->secrets[0] != NULL;
}

/* What stands in the environment of its processes, whoever may look at us may read there. */
static bool has_only_token(const struct keeper_task *task)
{
    static const char TOKEN[] = "EIDER_TOKEN=" TASK_TOKEN_PREFIX;
    if (task->secrets[1] != NULL)
        return false;
    for (const char *const *entry = task->env; *entry != NULL; entry++)
        if (str_starts_with(*entry, TOKEN) && strstr(*entry, task->secrets[0]) != NULL)
            return true;
    return false;
}

static enum status prepare(struct start *start, struct err *err)
{
    const struct keeper_task *task = start->task;
    if (task->user != NULL) {
        if (process_user_find(task->user, &start->user, err) != STATUS_OK)
            return err->code;
        /* Becoming oneself needs no rights, and without rights the attempt would fail. */
        start->has_user = start->user.uid != geteuid() || geteuid() == 0;
    }
    if (make_pipe(start->output, err) != STATUS_OK)
        return err->code;
    if (has_secrets(task)) {
        if (!has_only_token(task))
            privacy_begin();
        if (mask_check(task->secrets, err) != STATUS_OK)
            return err->code;
    }
    if (task->protocol) {
        const char *request = task->request == NULL ? "{}" : task->request;
        if (make_pipe(start->report, err) != STATUS_OK ||
            seqpacket_sealed_file(request, strlen(request), &start->request, err) != STATUS_OK)
            return err->code;
    }
    if (task->outputs_dir != NULL && make_outputs(start, err) != STATUS_OK)
        return err->code;
    if (task->script != NULL && write_script(start, err) != STATUS_OK)
        return err->code;
    return STATUS_OK;
}

static size_t collect_limits(const struct keeper_room *room, const struct keeper_limits *limits,
                             struct process_limit out[static 4])
{
    const struct {
        int resource;
        int64_t value;
    } wanted[] = {
        {RLIMIT_CPU, limits->cpu_s},
        {RLIMIT_AS, limits->memory_bytes},
        {RLIMIT_NPROC, limits->processes},
    };
    size_t count = 0;
    out[count++] = room->files;
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
        if (wanted[i].value > 0)
            out[count++] = (struct process_limit){wanted[i].resource, (uint64_t)wanted[i].value,
                                                  (uint64_t)wanted[i].value};
    return count;
}

static enum status spawn(const struct keeper_room *room, const struct start *start,
                         struct process *out, struct err *err)
{
    const struct keeper_task *task = start->task;
    struct process_limit limits[4];
    struct process_request request = {
        .argv = task->argv,
        .env = task->env,
        .workdir = task->workdir,
        .fds = {0, start->output[1], start->output[1], MAX(start->request, 0),
                MAX(start->report[1], 0)},
        .user = start->has_user ? &start->user : NULL,
        .limits = limits,
        .limit_count = collect_limits(room, &task->limits, limits),
        .die_with_parent = true,
        .ignored = room->ignored_signals,
    };
    return process_spawn(&request, out, err);
}

/* Put away what was made for a task that will not run, or has run. */
static bool clear_files(const char *script_path, const char *outputs_dir, bool keep_outputs_dir)
{
    if (script_path != NULL)
        (void)unlink(script_path);
    if (outputs_dir != NULL && keep_outputs_dir && is_empty_folder(outputs_dir))
        return false;
    return outputs_dir != NULL && rmdir(outputs_dir) != 0 && errno != ENOENT;
}

static void report_failure(struct keeper_room *room, const struct start *start,
                           struct keeper_hold *hold, const struct err *err)
{
    const struct keeper_task *task = start->task;
    struct keeper_exit exit = {
        .kind = err->code == STATUS_BUSY ? KEEPER_NO_RESOURCES : KEEPER_EXEC_ERROR,
    };
    (void)snprintf(exit.text, sizeof exit.text, "%s", err->text);
    struct err too_many = {0};
    CLEANUP(mask_freep) struct mask *mask = NULL;
    if (has_secrets(task) && mask_new(task->secrets, &mask, &too_many) == STATUS_OK)
        keeper_hide_in_place(mask, exit.text, sizeof exit.text);
    exit.outputs_left = clear_files(task->script == NULL ? NULL : task->script_path,
                                    task->outputs_dir, task->keep_outputs_dir);
    keeper_book_ended(&room->book, hold, &exit);
}

static char **copy_texts(const char *const *texts)
{
    size_t count = 0;
    while (texts[count] != NULL)
        count++;
    char **copy = mem_zalloc(count + 1, sizeof *copy);
    for (size_t i = 0; i < count; i++)
        copy[i] = mem_strdup(texts[i]);
    return copy;
}

static void forget_texts(char **texts)
{
    for (size_t i = 0; texts != NULL && texts[i] != NULL; i++) {
        secret_wipe(texts[i], strlen(texts[i]));
        free(texts[i]);
    }
    free(texts);
}

static struct keeper_run *run_new(struct keeper_room *room, const struct keeper_task *task,
                                  int64_t now_us)
{
    struct keeper_run *run = mem_zalloc(1, sizeof *run);
    *run = (struct keeper_run){
        .process_source = {KEEPER_SOURCE_PROCESS, run},
        .output_source = {KEEPER_SOURCE_OUTPUT, run},
        .report_source = {KEEPER_SOURCE_REPORT, run},
        .id = task->id,
        .output_fd = -1,
        .report_fd = -1,
        .started_us = now_us,
        .grace_ms = task->grace_ms,
        .term_us = task->timeout_ms > 0 ? now_us + task->timeout_ms * 1000 : INT64_MAX,
        .kill_us = INT64_MAX,
        .idle_us = INT64_MAX,
        .outputs_dir = task->outputs_dir == NULL ? NULL : mem_strdup(task->outputs_dir),
        .keep_outputs_dir = task->keep_outputs_dir,
        .survives_deadline = task->survives_deadline,
        .script_path = task->script == NULL ? NULL : mem_strdup(task->script_path),
    };
    (void)snprintf(run->nonce, sizeof run->nonce, "%s", task->nonce);
    if (has_secrets(task))
        run->secrets = copy_texts(task->secrets);
    if (task->protocol)
        strbuf_init(&run->line, LINE_BYTES_MAX);

    struct err err = {0};
    if (task->blob_root != NULL)
        run->root = root_take(room, task->blob_root, &err);
    log_writer_init(&run->log, run->root == NULL ? NULL : run->root->blob, &task->log_key,
                    (uint64_t)MAX(task->output_bytes, 0),
                    task->blob_root == NULL ? "no place for logs" : err.text);
    return run;
}

static void run_free(struct keeper_run *run)
{
    strbuf_fini(&run->line);
    mask_free(run->mask);
    forget_texts(run->secrets);
    if (run->root != NULL)
        run->root->users--;
    free(run->outputs_dir);
    free(run->script_path);
    free(run);
}

static void watch(struct keeper_room *room, struct keeper_run *run)
{
    /* The kernel refuses only when memory is out; there is no way on then. */
    struct err err = {0};
    CHECK(poller_add(room->poller, run->process.pidfd, &run->process_source, &err) == STATUS_OK);
    CHECK(poller_add(room->poller, run->output_fd, &run->output_source, &err) == STATUS_OK);
    if (run->report_fd >= 0)
        CHECK(poller_add(room->poller, run->report_fd, &run->report_source, &err) == STATUS_OK);
}

struct keeper_run *keeper_run_start(struct keeper_room *room, const struct keeper_task *task,
                                    int64_t now_us)
{
    struct err err = {0};
    struct start start = {.task = task, .output = {-1, -1}, .report = {-1, -1}, .request = -1};
    struct process process = {0};
    struct keeper_hold *hold = keeper_book_open(&room->book, task);
    if (prepare(&start, &err) != STATUS_OK || spawn(room, &start, &process, &err) != STATUS_OK) {
        report_failure(room, &start, hold, &err);
        start_fini(&start);
        return NULL;
    }
    struct keeper_run *run = run_new(room, task, now_us);
    run->hold = hold;
    run->process = process;
    run->output_fd = start.output[0];
    run->report_fd = start.report[0];
    start.output[0] = start.report[0] = -1;
    start_fini(&start);
    watch(room, run);
    keeper_book_started(&room->book, hold, process.pid, clock_wall_us());
    return run;
}

/* --- while it runs ------------------------------------------------------- */

/* Bytes read; 0 when nothing is there now; closes the descriptor at its end. */
static size_t read_some(struct keeper_room *room, int *fd)
{
    if (*fd < 0)
        return 0;
    ssize_t got = 0;
    do
        got = read(*fd, room->buffer, KEEPER_READ_BYTES);
    while (got < 0 && errno == EINTR);
    if (got == 0 || (got < 0 && errno != EAGAIN))
        poller_closep(room->poller, fd);
    return got > 0 ? (size_t)got : 0;
}

/* Every task with a token has a secret, and many say nothing: none is made in advance. */
static struct mask *make_mask(const struct keeper_run *run)
{
    struct mask *mask = NULL;
    struct err err = {0};
    CHECK(mask_new((const char *const *)run->secrets, &mask, &err) == STATUS_OK);
    return mask;
}

/* NULL: it has no secrets. */
static struct mask *mask_of(struct keeper_run *run)
{
    if (run->mask == NULL && run->secrets != NULL)
        run->mask = make_mask(run);
    return run->mask;
}

static size_t pump_output(struct keeper_room *room, struct keeper_run *run)
{
    size_t got = read_some(room, &run->output_fd);
    if (got > 0 && run->secrets != NULL && !run->is_log_masked) {
        log_writer_hide(&run->log, make_mask(run));
        run->is_log_masked = true;
    }
    log_writer_write(&run->log, room->buffer, got);
    return got;
}

static void send_line(struct keeper_room *room, struct keeper_run *run)
{
    bool cut = run->line.overflow;
    if (run->secrets != NULL && !cut)
        keeper_hide_text(mask_of(run), &run->line);
    cut = cut || run->line.overflow;
    keeper_book_line(&room->book, run->hold, cut ? NULL : run->line.text,
                     cut ? 0 : run->line.length);
    strbuf_fini(&run->line);
    strbuf_init(&run->line, LINE_BYTES_MAX);
}

static size_t pump_report(struct keeper_room *room, struct keeper_run *run)
{
    size_t got = read_some(room, &run->report_fd);
    const char *rest = room->buffer;
    const char *end = room->buffer + got;
    while (rest < end) {
        const char *newline = memchr(rest, '\n', (size_t)(end - rest));
        const char *stop = newline == NULL ? end : newline;
        strbuf_add_bytes(&run->line, rest, (size_t)(stop - rest));
        if (newline == NULL)
            break;
        send_line(room, run);
        rest = newline + 1;
    }
    return got;
}

void keeper_run_pump_output(struct keeper_room *room, struct keeper_run *run, int64_t now_us)
{
    (void)pump_output(room, run);
    run->idle_us = log_writer_is_waiting(&run->log) ? now_us + IDLE_US : INT64_MAX;
}

void keeper_run_pump_report(struct keeper_room *room, struct keeper_run *run)
{
    if (run->report_fd >= 0 && room->book.link.out.length > KEEPER_BOOK_FULL_BYTES) {
        poller_remove(room->poller, run->report_fd);
        run->report_paused = true;
        return;
    }
    (void)pump_report(room, run);
}

void keeper_run_resume(struct keeper_room *room, struct keeper_run *run)
{
    if (!run->report_paused || room->book.link.out.length > KEEPER_BOOK_FULL_BYTES)
        return;
    run->report_paused = false;
    struct err err = {0};
    if (run->report_fd >= 0)
        CHECK(poller_add(room->poller, run->report_fd, &run->report_source, &err) == STATUS_OK);
}

static void kill_if_due(struct keeper_run *run, int64_t now_us)
{
    if (now_us < run->kill_us)
        return;
    /* To the group, and to the process itself in case it has left its group. */
    process_signal_group(run->process.pid, SIGKILL);
    process_signal(run->process.pidfd, SIGKILL);
    run->kill_us = INT64_MAX;
}

void keeper_run_stop(struct keeper_run *run, enum keeper_exit_kind why, int64_t grace_ms,
                     int64_t now_us)
{
    if (run->ended)
        return;
    if (!run->stopping) {
        run->stopping = true;
        run->exit.kind = why;
        run->term_us = INT64_MAX;
        if (grace_ms > 0) {
            process_signal_group(run->process.pid, SIGTERM);
            /* A stopped process acts on TERM only after it is continued. */
            process_signal_group(run->process.pid, SIGCONT);
        }
    }
    run->kill_us = MIN(run->kill_us, now_us + grace_ms * 1000);
    kill_if_due(run, now_us);
}

int64_t keeper_run_tick(struct keeper_run *run, int64_t now_us)
{
    if (run->ended)
        return INT64_MAX;
    if (now_us >= run->term_us)
        keeper_run_stop(run, KEEPER_TIMEOUT, run->grace_ms, now_us);
    kill_if_due(run, now_us);
    if (now_us >= run->idle_us) {
        log_writer_idle(&run->log);
        run->idle_us = INT64_MAX;
    }
    int64_t stop_us = MIN(run->kill_us, run->term_us);
    return MIN(run->idle_us, stop_us);
}

/* --- end ----------------------------------------------------------------- */

static void drain(struct keeper_room *room, struct keeper_run *run,
                  size_t (*pump)(struct keeper_room *, struct keeper_run *))
{
    size_t total = 0;
    for (size_t got = pump(room, run); got > 0; got = pump(room, run)) {
        total += got;
        if (total > DRAIN_BYTES_MAX)
            break;
    }
}

void keeper_run_end(struct keeper_room *room, struct keeper_run *run, int64_t now_us)
{
    if (run->ended)
        return;
    drain(room, run, pump_output);
    drain(room, run, pump_report);
    if (run->line.length > 0 || run->line.overflow)
        send_line(room, run);
    if (SABOTAGE("pipe_eof_wait") && run->output_fd >= 0)
        return;
    /* Not reaped yet, so the number of the group cannot be anybody else's. */
    process_signal_group(run->process.pid, SIGKILL);
    struct process_end end = {0};
    if (!process_reap(run->process.pidfd, &end))
        return;
    run->ended = true;
    run->ended_us = now_us;
    poller_closep(room->poller, &run->process.pidfd);
    poller_closep(room->poller, &run->output_fd);
    poller_closep(room->poller, &run->report_fd);

    if (!run->stopping)
        run->exit.kind = end.signalled ? KEEPER_SIGNALLED : KEEPER_EXITED;
    run->exit.code = end.code;
    run->exit.signal = end.signal;
    run->exit.wall_us = now_us - run->started_us;
    run->exit.user_us = end.user_us;
    run->exit.system_us = end.system_us;
    run->exit.rss_kb = end.rss_kb;
}

void keeper_run_report(struct keeper_room *room, struct keeper_run *run)
{
    CHECK(run->ended);
    log_writer_finish(&run->log);
    run->exit.log = run->log.result;
    run->exit.outputs_left = clear_files(run->script_path, run->outputs_dir, run->keep_outputs_dir);
    if (run->secrets != NULL && run->exit.outputs_left)
        keeper_hide_outputs(mask_of(run), run->outputs_dir);
    keeper_book_ended(&room->book, run->hold, &run->exit);
    run_free(run);
}
