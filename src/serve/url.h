#pragma once
/*
 * url: paths and queries taken apart. A path is decoded segment by segment, after it was split, so
 * that an encoded slash never becomes a separator and two readers cannot disagree.
 */
#include "base/arena.h"
#include "serve/http.h"

enum { URL_SEGMENTS_MAX = 16 };

struct url_path {
    const char *segments[URL_SEGMENTS_MAX]; /* decoded */
    size_t count;
};

/*
 * False for what no route can have: no slash in front, empty segments (also a trailing slash),
 * "." and "..", bad or NUL escapes, text that is not UTF-8, too many segments.
 */
NODISCARD bool url_split(struct arena *arena, const char *path, struct url_path *out);

/* Decoded text with '+' as a blank; NULL for bad escapes or text that is not UTF-8. */
NODISCARD char *url_decode_query(struct arena *arena, const char *text);
