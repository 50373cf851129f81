#pragma once
/*
 * audit_text: an entry of the audit trail in words: what was changed, and how. Pure.
 */
#include "base/arena.h"
#include "base/json.h"
#include "store/event_page.h"

/*
 * What a change is about, from the row and its data: "run 7 daily/r load[3]", "pool default/gpu",
 * "backfill 3 of daily". `task_id` and `dag_id` may be NULL. In `arena`.
 */
const char *audit_object_text(struct arena *arena, const struct event_row *row, const json_t *data,
                              const char *dag_id, const char *task_id);
/* The same of a clear, by what was asked for and not by what followed from that. */
const char *audit_asked_text(struct arena *arena, const struct event_row *row, const json_t *asked);

/*
 * How it was changed: each value of the details that does not name the object, with what it was
 * before where that is known ("max_running 5 -> 3"). NULL: there is nothing to say.
 */
const char *audit_change_text(struct arena *arena, const json_t *details);
