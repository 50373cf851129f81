#pragma once
/*
 * store_blob: blobs inside the store, for whoever brings many of them there at once.
 *
 * Pieces of several blobs are added in one transaction. Reading and everything else is done through
 * blob_open_store.
 */
#include "blob/blob.h"
#include "store/store.h"

enum { STORE_BLOB_PIECE_MAX = 64 << 10 };

struct store_blob_state {
    bool exists;
    bool is_sealed;
    uint64_t size;
};

NODISCARD enum status store_blob_state(struct store *store, const struct blob_key *key,
                                       struct store_blob_state *out, struct err *err);

struct store_blob_piece {
    struct blob_key key;
    uint64_t offset;
    const void *bytes;
    size_t length; /* at most STORE_BLOB_PIECE_MAX */
    bool ends;     /* the blob is sealed behind it */
};

/*
 * All or none; the same again is fine.
 *
 *   STATUS_CONFLICT  a blob does not end at that offset, and has something else there
 *   STATUS_INVALID   a key ends in 0
 */
NODISCARD enum status store_blob_append(struct store *store, const struct store_blob_piece *pieces,
                                        size_t count, struct err *err);
/* Make a blob take less room; whoever reads it sees the same bytes all the time. */
NODISCARD enum status store_blob_compact(struct store *store, const struct blob_key *key,
                                         struct err *err);
