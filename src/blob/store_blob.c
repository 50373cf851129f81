/*
 * Blobs as rows of the store: pieces as they come, rewritten as fewer and packed ones when a blob
 * is sealed. A reader unpacks one piece at a time and keeps it, since readers go forward.
 */
#include "blob/store_blob.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "blob/backend.h"
#include "blob/pack.h"
#include "store/chunk.h"

_Static_assert((int)STORE_BLOB_PIECE_MAX == (int)CHUNK_RAW_MAX, "a piece is a chunk");
_Static_assert((int)BLOB_KEY_IDS_MAX == (int)CHUNK_IDS, "every id has its column");

enum { WORTH_PACKING = 512 };

struct store_place {
    struct blob blob;
    struct store *store;
};

struct store_handle {
    struct blob_handle handle;
    struct store *store;
    struct chunk_key key;
    int64_t size;       /* append: where the next piece starts */
    char *piece;        /* read: the piece unpacked last, or NULL */
    int64_t piece_from; /* its place in the blob */
    int64_t piece_length;
};

static struct store *store_of(const struct blob *blob)
{
    return ((const struct store_place *)blob)->store;
}

static struct store_handle *handle_of(struct blob_handle *handle)
{
    return (struct store_handle *)handle;
}

static enum status chunk_key_of(const struct blob_key *key, struct chunk_key *out, struct err *err)
{
    char text[BLOB_KEY_TEXT_MAX];
    if (key->ids[key->id_count - 1] == 0)
        return err_set(err, STATUS_INVALID, "blob '%s' ends in 0", blob_key_format(key, text));
    *out = (struct chunk_key){.kind = key->kind};
    memcpy(out->ids, key->ids, key->id_count * sizeof *key->ids);
    return STATUS_OK;
}

/* --- whole blobs ----------------------------------------------------------------------------- */

static void place_close(struct blob *blob)
{
    free(blob);
}

/* Pieces of `piece_max` bytes each, the last one ending the blob if `ends`. At least one. */
static struct chunk_write *cut(const struct chunk_write *whole, size_t piece_max, size_t *out_count)
{
    size_t length = (size_t)whole->chunk.length;
    size_t count = MAX((length + piece_max - 1) / piece_max, (size_t)1);
    struct chunk_write *writes = mem_zalloc(count, sizeof *writes);
    for (size_t i = 0; i < count; i++) {
        size_t from = i * piece_max;
        size_t size = MIN(length - from, piece_max);
        writes[i] = (struct chunk_write){
            .key = whole->key,
            .chunk = {.start = whole->chunk.start + (int64_t)from,
                      .length = (int64_t)size,
                      .bytes = (const char *)whole->chunk.bytes + from,
                      .size = size},
            .ends = whole->ends && i + 1 == count,
        };
    }
    *out_count = count;
    return writes;
}

/* Pack what is worth it; what was made is to be freed when the chunks are stored. */
static enum status pack_chunk(struct chunk *chunk, void **out_made, struct err *err)
{
    if (chunk->length < WORTH_PACKING)
        return STATUS_OK;
    if (pack(chunk->bytes, chunk->size, out_made, &chunk->size, err) != STATUS_OK)
        return err->code;
    chunk->bytes = *out_made;
    chunk->form = CHUNK_PACKED;
    return STATUS_OK;
}

static enum status place_put(struct blob *blob, const struct blob_key *key, const void *bytes,
                             size_t length, struct err *err)
{
    struct chunk_write whole = {.chunk = {.length = (int64_t)length, .bytes = bytes}, .ends = true};
    if (chunk_key_of(key, &whole.key, err) != STATUS_OK)
        return err->code;
    size_t count = 0;
    CLEANUP(mem_freep) struct chunk_write *writes = cut(&whole, CHUNK_PACKED_MAX, &count);
    void **made = mem_zalloc(count, sizeof *made);
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < count; i++)
        status = pack_chunk(&writes[i].chunk, &made[i], err);
    if (status == STATUS_OK)
        status = chunk_replace(store_of(blob), writes, count, err);
    for (size_t i = 0; i < count; i++)
        free(made[i]);
    free(made);
    return status;
}

static enum status place_open(struct blob *blob, const struct blob_key *key, enum blob_mode mode,
                              struct blob_handle **out_handle, struct err *err)
{
    struct chunk_key place;
    struct chunk_state state;
    char text[BLOB_KEY_TEXT_MAX];
    if (chunk_key_of(key, &place, err) != STATUS_OK ||
        chunk_state(store_of(blob), &place, &state, err) != STATUS_OK)
        return err->code;
    if (mode == BLOB_READ && !state.exists)
        return err_set(err, STATUS_NOT_FOUND, "blob '%s' is not in the store",
                       blob_key_format(key, text));
    struct store_handle *handle = mem_zalloc(1, sizeof *handle);
    *handle = (struct store_handle){
        .handle = {.backend = blob->backend, .mode = mode, .sealed = state.has_end},
        .store = store_of(blob),
        .key = place,
        .size = state.size,
    };
    *out_handle = &handle->handle;
    return STATUS_OK;
}

