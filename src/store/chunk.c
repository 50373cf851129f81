#include "store/chunk.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "store/store_priv.h"

#define OF_KEY "kind = $1 AND k1 = $2 AND k2 = $3 AND k3 = $4 AND k4 = $5"

static const char CHUNK_LAST[] = "SELECT start_at, length, form FROM chunk WHERE " OF_KEY
                                 " ORDER BY start_at DESC, form DESC LIMIT 1";
static const char CHUNK_SAME[] =
    "SELECT length, bytes FROM chunk WHERE " OF_KEY " AND start_at = $6 AND form = $7";
static const char CHUNK_INSERT[] =
    "INSERT INTO chunk (kind, k1, k2, k3, k4, start_at, length, form, bytes)"
    " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
static const char CHUNK_RANGE[] = "SELECT start_at, length, form, bytes FROM chunk WHERE " OF_KEY
                                  " AND form < 2 AND start_at < $7 AND start_at >="
                                  " (SELECT coalesce(max(start_at), 0) FROM chunk WHERE " OF_KEY
                                  " AND form < 2 AND start_at <= $6) ORDER BY start_at";
static const char CHUNK_FIRST_RAW[] =
    "SELECT coalesce(min(start_at), -1) FROM chunk WHERE " OF_KEY " AND form = 0";
static const char CHUNK_RAW_ONES[] =
    "SELECT start_at, length, bytes FROM chunk WHERE " OF_KEY
    " AND form = 0 AND start_at >= $6 AND start_at < $7 ORDER BY start_at";
static const char CHUNK_DROP_RAW[] =
    "DELETE FROM chunk WHERE " OF_KEY " AND form = 0 AND start_at >= $6 AND start_at < $7";
static const char CHUNK_DELETE[] = "DELETE FROM chunk WHERE " OF_KEY;
/* SQLite has one writer at a time anyway. */
static const char CHUNK_LOCK[] = "SELECT pg_advisory_xact_lock($1)";

/* A key that is the ids themselves ends before them when the last one is 0: it is another one. */
static const char *const DELETE_BELOW[CHUNK_IDS] = {
    "DELETE FROM chunk WHERE kind = $1 AND k1 = $2 AND (k1 > 0 OR k2 > 0 OR k3 > 0 OR k4 > 0)",
    "DELETE FROM chunk WHERE kind = $1 AND k1 = $2 AND k2 = $3 AND (k2 > 0 OR k3 > 0 OR k4 > 0)",
    "DELETE FROM chunk WHERE kind = $1 AND k1 = $2 AND k2 = $3 AND k3 = $4"
    " AND (k3 > 0 OR k4 > 0)",
    "DELETE FROM chunk WHERE " OF_KEY,
};

bool chunk_is_place_of_logs(const struct store *store)
{
    return db_dialect(store->db) == DB_POSTGRES;
}

/* --- reading --------------------------------------------------------------------------------- */

enum status chunk_state(struct store *store, const struct chunk_key *key, struct chunk_state *out,
                        struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    const int64_t *k = key->ids;
    if (db_query(store->db, &stmt, err, CHUNK_LAST, "iiiii", key->kind, k[0], k[1], k[2], k[3]) !=
            STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err_wrap(err, "look at stored bytes");
    *out = (struct chunk_state){0};
    if (!row)
        return STATUS_OK;
    *out = (struct chunk_state){.exists = true,
                                .has_end = db_int(stmt, 2) == CHUNK_END,
                                .size = db_int(stmt, 0) + db_int(stmt, 1)};
    db_reset(stmt);
    return STATUS_OK;
}

enum status chunk_range(struct store *store, const struct chunk_key *key, int64_t offset,
                        chunk_fn fn, void *context, struct err *err)
{
    struct db_stmt *stmt = NULL;
    const int64_t *k = key->ids;
    enum status status = db_query(store->db, &stmt, err, CHUNK_RANGE, "iiiiiii", key->kind, k[0],
                                  k[1], k[2], k[3], offset, offset + CHUNK_RAW_MAX);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        struct chunk chunk = {.start = db_int(stmt, 0),
                              .length = db_int(stmt, 1),
                              .form = (enum chunk_form)db_int(stmt, 2)};
        chunk.bytes = db_blob(stmt, 3, &chunk.size);
        if (!fn(context, &chunk)) {
            db_reset(stmt);
            return STATUS_OK;
        }
    }
    return status == STATUS_OK ? STATUS_OK : err_wrap(err, "read stored bytes");
}

