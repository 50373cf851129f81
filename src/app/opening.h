#pragma once
/*
 * opening: from what the user named (a file, a DAG, a run) to a run that can be claimed.
 */
#include "app/session.h"
#include "cli/engine.h"
#include "spec/spec.h"

struct opened {
    int64_t run;
    int64_t scope;
    const struct dag *dag; /* borrowed from the file, or from the session's store */
    struct spec_file *file;
};

/*
 * Find or create the run. A new one exists afterwards; one to be retried is only known, so that it
 * can be locked before anything is changed. Problems of a file are printed on standard error.
 */
NODISCARD enum status opening_begin(struct session *session, const struct engine_request *request,
                                    struct opened *out, struct err *err);
/* The rest, once the run is held: take back what a dead process left, clear what did not succeed.
 */
NODISCARD enum status opening_finish(struct session *session, const struct engine_request *request,
                                     struct opened *opened, struct err *err);
void opened_fini(struct opened *opened);

/* A state folder for a run that leaves nothing behind. */
struct opening_scratch {
    struct home home;
    char *dir;
};

NODISCARD enum status opening_scratch_make(const struct settings *settings,
                                           struct opening_scratch *out, struct err *err);
void opening_scratch_fini(struct opening_scratch *scratch);
