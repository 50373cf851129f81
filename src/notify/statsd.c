#include "notify/statsd.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "model/metric_statsd.h"
#include "os/datagram.h"
#include "os/file.h"
#include "os/knock.h"
#include "os/thread.h"

enum { DATAGRAM_BYTES = 1400 /* fits into one packet of most networks */ };

struct statsd {
    struct statsd_options options;
    struct thread *thread;
    int knock_fd;
    atomic_bool is_over;
    /* Of the thread. */
    int fd;
    bool is_complaining;
    struct metric_statsd *lines;
    char packet[DATAGRAM_BYTES];
    size_t length;
};

static void send_packet(struct statsd *self)
{
    if (self->length > 0)
        (void)datagram_send(self->fd, self->packet, self->length);
    self->length = 0;
}

static void add_line(void *context, const char *text)
{
    struct statsd *self = context;
    size_t length = strlen(text);
    if (length > sizeof self->packet)
        return;
    if (self->length + 1 + length > sizeof self->packet)
        send_packet(self);
    if (self->length > 0)
        self->packet[self->length++] = '\n';
    memcpy(self->packet + self->length, text, length);
    self->length += length;
}

static void send_all(struct statsd *self)
{
    struct err err = {0};
    if (self->fd < 0 && datagram_open(self->options.address, &self->fd, &err) != STATUS_OK) {
        if (!self->is_complaining)
            log_warn("no metrics are sent", LOG_STR("statsd", self->options.address),
                     LOG_STR("error", err.text));
        self->is_complaining = true;
        return;
    }
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct metric_samples samples = {.arena = arena};
    (void)!self->options.collect(self->options.context, &samples, &err);
    metric_statsd_write(self->lines, &samples, add_line, self);
    send_packet(self);
}

static void body(void *context)
{
    struct statsd *self = context;
    for (bool is_over = false; !is_over;) {
        knock_wait(self->knock_fd, self->options.period_ms);
        is_over = atomic_load(&self->is_over);
        send_all(self);
    }
}

enum status statsd_start(const struct statsd_options *options, struct statsd **out, struct err *err)
{
    struct statsd *self = mem_zalloc(1, sizeof *self);
    self->options = *options;
    self->fd = self->knock_fd = -1;
    self->lines = metric_statsd_new(options->prefix);
    enum status status = datagram_open(options->address, &self->fd, err);
    /* A name that is not known yet may be later. */
    if (status == STATUS_UNREACHABLE) {
        *err = (struct err){0};
        status = STATUS_OK;
    }
    if (status != STATUS_OK)
        (void)err_wrap(err, "statsd");
    if (status != STATUS_OK || knock_open(&self->knock_fd, err) != STATUS_OK ||
        thread_start("statsd", body, self, &self->thread, err) != STATUS_OK) {
        statsd_stop(self);
        return err->code;
    }
    *out = self;
    return STATUS_OK;
}

void statsd_stop(struct statsd *statsd)
{
    if (statsd == NULL)
        return;
    atomic_store(&statsd->is_over, true);
    if (statsd->thread != NULL) {
        knock_send(statsd->knock_fd);
        thread_join(statsd->thread);
    }
    metric_statsd_free(statsd->lines);
    file_closep(&statsd->knock_fd);
    file_closep(&statsd->fd);
    free(statsd);
}
