#pragma once
/*
 * progress: what a foreground run looks like at one moment, as text.
 *
 * Takes the engine's reports, keeps counts per task (a change costs the same
 * however many instances there are), and builds frames of a given size. Knows nothing of
 * terminals; progress_live.h draws.
 *
 * Ownership  The DAG named at the start is borrowed until progress_free.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "cli/engine.h"
#include "cli/style.h"

struct progress;

NODISCARD struct progress *progress_new(void);
void progress_free(struct progress *progress); /* NULL is allowed */

void progress_start(struct progress *progress, const struct engine_run *run);
void progress_expand(struct progress *progress, uint32_t node, int64_t count);
/* How far a running task says it is. */
void progress_report(struct progress *progress, const struct engine_progress *report);
void progress_change(struct progress *progress, const struct engine_task *task);
void progress_interrupt(struct progress *progress, int times);

struct progress_view {
    size_t columns;
    size_t rows;
    struct style style;
    int64_t now_us;
};

/*
 * Append at most `rows` lines of at most `columns` columns, each ended by a line feed. When not
 * every task fits, active and failed ones come first and the rest is summed up in a line.
 */
void progress_frame(const struct progress *progress, const struct progress_view *view,
                    struct strbuf *out);

/* Name of a task or instance: "load", "load[3]", "load[3 eu]". */
void progress_add_name(struct strbuf *out, const char *task_id, int64_t map_index,
                       const char *label);

static inline void progress_freep(struct progress **progress)
{
    progress_free(*progress);
}
