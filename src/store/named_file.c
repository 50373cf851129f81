#include "store/named_file.h"

#include <string.h>

#include "store/store_priv.h"
#include "store/version_priv.h"

static const char BYTES_ADD[] =
    "INSERT INTO named_file (hash, bytes) VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING";
static const char BYTES_KNOWN[] = "SELECT count(*) FROM named_file WHERE hash = $1";
static const char BYTES_LOAD[] = "SELECT bytes FROM named_file WHERE hash = $1";
static const char NAME_ADD[] = "INSERT INTO version_file (version, name, hash) VALUES ($1, $2, $3)";
/* What is found to be there is not removed before it is used. */
static const char LOCK[] = "SELECT pg_advisory_xact_lock(hashtextextended('eider named_file ' ||"
                           " current_schema(), 0))";
static const char SWEEP[] = "DELETE FROM named_file WHERE NOT EXISTS"
                            " (SELECT 1 FROM version_file f WHERE f.hash = named_file.hash)";

static enum status lock(struct store *store, struct err *err)
{
    return db_dialect(store->db) == DB_POSTGRES ? db_do(store->db, err, LOCK, "") : STATUS_OK;
}

static enum status keep_bytes(struct store *store, const struct named_file *file, struct err *err)
{
    int64_t known = 0;
    if (file->bytes != NULL)
        return db_do(store->db, err, BYTES_ADD, "tb", file->hash, file->bytes, file->size);
    if (db_get_int(store->db, 0, &known, err, BYTES_KNOWN, "t", file->hash) != STATUS_OK)
        return err->code;
    if (known == 0)
        return err_set(err, STATUS_INVALID, "the content of the file '%s' is not known",
                       file->name);
    return STATUS_OK;
}

enum status named_files_save(struct store *store, int64_t version, const struct dag *dag,
                             struct err *err)
{
    if (dag->files_count > 0 && lock(store, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < dag->files_count; i++) {
        const struct named_file *file = &dag->files[i];
        if (keep_bytes(store, file, err) != STATUS_OK ||
            db_do(store->db, err, NAME_ADD, "itt", version, file->name, file->hash) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

enum status named_files_sweep(struct store *store, struct err *err)
{
    return lock(store, err) != STATUS_OK ? err->code : db_do(store->db, err, SWEEP, "");
}

enum status store_named_file_load(struct store *store, struct arena *arena, const char *hash,
                                  const char **out, size_t *out_size, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    size_t size = 0;
    if (db_query(store->db, &stmt, err, BYTES_LOAD, "t", hash) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    if (!row)
        return err_set(err, STATUS_CORRUPT, "the content of a file of the DAG (%.12s) is missing",
                       hash);
    const void *bytes = db_blob(stmt, 0, &size);
    *out = arena_strndup(arena, size > 0 ? bytes : "", size);
    if (out_size != NULL)
        *out_size = size;
    db_reset(stmt);
    return STATUS_OK;
}
