#pragma once
/*
 * prove_evidence: what tasks of a proof wrote themselves, outside the store.
 *
 * One file per task; each process appends a line when it starts and one when it has done its work.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"

/* For the task: $EVIDENCE is the folder, and it waits there for the file "go". */
extern const char PROVE_SCRIPT[];

struct prove_mark {
    bool is_end;
    int64_t attempt;
    int64_t pid;
    const char *nonce;
    const char *outputs; /* a folder below the home of its host */
};

struct prove_marks {
    struct prove_mark *items;
    size_t count;
    size_t starts;
    size_t ends;
};

/* A task that has not started has no marks. */
NODISCARD enum status prove_marks_read(struct arena *arena, const char *folder, const char *task,
                                       struct prove_marks *out, struct err *err);
/* The first process of the task, or its n-th; so many must have started. */
const struct prove_mark *prove_marks_first(const struct prove_marks *marks);
const struct prove_mark *prove_marks_start(const struct prove_marks *marks, size_t n);
/* Whether the process of a mark still lives. */
bool prove_mark_is_alive(const struct prove_mark *mark);
void prove_mark_signal(const struct prove_mark *mark, int signo);
/* The process with this nonce has done its work. */
bool prove_marks_has_end(const struct prove_marks *marks, int64_t attempt, const char *nonce);
