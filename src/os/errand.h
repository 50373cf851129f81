#pragma once
/*
 * errand: a short program, run to its end while the caller waits.
 *
 * It gets bytes on its input; the end of what it writes is kept. What takes longer than its time
 * is killed, and what it leaves running in its process group when it ends as well.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"
#include "os/process.h"

enum { ERRAND_TAIL_BYTES = 4096 };

struct errand_request {
    const char *const *argv; /* as in process.h */
    const char *const *env;
    const char *workdir; /* NULL: as ours */
    const void *input;
    size_t input_length;
    int64_t timeout_ms; /* 0: none */
    int64_t grace_ms;   /* between TERM and KILL */
};

struct errand_end {
    bool timed_out;
    struct process_end end;
    size_t tail_length;
    char tail[ERRAND_TAIL_BYTES + 1]; /* output and errors, closed by NUL */
};

/* STATUS_OK: it was started and has ended, however. Else as process_spawn. */
NODISCARD enum status errand_run(const struct errand_request *request, struct errand_end *out,
                                 struct err *err);
