#include "worker/keeper_link.h"

#include <string.h>

#include "base/check.h"
#include "os/file.h"
#include "os/secret_box.h"
#include "worker/keeper_wire.h"

/* Packets stay below this unless a single frame is larger. */
enum { PACKET_BYTES = 1 << 20 };
static const size_t OUT_BYTES_MAX = (size_t)1 << 32;

void keeper_link_init(struct keeper_link *link, int fd)
{
    *link = (struct keeper_link){.fd = fd};
    strbuf_init(&link->out, OUT_BYTES_MAX);
}

void keeper_link_fini(struct keeper_link *link)
{
    file_closep(&link->fd);
    secret_wipe(link->out.text, link->out.capacity);
    strbuf_fini(&link->out);
    link->broken = true;
}

/* As many whole frames from `bytes` on as fit into a packet; one at least. */
static size_t packet_length(const char *bytes, size_t length)
{
    size_t total = keeper_wire_frame_length(bytes, length);
    CHECK(total > 0);
    while (total < length) {
        size_t next = keeper_wire_frame_length(bytes + total, length - total);
        CHECK(next > 0);
        if (total + next > PACKET_BYTES)
            break;
        total += next;
    }
    return total;
}

bool keeper_link_flush(struct keeper_link *link)
{
    struct err err = {0};
    size_t sent = 0;
    enum status status = STATUS_OK;
    while (!link->broken && sent < link->out.length) {
        size_t length = packet_length(link->out.text + sent, link->out.length - sent);
        status = seqpacket_send(link->fd, link->out.text + sent, length, NULL, 0, &err);
        if (status == STATUS_NOT_FOUND)
            link->broken = true;
        if (status != STATUS_OK)
            break;
        sent += length;
    }
    size_t length = link->out.length;
    bool is_done = link->broken || sent == length;
    if (!is_done)
        memmove(link->out.text, link->out.text + sent, length - sent);
    size_t left = is_done ? 0 : length - sent;
    /* Frames of tasks carry their secrets. */
    secret_wipe(link->out.text + left, length - left);
    strbuf_truncate(&link->out, left);
    return is_done;
}

enum status keeper_link_receive(struct keeper_link *link, struct seqpacket_message *out,
                                struct err *err)
{
    return seqpacket_receive(link->fd, (size_t)KEEPER_WIRE_FRAME_MAX + PACKET_BYTES, out, err);
}
