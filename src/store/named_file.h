#pragma once
/*
 * named_file: the files that DAG versions carry, kept once by what is in them.
 */
#include "base/arena.h"
#include "model/dag.h"
#include "store/store.h"

/*
 * The bytes with this hash, in `arena`, closed by a NUL that *out_size (may be NULL) does not
 * count. STATUS_CORRUPT: a version names them, and they are not there.
 */
NODISCARD enum status store_named_file_load(struct store *store, struct arena *arena,
                                            const char *hash, const char **out, size_t *out_size,
                                            struct err *err);