static enum status place_remove(struct blob *blob, const struct blob_key *key, struct err *err)
{
    struct chunk_key place;
    if (chunk_key_of(key, &place, err) != STATUS_OK)
        return err->code;
    return chunk_delete(store_of(blob), &place, err);
}

static enum status place_remove_all(struct blob *blob, const int64_t *ids, size_t id_count,
                                    struct err *err)
{
    return chunk_delete_all(store_of(blob), BLOB_KIND_COUNT, ids, id_count, err);
}

/* --- one blob -------------------------------------------------------------------------------- */

static void store_handle_close(struct blob_handle *handle)
{
    free(handle_of(handle)->piece);
    free(handle);
}

static enum status store_handle_append(struct blob_handle *base, const void *bytes, size_t length,
                                       struct err *err)
{
    if (length == 0)
        return STATUS_OK;
    struct store_handle *handle = handle_of(base);
    struct chunk_write whole = {
        .key = handle->key,
        .chunk = {.start = handle->size, .length = (int64_t)length, .bytes = bytes}};
    size_t count = 0;
    CLEANUP(mem_freep) struct chunk_write *writes = cut(&whole, CHUNK_RAW_MAX, &count);
    if (chunk_append(handle->store, writes, count, err) != STATUS_OK)
        return err->code;
    handle->size += (int64_t)length;
    return STATUS_OK;
}

static enum status pack_for_store(void *context, const void *bytes, size_t length,
                                  const void **out_bytes, size_t *out_size, struct err *err)
{
    void **made = context;
    free(*made);
    *made = NULL;
    if (pack(bytes, length, made, out_size, err) != STATUS_OK)
        return err->code;
    *out_bytes = *made;
    return STATUS_OK;
}

static enum status compact(struct store *store, const struct chunk_key *key, struct err *err)
{
    CLEANUP(mem_freep) void *made = NULL;
    for (bool more = true; more;)
        if (chunk_compact(store, key, pack_for_store, &made, &more, err) != STATUS_OK)
            return err->code;
    return STATUS_OK;
}

static enum status store_handle_seal(struct blob_handle *base, struct err *err)
{
    struct store_handle *handle = handle_of(base);
    struct chunk_write end = {.key = handle->key, .chunk = {.start = handle->size}, .ends = true};
    if (chunk_append(handle->store, &end, 1, err) != STATUS_OK)
        return err->code;
    return compact(handle->store, &handle->key, err);
}

static enum status store_handle_is_sealed(struct blob_handle *base, bool *out_sealed,
                                          struct err *err)
{
    struct store_handle *handle = handle_of(base);
    struct chunk_state state;
    if (chunk_state(handle->store, &handle->key, &state, err) != STATUS_OK)
        return err->code;
    *out_sealed = state.has_end;
    return STATUS_OK;
}

static enum status store_handle_size(struct blob_handle *base, uint64_t *out_size, struct err *err)
{
    struct store_handle *handle = handle_of(base);
    struct chunk_state state;
    if (chunk_state(handle->store, &handle->key, &state, err) != STATUS_OK)
        return err->code;
    *out_size = (uint64_t)state.size;
    return STATUS_OK;
}

/* A range that is being read: `done` bytes of it are in `out`. */
struct filling {
    struct store_handle *handle;
    int64_t offset;
    char *out;
    size_t length;
    size_t done;
    enum status status;
    struct err *err;
};

/* Take what a piece has of the bytes that come next; false when it has none. */
static bool fill_from(struct filling *filling, const char *bytes, int64_t start, int64_t length)
{
    int64_t wanted = filling->offset + (int64_t)filling->done;
    if (wanted < start || wanted >= start + length)
        return false;
    size_t count = MIN((size_t)(start + length - wanted), filling->length - filling->done);
    memcpy(filling->out + filling->done, bytes + (wanted - start), count);
    filling->done += count;
    return true;
}

