#include "os/errand.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "os/file.h"

/* All of the input in a file without a name, so that nobody waits for a reader. */
static enum status open_input(const struct errand_request *request, int *out_fd, struct err *err)
{
    CLEANUP(file_closep) int fd = memfd_create("eider", MFD_CLOEXEC);
    if (fd < 0)
        return err_errno(err, errno, "create the input of an errand");
    if (file_write_fd(fd, "input of an errand", request->input, request->input_length, err) !=
        STATUS_OK)
        return err->code;
    if (lseek(fd, 0, SEEK_SET) != 0)
        return err_errno(err, errno, "rewind the input of an errand");
    *out_fd = file_take(&fd);
    return STATUS_OK;
}

static void keep_tail(struct errand_end *out, const char *bytes, size_t length)
{
    size_t room = ERRAND_TAIL_BYTES - out->tail_length;
    if (length > room) {
        size_t dropped = MIN(length - room, out->tail_length);
        memmove(out->tail, out->tail + dropped, out->tail_length - dropped);
        out->tail_length -= dropped;
    }
    memcpy(out->tail + out->tail_length, bytes, length);
    out->tail_length += length;
    out->tail[out->tail_length] = '\0';
}

/* What is there now; false at the end. */
static bool read_output(int fd, struct errand_end *out)
{
    char part[ERRAND_TAIL_BYTES];
    ssize_t got = read(fd, part, sizeof part);
    if (got > 0)
        keep_tail(out, part, (size_t)got);
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

static int remaining_ms(int64_t deadline_us)
{
    if (deadline_us == 0)
        return -1;
    int64_t left_us = deadline_us - clock_wait_us();
    return left_us <= 0 ? 0 : (int)MIN((left_us + 999) / 1000, INT64_C(1000000000));
}

/* Follow the output until the process has ended: true; false when the time is over. */
static bool follow(int pidfd, int *output, int64_t deadline_us, struct errand_end *out)
{
    for (;;) {
        struct pollfd fds[] = {{.fd = pidfd, .events = POLLIN}, {.fd = *output, .events = POLLIN}};
        int ready = poll(fds, 2, remaining_ms(deadline_us));
        if (ready > 0 && fds[1].revents != 0 && !read_output(*output, out))
            file_closep(output);
        if (ready > 0 && fds[0].revents != 0)
            return true;
        if (deadline_us != 0 && clock_wait_us() >= deadline_us)
            return false;
    }
}

static int64_t deadline_after(int64_t ms)
{
    return clock_wait_us() + ms * 1000;
}

/* What was written before the end is in the pipe; whoever else holds it is not waited for. */
static void drain(int output, struct errand_end *out)
{
    struct pollfd fd = {.fd = output, .events = POLLIN};
    while (output >= 0 && poll(&fd, 1, 0) > 0 && read_output(output, out))
        continue;
}

static void see_through(const struct errand_request *request, const struct process *process,
                        int *output, struct errand_end *out)
{
    int64_t deadline_us = request->timeout_ms > 0 ? deadline_after(request->timeout_ms) : 0;
    out->timed_out = !follow(process->pidfd, output, deadline_us, out);
    if (out->timed_out) {
        process_signal_group(process->pid, SIGTERM);
        if (!follow(process->pidfd, output, deadline_after(request->grace_ms), out))
            process_signal_group(process->pid, SIGKILL);
        (void)follow(process->pidfd, output, 0, out);
    }
    process_signal_group(process->pid, SIGKILL);
    drain(*output, out);
    CHECK(process_wait(process->pidfd, -1, &out->end));
}

enum status errand_run(const struct errand_request *request, struct errand_end *out,
                       struct err *err)
{
    CLEANUP(file_closep) int input = -1;
    CLEANUP(file_closep) int output = -1;
    CLEANUP(file_closep) int written = -1;
    int ends[2];
    if (open_input(request, &input, err) != STATUS_OK)
        return err->code;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return err_errno(err, errno, "make a pipe");
    output = ends[0];
    written = ends[1];
    struct process_request wanted = {
        .argv = request->argv,
        .env = request->env,
        .workdir = request->workdir,
        .fds = {input, written, written, 0, 0},
    };
    struct process process;
    if (fcntl(output, F_SETFL, O_NONBLOCK) != 0)
        return err_errno(err, errno, "prepare a pipe");
    if (process_spawn(&wanted, &process, err) != STATUS_OK)
        return err->code;
    file_closep(&written);
    *out = (struct errand_end){0};
    see_through(request, &process, &output, out);
    (void)close(process.pidfd);
    return STATUS_OK;
}