/* --- writing --------------------------------------------------------------------------------- */

/* Until the end of the transaction nobody else changes this key. */
static enum status lock(struct store *store, const struct chunk_key *key, struct err *err)
{
    if (db_dialect(store->db) != DB_POSTGRES)
        return STATUS_OK;
    uint64_t mixed = (uint64_t)key->kind + 1;
    for (size_t i = 0; i < CHUNK_IDS; i++)
        mixed = (mixed ^ (uint64_t)key->ids[i]) * 0x9E3779B97F4A7C15U + (mixed >> 29);
    return db_do(store->db, err, CHUNK_LOCK, "i", (int64_t)mixed);
}

static enum status insert(struct store *store, const struct chunk_key *key,
                          const struct chunk *chunk, struct err *err)
{
    const int64_t *k = key->ids;
    return db_later(store->db, err, CHUNK_INSERT, "iiiiiiiib", key->kind, k[0], k[1], k[2], k[3],
                    chunk->start, chunk->length, (int64_t)chunk->form, chunk->bytes, chunk->size);
}

static enum status require_same(struct store *store, const struct chunk_write *write,
                                struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    const struct chunk *chunk = &write->chunk;
    const int64_t *k = write->key.ids;
    if (db_query(store->db, &stmt, err, CHUNK_SAME, "iiiiiii", write->key.kind, k[0], k[1], k[2],
                 k[3], chunk->start, (int64_t)chunk->form) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    bool same = false;
    if (row) {
        size_t size = 0;
        const void *bytes = db_blob(stmt, 1, &size);
        same = db_int(stmt, 0) == chunk->length && size == chunk->size &&
               memcmp(bytes, chunk->bytes, size) == 0;
        db_reset(stmt);
    }
    if (!same)
        return err_set(err, STATUS_CONFLICT, "other bytes are stored at offset %lld",
                       (long long)chunk->start);
    return STATUS_OK;
}

static enum status append_piece(struct store *store, const struct chunk_write *write,
                                struct chunk_state *state, struct err *err)
{
    const struct chunk *chunk = &write->chunk;
    if (chunk->length == 0)
        return STATUS_OK;
    CHECK(chunk->form != CHUNK_END);
    CHECK(chunk->length <= CHUNK_PACKED_MAX);
    if (state->has_end || state->size != chunk->start)
        return require_same(store, write, err);
    state->size += chunk->length;
    return insert(store, &write->key, chunk, err);
}

static enum status append_one(struct store *store, const struct chunk_write *write, struct err *err)
{
    struct chunk_state state = {0};
    if (lock(store, &write->key, err) != STATUS_OK ||
        chunk_state(store, &write->key, &state, err) != STATUS_OK ||
        append_piece(store, write, &state, err) != STATUS_OK)
        return err->code;
    if (!write->ends)
        return STATUS_OK;
    int64_t end = write->chunk.start + write->chunk.length;
    if (state.size != end)
        return err_set(err, STATUS_CONFLICT, "%lld bytes are stored, the end is at %lld",
                       (long long)state.size, (long long)end);
    struct chunk marker = {.start = end, .form = CHUNK_END, .bytes = ""};
    return state.has_end ? STATUS_OK : insert(store, &write->key, &marker, err);
}

enum status chunk_append(struct store *store, const struct chunk_write *writes, size_t count,
                         struct err *err)
{
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK)
        return err_wrap(err, "store bytes");
    for (size_t i = 0; i < count; i++)
        if (append_one(store, &writes[i], err) != STATUS_OK)
            return err_wrap(err, "store bytes");
    if (db_commit(db, err) != STATUS_OK)
        return err_wrap(err, "store bytes");
    return STATUS_OK;
}

static enum status delete_one(struct store *store, const struct chunk_key *key, struct err *err)
{
    const int64_t *k = key->ids;
    if (lock(store, key, err) != STATUS_OK)
        return err->code;
    return db_do(store->db, err, CHUNK_DELETE, "iiiii", key->kind, k[0], k[1], k[2], k[3]);
}

enum status chunk_replace(struct store *store, const struct chunk_write *writes, size_t count,
                          struct err *err)
{
    CHECK(count > 0);
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK || delete_one(store, &writes[0].key, err) != STATUS_OK)
        return err_wrap(err, "replace stored bytes");
    for (size_t i = 0; i < count; i++)
        if (append_one(store, &writes[i], err) != STATUS_OK)
            return err_wrap(err, "replace stored bytes");
    if (db_commit(db, err) != STATUS_OK)
        return err_wrap(err, "replace stored bytes");
    return STATUS_OK;
}

