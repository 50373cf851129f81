#include "serve/upload.h"

#include <strings.h>

void upload_room_init(struct upload_room *room, size_t body_bytes)
{
    *room = (struct upload_room){.most = UPLOAD_LARGE_AT_ONCE * body_bytes};
}

void upload_init(struct upload *upload, struct upload_room *room, size_t body_bytes)
{
    *upload = (struct upload){.room = room};
    strbuf_init(&upload->body, body_bytes);
}

static void set_held(struct upload *upload, size_t held)
{
    upload->room->held += held - upload->held;
    upload->held = held;
}

static void drop(struct upload *upload)
{
    upload->is_crowded_out = true;
    strbuf_fini(&upload->body);
    strbuf_init(&upload->body, 1); /* it stays empty */
    set_held(upload, 0);
}

void upload_add(struct upload *upload, const char *bytes, size_t count)
{
    const struct upload_room *room = upload->room;
    size_t length = upload->body.length + count;
    if (length > UPLOAD_SMALL_BYTES && room->held - upload->held + length > room->most)
        drop(upload);
    if (upload->is_crowded_out)
        return;
    strbuf_add_bytes(&upload->body, bytes, count);
    set_held(upload, upload->body.length > UPLOAD_SMALL_BYTES ? upload->body.length : 0);
}

void upload_fini(struct upload *upload)
{
    set_held(upload, 0);
    strbuf_fini(&upload->body);
}

/* --- where it ends --------------------------------------------------------------------------- */

struct framing {
    size_t ends; /* how often one is named */
    bool is_odd; /* in a way that we do not know */
};

static enum MHD_Result note_framing(void *context, enum MHD_ValueKind kind, const char *name,
                                    const char *value)
{
    (void)kind;
    struct framing *framing = context;
    bool is_encoding = strcasecmp(name, "Transfer-Encoding") == 0;
    if (is_encoding || strcasecmp(name, "Content-Length") == 0)
        framing->ends++;
    framing->is_odd |= is_encoding && (value == NULL || strcasecmp(value, "chunked") != 0);
    return MHD_YES;
}

bool upload_has_one_end(struct MHD_Connection *connection)
{
    struct framing framing = {0};
    (void)MHD_get_connection_values(connection, MHD_HEADER_KIND, note_framing, &framing);
    return framing.ends <= 1 && !framing.is_odd;
}
