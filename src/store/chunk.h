#pragma once
/*
 * chunk: bytes kept in the store, in pieces: what the blob layer makes blobs of.
 *
 * The pieces of a key follow each other without gaps from offset 0. One may be packed, which only
 * the blob layer can undo. An end, once added, says that nothing follows. Every change is guarded
 * by the offset at which it happens, so that it may be repeated when its answer was lost, and two
 * writers never mix their bytes.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

enum { CHUNK_IDS = 4, CHUNK_RAW_MAX = 64 << 10, CHUNK_PACKED_MAX = 256 << 10 };

/*
 * Ids that are not used are 0. The last one that is used is not: a key never is another one with
 * zeros added.
 */
struct chunk_key {
    int64_t kind;
    int64_t ids[CHUNK_IDS];
};

enum chunk_form { CHUNK_RAW, CHUNK_PACKED, CHUNK_END };

struct chunk {
    int64_t start;  /* offset of the first byte */
    int64_t length; /* as it was written, at most CHUNK_PACKED_MAX */
    enum chunk_form form;
    const void *bytes; /* as they are kept */
    size_t size;       /* of these */
};

struct chunk_state {
    bool exists;
    bool has_end;
    int64_t size; /* bytes so far, as they were written */
};

/* Whether this store is where logs belong: nothing else is reached by every host. */
bool chunk_is_place_of_logs(const struct store *store);

NODISCARD enum status chunk_state(struct store *store, const struct chunk_key *key,
                                  struct chunk_state *out, struct err *err);

struct chunk_write {
    struct chunk_key key;
    struct chunk chunk; /* of length 0: none, only the end */
    bool ends;          /* nothing follows it */
};

/*
 * Add pieces, all or none. One that is there already, the same, is fine: an answer was lost.
 *
 *   STATUS_CONFLICT  something else is there, or there is a gap before it, or the end
 */
NODISCARD enum status chunk_append(struct store *store, const struct chunk_write *writes,
                                   size_t count, struct err *err);
/* The same in the place of whatever was there. */
NODISCARD enum status chunk_replace(struct store *store, const struct chunk_write *writes,
                                    size_t count, struct err *err);

/* Return false to stop. The bytes are borrowed during the call. */
typedef bool (*chunk_fn)(void *context, const struct chunk *chunk);
/*
 * The pieces that hold the bytes from `offset` on, in order, as far as they start before
 * `offset` + CHUNK_RAW_MAX.
 */
NODISCARD enum status chunk_range(struct store *store, const struct chunk_key *key, int64_t offset,
                                  chunk_fn fn, void *context, struct err *err);

/* Packs `length` bytes; the result is borrowed until the next call. */
typedef enum status (*chunk_pack_fn)(void *context, const void *bytes, size_t length,
                                     const void **out_bytes, size_t *out_size, struct err *err);
/*
 * Rewrite the next pieces that are not packed, up to CHUNK_PACKED_MAX bytes of them, as one packed
 * piece: one transaction. *out_more tells whether there may be others.
 */
NODISCARD enum status chunk_compact(struct store *store, const struct chunk_key *key,
                                    chunk_pack_fn pack, void *context, bool *out_more,
                                    struct err *err);

NODISCARD enum status chunk_delete(struct store *store, const struct chunk_key *key,
                                   struct err *err);
/* Every key of the kinds below `kinds` whose ids begin with these. */
NODISCARD enum status chunk_delete_all(struct store *store, int64_t kinds, const int64_t *ids,
                                       size_t id_count, struct err *err);
