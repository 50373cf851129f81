#pragma once
/*
 * backend: what a place for blobs implements. Private to this layer.
 *
 * A backend embeds `struct blob` and its handles embed `struct blob_handle` as their first
 * member. Contracts are those of the functions of the same name in blob.h; arguments are
 * checked before a backend sees them.
 */
#include "blob/blob.h"

struct blob_backend {
    void (*close)(struct blob *blob);
    enum status (*put)(struct blob *blob, const struct blob_key *key, const void *bytes,
                       size_t length, struct err *err);
    enum status (*open)(struct blob *blob, const struct blob_key *key, enum blob_mode mode,
                        struct blob_handle **out_handle, struct err *err);
    enum status (*remove)(struct blob *blob, const struct blob_key *key, struct err *err);
    enum status (*remove_all)(struct blob *blob, const int64_t *ids, size_t id_count,
                              struct err *err);
    void (*handle_close)(struct blob_handle *handle);
    enum status (*append)(struct blob_handle *handle, const void *bytes, size_t length,
                          struct err *err);
    enum status (*seal)(struct blob_handle *handle, struct err *err);
    enum status (*is_sealed)(struct blob_handle *handle, bool *out_sealed, struct err *err);
    enum status (*size)(struct blob_handle *handle, uint64_t *out_size, struct err *err);
    enum status (*range)(struct blob_handle *handle, uint64_t offset, void *out, size_t length,
                         size_t *out_got, struct err *err);
};

struct blob {
    const struct blob_backend *backend;
};

struct blob_handle {
    const struct blob_backend *backend;
    enum blob_mode mode;
    bool sealed;
};
