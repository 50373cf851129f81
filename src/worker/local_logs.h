#pragma once
/*
 * local_logs: the logs of attempts in this host's blob directory, "RUN/TASK/ATTEMPT.log".
 */
#include "blob/blob.h"

struct blob_key local_logs_key(int64_t run, int64_t task, int64_t attempt);

/* Every log that lies there, in no order; what is not one is passed over. */
NODISCARD enum status local_logs_each(const char *directory,
                                      void (*each)(void *context, const struct blob_key *key),
                                      void *context, struct err *err);

/* Remove a log with its index, and the directories that are empty then. `blob` is `directory`. */
NODISCARD enum status local_logs_remove(struct blob *blob, const char *directory,
                                        const struct blob_key *key, struct err *err);