static enum status unpack_piece(struct store_handle *handle, const struct chunk *chunk,
                                struct err *err)
{
    if (chunk->length <= 0 || chunk->length > CHUNK_PACKED_MAX)
        return err_set(err, STATUS_CORRUPT, "a piece of %lld bytes", (long long)chunk->length);
    if (handle->piece == NULL)
        handle->piece = mem_alloc(CHUNK_PACKED_MAX);
    handle->piece_length = 0;
    if (unpack(chunk->bytes, chunk->size, handle->piece, (size_t)chunk->length, err) != STATUS_OK)
        return err->code;
    handle->piece_from = chunk->start;
    handle->piece_length = chunk->length;
    return STATUS_OK;
}

static bool take_chunk(void *context, const struct chunk *chunk)
{
    struct filling *filling = context;
    struct store_handle *handle = filling->handle;
    bool taken = false;
    if (chunk->form == CHUNK_RAW) {
        taken = fill_from(filling, chunk->bytes, chunk->start, (int64_t)chunk->size);
    } else {
        filling->status = unpack_piece(handle, chunk, filling->err);
        taken = filling->status == STATUS_OK &&
                fill_from(filling, handle->piece, handle->piece_from, handle->piece_length);
    }
    return taken && filling->done < filling->length;
}

static enum status store_handle_range(struct blob_handle *base, uint64_t offset, void *out,
                                      size_t length, size_t *out_got, struct err *err)
{
    struct store_handle *handle = handle_of(base);
    struct filling filling = {.handle = handle,
                              .offset = (int64_t)MIN(offset, (uint64_t)INT64_MAX / 2),
                              .out = out,
                              .length = length,
                              .err = err};
    if (length > 0)
        (void)fill_from(&filling, handle->piece, handle->piece_from, handle->piece_length);
    while (filling.done < length) {
        size_t before = filling.done;
        if (chunk_range(handle->store, &handle->key, filling.offset + (int64_t)before, take_chunk,
                        &filling, err) != STATUS_OK)
            return err->code;
        if (filling.status != STATUS_OK)
            return filling.status;
        if (filling.done == before)
            break;
    }
    *out_got = filling.done;
    return STATUS_OK;
}

static const struct blob_backend STORE = {
    .close = place_close,
    .put = place_put,
    .open = place_open,
    .remove = place_remove,
    .remove_all = place_remove_all,
    .handle_close = store_handle_close,
    .append = store_handle_append,
    .seal = store_handle_seal,
    .is_sealed = store_handle_is_sealed,
    .size = store_handle_size,
    .range = store_handle_range,
};

void blob_open_store(struct store *store, struct blob **out_blob)
{
    struct store_place *place = mem_zalloc(1, sizeof *place);
    *place = (struct store_place){.blob = {.backend = &STORE}, .store = store};
    *out_blob = &place->blob;
}

/* --- many blobs ------------------------------------------------------------------------------ */

enum status store_blob_state(struct store *store, const struct blob_key *key,
                             struct store_blob_state *out, struct err *err)
{
    struct chunk_key place;
    struct chunk_state state;
    if (chunk_key_of(key, &place, err) != STATUS_OK ||
        chunk_state(store, &place, &state, err) != STATUS_OK)
        return err->code;
    *out = (struct store_blob_state){
        .exists = state.exists, .is_sealed = state.has_end, .size = (uint64_t)state.size};
    return STATUS_OK;
}

static enum status write_of(const struct store_blob_piece *piece, struct chunk_write *out,
                            void **out_made, struct err *err)
{
    CHECK(piece->length <= STORE_BLOB_PIECE_MAX);
    *out = (struct chunk_write){.chunk = {.start = (int64_t)piece->offset,
                                          .length = (int64_t)piece->length,
                                          .bytes = piece->bytes,
                                          .size = piece->length},
                                .ends = piece->ends};
    if (chunk_key_of(&piece->key, &out->key, err) != STATUS_OK)
        return err->code;
    /* A blob that is whole in one piece needs no compacting later. */
    bool is_whole = piece->offset == 0 && piece->ends;
    return is_whole ? pack_chunk(&out->chunk, out_made, err) : STATUS_OK;
}

enum status store_blob_append(struct store *store, const struct store_blob_piece *pieces,
                              size_t count, struct err *err)
{
    CLEANUP(mem_freep) struct chunk_write *writes = mem_zalloc(count, sizeof *writes);
    void **made = mem_zalloc(count, sizeof *made);
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < count; i++)
        status = write_of(&pieces[i], &writes[i], &made[i], err);
    if (status == STATUS_OK)
        status = chunk_append(store, writes, count, err);
    for (size_t i = 0; i < count; i++)
        free(made[i]);
    free(made);
    return status;
}

enum status store_blob_compact(struct store *store, const struct blob_key *key, struct err *err)
{
    struct chunk_key place;
    if (chunk_key_of(key, &place, err) != STATUS_OK)
        return err->code;
    return compact(store, &place, err);
}
