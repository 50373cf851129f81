#pragma once
/*
 * summary: lines about a foreground run where no live view is possible, and its end.
 */
#include <stdio.h>

#include "cli/engine.h"
#include "cli/style.h"

struct dag;

/*
 * One line for a change of state: "12:00:01 success  load[3] in 1.2s". Waiting states are left out
 * unless `verbose`.
 */
void summary_change(FILE *out, const struct style *style, const struct dag *dag,
                    const struct engine_task *task, bool verbose);

/* Verdict, counts, duration, and for each failed task why, and the command that shows its log. */
void summary_end(FILE *out, const struct style *style, const struct engine_result *result);
