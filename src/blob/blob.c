#include "blob/blob.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/str.h"
#include "blob/backend.h"

static const char *const SUFFIXES[] = {
    [BLOB_LOG] = ".log",
    [BLOB_LOG_INDEX] = ".idx",
    [BLOB_VALUE] = ".val",
};
_Static_assert(ARRAY_LEN(SUFFIXES) == BLOB_KIND_COUNT, "every kind has a suffix");

static void check_key(const struct blob_key *key)
{
    CHECK(key->kind < BLOB_KIND_COUNT);
    CHECK(key->id_count >= 1);
    CHECK(key->id_count <= BLOB_KEY_IDS_MAX);
    for (size_t i = 0; i < key->id_count; i++)
        CHECK(key->ids[i] >= 0);
}

const char *blob_key_format(const struct blob_key *key, char out[static BLOB_KEY_TEXT_MAX])
{
    check_key(key);
    size_t used = 0;
    for (size_t i = 0; i < key->id_count; i++)
        used += (size_t)snprintf(out + used, BLOB_KEY_TEXT_MAX - used, i == 0 ? "%lld" : "/%lld",
                                 (long long)key->ids[i]);
    used += (size_t)snprintf(out + used, BLOB_KEY_TEXT_MAX - used, "%s", SUFFIXES[key->kind]);
    CHECK(used < BLOB_KEY_TEXT_MAX);
    return out;
}

static bool parse_ids(char *text, struct blob_key *key)
{
    for (char *rest = text; rest != NULL;) {
        char *slash = strchr(rest, '/');
        if (slash != NULL)
            *slash++ = '\0';
        if (key->id_count == BLOB_KEY_IDS_MAX ||
            !str_parse_i64(rest, 0, INT64_MAX, &key->ids[key->id_count]))
            return false;
        key->id_count++;
        rest = slash;
    }
    return true;
}

bool blob_key_parse(const char *text, struct blob_key *out)
{
    if (strlen(text) >= BLOB_KEY_TEXT_MAX)
        return false;
    for (enum blob_kind kind = 0; kind < BLOB_KIND_COUNT; kind++) {
        if (!str_ends_with(text, SUFFIXES[kind]))
            continue;
        char ids[BLOB_KEY_TEXT_MAX];
        (void)snprintf(ids, sizeof ids, "%.*s", (int)(strlen(text) - strlen(SUFFIXES[kind])), text);
        struct blob_key key = {.kind = kind};
        char again[BLOB_KEY_TEXT_MAX];
        /* Only the one spelling: "007" or "+7" would be a second name of the same thing. */
        if (!parse_ids(ids, &key) || strcmp(blob_key_format(&key, again), text) != 0)
            return false;
        *out = key;
        return true;
    }
    return false;
}

void blob_close(struct blob *blob)
{
    if (blob != NULL)
        blob->backend->close(blob);
}

enum status blob_put(struct blob *blob, const struct blob_key *key, const void *bytes,
                     size_t length, struct err *err)
{
    check_key(key);
    return blob->backend->put(blob, key, bytes, length, err);
}

enum status blob_open(struct blob *blob, const struct blob_key *key, enum blob_mode mode,
                      struct blob_handle **out_handle, struct err *err)
{
    check_key(key);
    return blob->backend->open(blob, key, mode, out_handle, err);
}

void blob_handle_close(struct blob_handle *handle)
{
    if (handle != NULL)
        handle->backend->handle_close(handle);
}

enum status blob_append(struct blob_handle *handle, const void *bytes, size_t length,
                        struct err *err)
{
    CHECK(handle->mode == BLOB_APPEND);
    if (handle->sealed)
        return err_set(err, STATUS_CONFLICT, "append to a sealed blob");
    return handle->backend->append(handle, bytes, length, err);
}

enum status blob_seal(struct blob_handle *handle, struct err *err)
{
    CHECK(handle->mode == BLOB_APPEND);
    if (!handle->sealed && handle->backend->seal(handle, err) != STATUS_OK)
        return err->code;
    handle->sealed = true;
    return STATUS_OK;
}

enum status blob_is_sealed(struct blob_handle *handle, bool *out_sealed, struct err *err)
{
    if (!handle->sealed)
        return handle->backend->is_sealed(handle, out_sealed, err);
    *out_sealed = true;
    return STATUS_OK;
}

enum status blob_size(struct blob_handle *handle, uint64_t *out_size, struct err *err)
{
    return handle->backend->size(handle, out_size, err);
}

enum status blob_range(struct blob_handle *handle, uint64_t offset, void *out, size_t length,
                       size_t *out_got, struct err *err)
{
    CHECK(handle->mode == BLOB_READ);
    return handle->backend->range(handle, offset, out, length, out_got, err);
}

enum status blob_tail(struct blob_handle *handle, void *out, size_t length, size_t *out_got,
                      struct err *err)
{
    uint64_t size = 0;
    if (blob_size(handle, &size, err) != STATUS_OK)
        return err->code;
    uint64_t offset = size > length ? size - length : 0;
    return blob_range(handle, offset, out, (size_t)(size - offset), out_got, err);
}

enum status blob_delete(struct blob *blob, const struct blob_key *key, struct err *err)
{
    check_key(key);
    return blob->backend->remove(blob, key, err);
}

enum status blob_delete_all(struct blob *blob, const int64_t *ids, size_t id_count, struct err *err)
{
    struct blob_key key = {.id_count = id_count};
    CHECK(id_count <= BLOB_KEY_IDS_MAX);
    memcpy(key.ids, ids, id_count * sizeof *ids);
    check_key(&key);
    return blob->backend->remove_all(blob, ids, id_count, err);
}
