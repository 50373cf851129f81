#pragma once
/*
 * humanize: durations, instants, sizes and foreign texts as people read them.
 */
#include <stddef.h>
#include <stdint.h>

enum { HUMAN_MAX = 32 };

/* "0.3s", "12.4s", "3m 05s", "2h 07m", "3d 04h"; "-" for a negative one. Returns `out`. */
const char *humanize_duration(int64_t ms, char out[static HUMAN_MAX]);
/* "2026-01-02 03:04:05Z". */
const char *humanize_instant(int64_t at_us, char out[static HUMAN_MAX]);
/* "03:04:05". */
const char *humanize_clock(int64_t at_us, char out[static HUMAN_MAX]);
/* "512 B", "1.5 KiB". */
const char *humanize_bytes(int64_t bytes, char out[static HUMAN_MAX]);

struct strbuf;

/*
 * Append a text that came from outside so that it cannot steer a terminal: control
 * characters become '?', tabs and line ends spaces. At most `columns` columns, the last of them
 * an ellipsis when cut.
 */
void humanize_add_text(struct strbuf *out, const char *text, size_t columns, int utf8);
