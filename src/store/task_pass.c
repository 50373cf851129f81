#include "store/task_pass.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/rng.h"
#include "base/str.h"
#include "model/dag.h"
#include "model/task_state.h"
#include "os/password.h"
#include "os/secret_box.h"
#include "store/repeat.h"
#include "store/store_priv.h"

_Static_assert(TASK_RUNNING == 3, "as in the SQL");

enum { KEY_TEXT_MAX = 2 * TASK_TOKEN_KEY_BYTES + 1 };

static const char KEY_GET[] = "SELECT task_key FROM store WHERE id = 1";
/* The row is also that of numbers: it is left alone once there is a key. */
static const char KEY_SET[] = "UPDATE store SET task_key = $1 WHERE id = 1 AND task_key IS NULL";
static const char FIND[] =
    "SELECT t.nonce, t.node, t.map_index, r.run_id, r.version, d.dag_id,"
    " coalesce(d.namespace, j.namespace), s.task_key"
    " FROM task t JOIN store s ON s.id = 1 LEFT JOIN run r ON r.id = t.run"
    " LEFT JOIN dag d ON d.id = r.dag LEFT JOIN job j ON j.id = t.id AND t.run = 0"
    " WHERE t.id = $1 AND t.attempt = $2 AND t.state = 3";
static const char IS_HELD[] =
    "SELECT count(*) FROM task WHERE id = $1 AND attempt = $2 AND state = 3";

/* --- the key --------------------------------------------------------------------------------- */

/* False: it is none. */
static bool parse_key(const char *text, struct task_token_key *out)
{
    if (text == NULL || strlen(text) != KEY_TEXT_MAX - 1 ||
        strspn(text, "0123456789abcdef") != KEY_TEXT_MAX - 1)
        return false;
    for (size_t i = 0; i < sizeof out->bytes; i++) {
        const char *digit = text + 2 * i;
        int high = digit[0] <= '9' ? digit[0] - '0' : digit[0] - 'a' + 10;
        int low = digit[1] <= '9' ? digit[1] - '0' : digit[1] - 'a' + 10;
        out->bytes[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

static enum status read_key(struct store *store, struct task_token_key *out, bool *out_found,
                            struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, KEY_GET, "") != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    bool is_set = row && !db_is_null(stmt, 0);
    bool is_good = is_set && parse_key(db_text(stmt, 0), out);
    if (row)
        db_reset(stmt);
    if (is_set && !is_good)
        return err_set(err, STATUS_CORRUPT, "the key of tasks in the store is none");
    *out_found = is_good;
    return STATUS_OK;
}

static enum status make_once(struct store *store, const void *context, struct err *err)
{
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK || db_do(db, err, KEY_SET, "t", context) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

/* Whoever comes second finds that of the first. */
static enum status make_key(struct store *store, struct err *err)
{
    struct task_token_key key;
    char text[KEY_TEXT_MAX];
    rng_bytes(key.bytes, sizeof key.bytes);
    for (size_t i = 0; i < sizeof key.bytes; i++)
        CHECK(snprintf(text + 2 * i, 3, "%02x", key.bytes[i]) == 2);
    enum status status = store_repeat(store, make_once, text, err);
    secret_wipe(&key, sizeof key);
    secret_wipe(text, sizeof text);
    return status;
}

enum status store_task_key(struct store *store, struct task_token_key *out, struct err *err)
{
    bool is_found = false;
    if (read_key(store, out, &is_found, err) != STATUS_OK)
        return err_wrap(err, "read the key of tasks");
    if (is_found)
        return STATUS_OK;
    if (make_key(store, err) != STATUS_OK || read_key(store, out, &is_found, err) != STATUS_OK)
        return err_wrap(err, "make the key of tasks");
    return is_found ? STATUS_OK : err_set(err, STATUS_CORRUPT, "the store has no store row");
}

/* --- who shows it ---------------------------------------------------------------------------- */

static enum status not_found(struct err *err)
{
    return err_set(err, STATUS_NOT_FOUND, "no task that runs has this token");
}

/* Where the row stands. */
struct found {
    struct nonce nonce;
    struct task_token_key key;
    int64_t node;
    int64_t map_index;
    int64_t version;
    const char *run_id; /* NULL: it is a job */
    const char *dag_id;
    const char *space;
};

/* False: there is nothing that the token could be compared with. */
static bool read_found(struct db_stmt *stmt, struct arena *arena, struct found *out)
{
    size_t size = 0;
    const void *nonce = db_blob(stmt, 0, &size);
    if (nonce == NULL || size != sizeof out->nonce || db_is_null(stmt, 6) ||
        !parse_key(db_text(stmt, 7), &out->key))
        return false;
    memcpy(&out->nonce, nonce, sizeof out->nonce);
    out->node = db_int(stmt, 1);
    out->map_index = db_int(stmt, 2);
    out->run_id = arena_strdup_null(arena, db_text(stmt, 3));
    out->version = db_int(stmt, 4);
    out->dag_id = arena_strdup_null(arena, db_text(stmt, 5));
    out->space = arena_strdup(arena, db_text(stmt, 6));
    return true;
}

static enum status find(struct store *store, struct arena *arena, const struct task_token *token,
                        struct found *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, FIND, "ii", token->task, token->attempt) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err_wrap(err, "look for a task");
    bool is_good = row && read_found(stmt, arena, out);
    if (row)
        db_reset(stmt);
    return is_good ? STATUS_OK : not_found(err);
}

static enum status name_holder(struct store *store, struct arena *arena, const struct found *found,
                               int64_t task, const char **out, struct err *err)
{
    const struct dag *dag = NULL;
    if (found->run_id == NULL) {
        *out = arena_format(arena, "job %" PRId64, task);
        return STATUS_OK;
    }
    if (store_dag(store, found->version, &dag, err) != STATUS_OK)
        return err->code;
    if (found->node < 0 || (size_t)found->node >= dag->tasks_count)
        return not_found(err);
    const char *index =
        found->map_index >= 0 ? arena_format(arena, "[%" PRId64 "]", found->map_index) : "";
    *out = arena_format(arena, "task %s/%s/%s%s", found->dag_id, found->run_id,
                        dag->tasks[found->node].id, index);
    return STATUS_OK;
}

enum status store_task_token_find(struct store *store, struct arena *arena, const char *text,
                                  struct task_holder *out, struct err *err)
{
    struct task_token given;
    struct found found = {0};
    const char *name = NULL;
    if (!task_token_parse(text, &given))
        return not_found(err);
    if (find(store, arena, &given, &found, err) != STATUS_OK)
        return err->code;
    struct task_token expected =
        task_token_make(&found.key, given.task, given.attempt, &found.nonce);
    bool is_good = secret_equal(expected.proof, given.proof);
    secret_wipe(&expected, sizeof expected);
    secret_wipe(&found.key, sizeof found.key);
    if (!is_good)
        return not_found(err);
    if (name_holder(store, arena, &found, given.task, &name, err) != STATUS_OK)
        return err->code;
    *out = (struct task_holder){
        .task = given.task, .attempt = given.attempt, .name = name, .space = found.space};
    return STATUS_OK;
}

enum status store_task_is_held(struct store *store, int64_t task, int64_t attempt, bool *out,
                               struct err *err)
{
    int64_t count = 0;
    if (db_get_int(store->db, 0, &count, err, IS_HELD, "ii", task, attempt) != STATUS_OK)
        return err_wrap(err, "look for a task");
    *out = count > 0;
    return STATUS_OK;
}
