#pragma once
/*
 * attempt_end: from the end of a process to the outcome of its attempt.
 */
#include "base/arena.h"
#include "blob/blob.h"
#include "store/advance.h"
#include "worker/keeper_report.h"
#include "worker/keeper_task.h"

/* What a task said about itself while it ran. Zero is empty. */
struct attempt_reports {
    json_t *values; /* object, or NULL */
    bool has_result;
    enum keeper_outcome result;
    char *reason;
    int64_t defer_until_us; /* it wants to go on then; 0: it does not */
};

void attempt_reports_add(struct attempt_reports *reports, const struct keeper_report *report);
void attempt_reports_fini(struct attempt_reports *reports);

struct attempt_facts {
    const struct claim *claim;
    const char *label;
    const char *outputs_dir;
    const char *const *datasets; /* that its success updates */
    size_t datasets_count;
    int64_t started_at_us;
    const struct attempt_reports *reports;
    struct blob *blob; /* for values too large for the store, and the last line of the log */
};

/* Takes the outputs; everything of *out lives in `arena`. */
void attempt_end_make(const struct attempt_facts *facts, const struct keeper_exit *exit,
                      struct arena *arena, struct outcome *out);
