#pragma once
/*
 * move_blob: logs and large values as lines of an export, whatever place they are kept in.
 *
 *     {"file": "12/345/1.log"}
 *     {"bytes": "aGVsbG8="}       as many of these as it takes
 */
#include "blob/blob.h"
#include "store/move.h"

struct move_blob {
    struct blob *blob; /* borrowed; NULL: nothing to write */
    bool with_logs;
    struct blob_handle *open; /* the file that is being read in */
    int64_t files;
};

/* A member of struct move_files, each, with a struct move_blob as context. */
NODISCARD enum status move_blob_write(void *context, const struct move_file *file,
                                      struct move_writer *writer, struct err *err);
NODISCARD enum status move_blob_read(void *context, const json_t *line, struct err *err);
/* After the last line: the last file is whole. */
NODISCARD enum status move_blob_finish(struct move_blob *move, struct err *err);
void move_blob_fini(struct move_blob *move);