/* --- compacting ------------------------------------------------------------------------------ */

/* The raw pieces from `start` on that follow each other, as far as they fit. */
static enum status gather(struct store *store, const struct chunk_key *key, int64_t start,
                          char *buffer, int64_t *out_length, struct err *err)
{
    struct db_stmt *stmt = NULL;
    const int64_t *k = key->ids;
    int64_t filled = 0;
    enum status status = db_query(store->db, &stmt, err, CHUNK_RAW_ONES, "iiiiiii", key->kind, k[0],
                                  k[1], k[2], k[3], start, start + CHUNK_PACKED_MAX);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        size_t size = 0;
        const void *bytes = db_blob(stmt, 2, &size);
        if (db_int(stmt, 0) != start + filled || (int64_t)size > CHUNK_PACKED_MAX - filled) {
            db_reset(stmt);
            break;
        }
        memcpy(buffer + filled, bytes, size);
        filled += (int64_t)size;
    }
    *out_length = filled;
    return status;
}

static enum status compact(struct store *store, const struct chunk_key *key, chunk_pack_fn pack,
                           void *context, bool *out_more, struct err *err)
{
    CLEANUP(mem_freep) char *buffer = mem_alloc(CHUNK_PACKED_MAX);
    CLEANUP(db_endp) struct db *db = store->db;
    const int64_t *k = key->ids;
    struct chunk chunk = {.form = CHUNK_PACKED};
    if (db_begin(db, err) != STATUS_OK || lock(store, key, err) != STATUS_OK ||
        db_get_int(db, -1, &chunk.start, err, CHUNK_FIRST_RAW, "iiiii", key->kind, k[0], k[1], k[2],
                   k[3]) != STATUS_OK)
        return err->code;
    *out_more = chunk.start >= 0;
    if (!*out_more)
        return STATUS_OK;
    if (gather(store, key, chunk.start, buffer, &chunk.length, err) != STATUS_OK)
        return err->code;
    if (chunk.length == 0)
        return err_set(err, STATUS_CORRUPT, "the piece at %lld is not one", (long long)chunk.start);
    if (pack(context, buffer, (size_t)chunk.length, &chunk.bytes, &chunk.size, err) != STATUS_OK ||
        db_do(db, err, CHUNK_DROP_RAW, "iiiiiii", key->kind, k[0], k[1], k[2], k[3], chunk.start,
              chunk.start + chunk.length) != STATUS_OK ||
        insert(store, key, &chunk, err) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

enum status chunk_compact(struct store *store, const struct chunk_key *key, chunk_pack_fn pack,
                          void *context, bool *out_more, struct err *err)
{
    if (compact(store, key, pack, context, out_more, err) != STATUS_OK)
        return err_wrap(err, "compact stored bytes");
    return STATUS_OK;
}

/* --- deleting -------------------------------------------------------------------------------- */

enum status chunk_delete(struct store *store, const struct chunk_key *key, struct err *err)
{
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK || delete_one(store, key, err) != STATUS_OK ||
        db_commit(db, err) != STATUS_OK)
        return err_wrap(err, "delete stored bytes");
    return STATUS_OK;
}

enum status chunk_delete_all(struct store *store, int64_t kinds, const int64_t *ids,
                             size_t id_count, struct err *err)
{
    static const char *const FORMATS[CHUNK_IDS] = {"ii", "iii", "iiii", "iiiii"};
    CHECK(id_count >= 1);
    CHECK(id_count <= CHUNK_IDS);
    int64_t k[CHUNK_IDS] = {0};
    memcpy(k, ids, id_count * sizeof *ids);
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK)
        return err_wrap(err, "delete stored bytes");
    for (int64_t kind = 0; kind < kinds; kind++)
        /* The format tells how many of them are used. */
        if (db_do(db, err, DELETE_BELOW[id_count - 1], FORMATS[id_count - 1], kind, k[0], k[1],
                  k[2], k[3]) != STATUS_OK)
            return err_wrap(err, "delete stored bytes");
    if (db_commit(db, err) != STATUS_OK)
        return err_wrap(err, "delete stored bytes");
    return STATUS_OK;
}
