#pragma once
/*
 * render_gantt: when each task of a run ran, as bars of text.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/strbuf.h"

struct gantt_request {
    const json_t *tasks; /* array of {task_id, map_index, state, start_date, end_date, label} */
    size_t width;        /* columns */
    bool ascii;
    int64_t now_us; /* end of what still runs */
};

/* Append a line per started task in order of start, and a line with the scale. */
void render_gantt(const struct gantt_request *request, struct strbuf *out);
