#pragma once
/*
 * upload: the body of a request while it comes, from somebody whom nobody has let in yet.
 *
 * Small bodies are always taken. Large ones share a room of a fixed size, so that many at once
 * cannot take the memory of the program: what does not fit is dropped, and the request refused.
 *
 * Threads  One: that of the connections.
 */
#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

enum { UPLOAD_SMALL_BYTES = 64 * 1024, UPLOAD_LARGE_AT_ONCE = 16 };

/* What all large bodies share. */
struct upload_room {
    size_t most; /* bytes */
    size_t held;
};

struct upload {
    struct upload_room *room;
    struct strbuf body;  /* `overflow`: it is larger than any may be */
    size_t held;         /* of the room */
    bool is_crowded_out; /* there was no room; the body is empty */
};

void upload_room_init(struct upload_room *room, size_t body_bytes);
void upload_init(struct upload *upload, struct upload_room *room, size_t body_bytes);
void upload_add(struct upload *upload, const char *bytes, size_t count);
void upload_fini(struct upload *upload);

/*
 * Whether it is said once where the body ends. Where two readers may see different ends, as behind
 * a proxy, what follows could be taken for somebody else's request.
 */
bool upload_has_one_end(struct MHD_Connection *connection);
