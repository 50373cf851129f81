#include "store/vacuum.h"

#include "base/attrs.h"
#include "store/store_priv.h"

static const struct {
    const char *dead;
    const char *clean;
} TABLES[] = {
#define ROW(table)                                                                                 \
    {                                                                                              \
        "SELECT coalesce(max(n_dead_tup), 0) FROM pg_stat_user_tables"                             \
        " WHERE relid = to_regclass('" table "')",                                                 \
            "VACUUM (TRUNCATE OFF, SKIP_LOCKED) " table                                            \
    }
    ROW("ready"),
    ROW("running"),
    ROW("timer"),
    ROW("host"),
#undef ROW
};

static const char MOST_DEAD[] =
    "SELECT coalesce(max(n_dead_tup), 0) FROM pg_stat_user_tables WHERE relid IN"
    " (to_regclass('ready'), to_regclass('running'), to_regclass('timer'), to_regclass('host'))";

enum status store_vacuum_is_due(struct store *store, bool *out, struct err *err)
{
    int64_t dead = 0;
    if (db_dialect(store->db) == DB_POSTGRES &&
        db_get_int(store->db, 0, &dead, err, MOST_DEAD, "") != STATUS_OK)
        return err_wrap(err, "look for dead rows");
    *out = dead >= VACUUM_DEAD_ROWS;
    return STATUS_OK;
}

enum status store_vacuum(struct store *store, struct err *err)
{
    if (db_dialect(store->db) != DB_POSTGRES)
        return STATUS_OK;
    for (size_t i = 0; i < ARRAY_LEN(TABLES); i++) {
        int64_t dead = 0;
        if (db_get_int(store->db, 0, &dead, err, TABLES[i].dead, "") != STATUS_OK)
            return err_wrap(err, "look for dead rows");
        if (dead >= VACUUM_DEAD_ROWS && db_script(store->db, TABLES[i].clean, err) != STATUS_OK)
            return err_wrap(err, "clean up");
    }
    return STATUS_OK;
}
