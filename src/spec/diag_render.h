#pragma once
/*
 * diag_render: diagnostics for people and for programs.
 *
 *   jobs/etl.yaml:7:12: error: 'needs': there is no task 'extrct'; did you mean 'extract'?
 *        7 |     needs: [extrct]
 *          |             ^~~~~~
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/attrs.h"
#include "base/json.h"
#include "base/strbuf.h"
#include "model/diag.h"

struct diag_source {
    const char *path;
    const char *text; /* or NULL: no lines are shown */
    bool colour;      /* with terminal escapes */
};

/* One diagnostic, its line and its underline; lines end with \n. */
void diag_render(const struct diag *diag, const struct diag_source *source, struct strbuf *out);

/* All of them, and a line that says how many were left out, if any. */
void diag_render_list(const struct diag_list *list, const struct diag_source *source,
                      struct strbuf *out);

/* [{"file", "line", "column", "length", "severity", "message"}, ..]; new reference. */
NODISCARD json_t *diag_render_json(const struct diag_list *list, const char *path);
