#pragma once
/*
 * blob: large things outside the store: logs of attempts and spilled values.
 *
 * One interface over several places to keep them. Keys are numbers and a kind, never
 * text of a user, so a key cannot lead anywhere else. Bytes are appended or put whole;
 * ranges of them are read, also while another process appends.
 *
 * Ownership  Whoever opens closes. Handles are closed before their blob.
 * Threads    One thread at a time per blob.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"

struct blob;
struct blob_handle;
struct store;

enum blob_kind { BLOB_LOG, BLOB_LOG_INDEX, BLOB_VALUE, BLOB_KIND_COUNT };

enum { BLOB_KEY_IDS_MAX = 4, BLOB_KEY_TEXT_MAX = 96 };

/* The ids go from the general to the particular, say run, task run, attempt; none is negative. */
struct blob_key {
    enum blob_kind kind;
    int64_t ids[BLOB_KEY_IDS_MAX];
    size_t id_count; /* at least 1 */
};

/* "12/345/1.log". Returns `out`. */
const char *blob_key_format(const struct blob_key *key, char out[static BLOB_KEY_TEXT_MAX]);
/* Exactly what blob_key_format makes; false leaves *out alone. */
NODISCARD bool blob_key_parse(const char *text, struct blob_key *out);

enum blob_mode { BLOB_READ, BLOB_APPEND };

/* Directory `path`, which must exist. */
NODISCARD enum status blob_open_directory(const char *path, struct blob **out_blob,
                                          struct err *err);
/* Inside the store, which is borrowed and outlives the blob. Keys do not end in 0 there. */
void blob_open_store(struct store *store, struct blob **out_blob);
/*
 * Where logs of this store are: in `directory`, or for a store that many hosts share inside it;
 * then what this host has not brought there yet is read from its `directory` (NULL: none; it need
 * not exist). The store is borrowed.
 *
 *   STATUS_NOT_FOUND  there is no such directory, and it is the only place
 */
NODISCARD enum status blob_open_for(struct store *store, const char *directory,
                                    struct blob **out_blob, struct err *err);
/* The second way, whatever store it is. */
NODISCARD enum status blob_open_layered(struct store *store, const char *directory,
                                        struct blob **out_blob, struct err *err);
void blob_close(struct blob *blob);

/* All at once: afterwards the blob is whole and durable, or as it was before. */
NODISCARD enum status blob_put(struct blob *blob, const struct blob_key *key, const void *bytes,
                               size_t length, struct err *err);

/*
 * STATUS_NOT_FOUND when it is to be read and there is none; BLOB_APPEND makes it, with its first
 * byte at the latest.
 */
NODISCARD enum status blob_open(struct blob *blob, const struct blob_key *key, enum blob_mode mode,
                                struct blob_handle **out_handle, struct err *err);
void blob_handle_close(struct blob_handle *handle);

/* In a store all or none; the same again, after an answer that was lost, adds it once. */
NODISCARD enum status blob_append(struct blob_handle *handle, const void *bytes, size_t length,
                                  struct err *err);
/* No more will be appended; STATUS_CONFLICT for an append afterwards. */
NODISCARD enum status blob_seal(struct blob_handle *handle, struct err *err);
/* Whether it is known that nothing follows. A directory never knows. */
NODISCARD enum status blob_is_sealed(struct blob_handle *handle, bool *out_sealed, struct err *err);

NODISCARD enum status blob_size(struct blob_handle *handle, uint64_t *out_size, struct err *err);
/* Up to `length` bytes from `offset`; fewer only at the end. */
NODISCARD enum status blob_range(struct blob_handle *handle, uint64_t offset, void *out,
                                 size_t length, size_t *out_got, struct err *err);
/* The last `length` bytes, or all if there are fewer. */
NODISCARD enum status blob_tail(struct blob_handle *handle, void *out, size_t length,
                                size_t *out_got, struct err *err);

/* A missing blob is fine. */
NODISCARD enum status blob_delete(struct blob *blob, const struct blob_key *key, struct err *err);
/* Every blob whose ids begin with these. */
NODISCARD enum status blob_delete_all(struct blob *blob, const int64_t *ids, size_t id_count,
                                      struct err *err);

static inline void blob_closep(struct blob **blob)
{
    blob_close(*blob);
}

static inline void blob_handle_closep(struct blob_handle **handle)
{
    blob_handle_close(*handle);
}
