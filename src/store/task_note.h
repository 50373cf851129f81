#pragma once
/*
 * task_note: what people write about a task of a run, or about one of its instances. A note stays
 * when the task is cleared and goes with its run.
 */
#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "store/run_store.h"
#include "store/store.h"

struct task_note_request {
    int64_t run;
    int64_t task;     /* row */
    const char *note; /* "": there is none any more */
    const char *actor;
};

/* STATUS_NOT_FOUND: there is no such run. */
NODISCARD enum status store_task_set_note(struct store *store,
                                          const struct task_note_request *request, struct err *err);

struct task_note {
    int64_t task;
    const char *text;
};
struct task_note_list {
    const struct task_note *items;
    size_t count;
};

/* All that a run had when it was looked at, by task, in the arena; asks nothing where none were. */
NODISCARD enum status store_task_notes(struct store *store, struct arena *arena,
                                       const struct run_info *run, struct task_note_list *out,
                                       struct err *err);
/* NULL when the task has none. */
const char *task_note_find(const struct task_note_list *list, int64_t task);
