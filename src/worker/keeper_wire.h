#pragma once
/*
 * keeper_wire: the messages between daemon and keeper as bytes.
 *
 * A packet is one frame or several: length, type, fields in a fixed order. Numbers are in
 * host order and texts carry their NUL, since both ends are the same binary on the same
 * machine; the first frame each way is a hello with the version. Decoding checks every
 * bound all the same, and what it yields points into the packet.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "worker/keeper_task.h"

enum { KEEPER_WIRE_VERSION = 3, KEEPER_WIRE_FRAME_MAX = 64 << 20 };

enum keeper_frame_type {
    /* to the keeper */
    KEEPER_FRAME_HELLO,    /* version, foreground, linger, most time alone; and back, as a packet
                              of its own: version, pid, how many tasks run. Never changes. */
    KEEPER_FRAME_SPAWN,    /* a task */
    KEEPER_FRAME_STOP,     /* id, how */
    KEEPER_FRAME_DEADLINE, /* monotonic instant, 0 for none */
    KEEPER_FRAME_ACK,      /* id: its end is written down, forget it */
    KEEPER_FRAME_END,      /* end everything and yourself */
    /* from the keeper */
    KEEPER_FRAME_STARTED, /* id, pid, wall instant */
    KEEPER_FRAME_EXITED,  /* id, an exit */
    KEEPER_FRAME_LINE,    /* id, whether it was too long, a line of descriptor 4 */
    KEEPER_FRAME_HELD,    /* id, pid, wall instant of the start, context */
    KEEPER_FRAME_ALL,     /* everything that happened before the hello has been told */
    KEEPER_FRAME_TYPE_COUNT
};

enum keeper_stop { KEEPER_STOP_GENTLE, KEEPER_STOP_KILL };

/* A frame of up to four numbers and a text (NULL: none). */
struct keeper_frame {
    enum keeper_frame_type type;
    int64_t numbers[4];
    const char *text;
    size_t text_length;
};

void keeper_wire_put(struct strbuf *out, const struct keeper_frame *frame);
/* STATUS_LIMIT: larger than KEEPER_WIRE_FRAME_MAX; `out` is as it was. */
NODISCARD enum status keeper_wire_put_task(struct strbuf *out, const struct keeper_task *task,
                                           struct err *err);
void keeper_wire_put_exit(struct strbuf *out, int64_t id, const struct keeper_exit *exit);

struct keeper_wire_reader {
    const char *at;
    size_t left;
};

/* The type of the next frame and a reader of its fields; false when nothing whole is left. */
NODISCARD bool keeper_wire_next(struct keeper_wire_reader *packet, enum keeper_frame_type *out_type,
                                struct keeper_wire_reader *out_fields);
/* Length of the next frame with its head; 0 when nothing whole is left. */
size_t keeper_wire_frame_length(const char *bytes, size_t length);

/* False: malformed. Lists of texts are allocated in `arena`. */
NODISCARD bool keeper_wire_get(struct keeper_wire_reader *fields, struct keeper_frame *out);
NODISCARD bool keeper_wire_get_task(struct keeper_wire_reader *fields, struct arena *arena,
                                    struct keeper_task *out);
NODISCARD bool keeper_wire_get_exit(struct keeper_wire_reader *fields, int64_t *out_id,
                                    struct keeper_exit *out);
