/*
 * notice_claim: choosing what is sent next.
 *
 * A notice that is due may still have to wait: for the one that it follows, or for its hook's
 * rate; then it is due later. One whose receiver the caller does not want now stays as it is. What
 * is chosen takes along whatever waits in its group.
 */
#include <string.h>

#include "base/check.h"
#include "base/json.h"
#include "base/sha256.h"
#include "model/alert_pace.h"
#include "model/limits.h"
#include "store/id_list.h"
#include "store/notice.h"
#include "store/store_priv.h"

enum { FOLLOW_WAIT_US = 1000000, FOLDED_MAX = 10000, PUT_OFF_MAX = 100, FULL_WAIT_US = 1000000 };

#define SKIP_LOCKED " FOR UPDATE SKIP LOCKED"
#define SPACE                                                                                      \
    "coalesce((SELECT d.namespace FROM dag d"                                                      \
    " WHERE d.dag_id = notice.dag_id), 'default')"
/* The same entry means another receiver in another namespace, as names of connections do. */
#define PASSED_KEY "(hook_key || '/' || " SPACE " || ',')"
#define FIRST_DUE(find)                                                                            \
    "SELECT id, delivery, dag_id, run, task, at_us, attempts, first_at_us, event, hook, hook_key," \
    " group_key, follows, " SPACE " FROM notice WHERE state IN (0, 1) AND due_at_us <= $1"         \
    " AND ($2 = '' OR " find "($2, " PASSED_KEY ") = 0) ORDER BY due_at_us, id LIMIT 1"
#define NEXT_BUT(find)                                                                             \
    "SELECT due_at_us FROM notice WHERE state IN (0, 1) AND " find "($1, " PASSED_KEY ") = 0"      \
    " ORDER BY due_at_us LIMIT 1"
#define GROUP_MEMBERS                                                                              \
    "SELECT id FROM notice WHERE state = 0 AND group_key = $1 AND group_key IS NOT NULL"           \
    " AND id <> $2 AND attempts = 0 ORDER BY id LIMIT $3"
#define RATE_OF "SELECT empty_at_us FROM alert_rate WHERE hook_key = $1"

static const char *const DUE[] = {
    [DB_SQLITE] = FIRST_DUE("instr"), [DB_POSTGRES] = FIRST_DUE("strpos") SKIP_LOCKED};
static const char *const NEXT_DUE_BUT[] = {
    [DB_SQLITE] = NEXT_BUT("instr"), [DB_POSTGRES] = NEXT_BUT("strpos")};
static const char *const MEMBERS[] = {
    [DB_SQLITE] = GROUP_MEMBERS, [DB_POSTGRES] = GROUP_MEMBERS SKIP_LOCKED};
static const char *const RATE[] = {[DB_SQLITE] = RATE_OF, [DB_POSTGRES] = RATE_OF " FOR UPDATE"};

static const char NEXT_DUE[] = "SELECT min(due_at_us) FROM notice WHERE state IN (0, 1)";
static const char OPEN_BEFORE[] =
    "SELECT max(due_at_us) FROM notice WHERE id = $1 AND state IN (0, 1)";
static const char PUT_OFF[] = "UPDATE notice SET due_at_us = $2 WHERE id = $1";
static const char RATE_NEW[] = "INSERT INTO alert_rate (hook_key, empty_at_us) VALUES ($1, 0)"
                               " ON CONFLICT (hook_key) DO NOTHING";
static const char RATE_SET[] = "UPDATE alert_rate SET empty_at_us = $2 WHERE hook_key = $1";
static const char FOLD[] = "UPDATE notice SET state = 5, head = $2 WHERE id = $1";
static const char TAKE_IT[] =
    "UPDATE notice SET state = 1, attempts = attempts + 1,"
    " first_at_us = coalesce(first_at_us, $2), due_at_us = $3 WHERE id = $1";
static const char FOLDED[] =
    "SELECT document FROM notice WHERE id = $1 OR head = $1 ORDER BY id <> $1, id LIMIT $2";
static const char FOLDED_COUNT[] = "SELECT count(*) FROM notice WHERE id = $1 OR head = $1";
_Static_assert(NOTICE_PENDING == 0 && NOTICE_SENDING == 1 && NOTICE_FOLDED == 5, "as in the SQL");

static const char PATH[] =
    "SELECT v.path FROM run r JOIN version v ON v.id = r.version WHERE r.id = $1";

struct candidate {
    struct notice_claim claim;
    const char *hook_key;
    const char *group_key;
    int64_t follows;
};

/* Only a DAG of a program with other rules would have one that cannot be read. */
static enum status read_hook(struct arena *arena, const char *text, enum hook_event event,
                             struct hook *out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *rest = NULL;
    if (json_parse(text, strlen(text), &rest, err) != STATUS_OK)
        return err->code;
    struct hook_list list = hook_list_of(rest, event, arena);
    if (list.count != 1)
        return err_set(err, STATUS_CORRUPT, "a hook of the outbox cannot be read");
    *out = list.items[0];
    return STATUS_OK;
}

static const char *keys_of(const struct notice_passing *passing)
{
    return passing != NULL && passing->keys.length > 0 ? passing->keys.text : "";
}

/* out->claim.id 0: nothing is due. */
static enum status find(struct store *store, int64_t now_us, struct arena *arena,
                        const struct notice_passing *passing, struct candidate *out,
                        struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    *out = (struct candidate){0};
    if (db_query(store->db, &stmt, err, DUE[db_dialect(store->db)], "it", now_us,
                 keys_of(passing)) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK || !row)
        return err->code;
    *out = (struct candidate){
        .claim =
            {
                .id = db_int(stmt, 0),
                .delivery = arena_strdup(arena, db_text(stmt, 1)),
                .dag_id = arena_strdup(arena, db_text(stmt, 2)),
                .space = arena_strdup(arena, db_text(stmt, 13)),
                .run = db_int(stmt, 3),
                .task = db_int(stmt, 4),
                .at_us = db_int(stmt, 5),
                .attempts = db_int(stmt, 6),
                .first_at_us = db_int(stmt, 7),
            },
        .hook_key = arena_strdup(arena, db_text(stmt, 10)),
        .group_key = arena_strdup_null(arena, db_text(stmt, 11)),
        .follows = db_int(stmt, 12),
    };
    enum hook_event event = (enum hook_event)db_int(stmt, 8);
    const char *hook = arena_strdup(arena, db_text(stmt, 9));
    db_reset(stmt);
    return read_hook(arena, hook, event, &out->claim.hook, err);
}

/* Later than now when the one before it is still open. */
static enum status wait_for_first(struct store *store, const struct candidate *candidate,
                                  int64_t now_us, int64_t *out_us, struct err *err)
{
    int64_t before_us = 0;
    *out_us = 0;
    if (candidate->follows == 0)
        return STATUS_OK;
    if (db_get_int(store->db, 0, &before_us, err, OPEN_BEFORE, "i", candidate->follows) !=
        STATUS_OK)
        return err->code;
    if (before_us != 0)
        *out_us = MAX(before_us, now_us) + FOLLOW_WAIT_US;
    return STATUS_OK;
}

/* A message counts once, however often it is tried. */
static enum status wait_for_rate(struct store *store, const struct candidate *candidate,
                                 int64_t now_us, int64_t *out_us, struct err *err)
{
    struct alert_bucket bucket = {0};
    const struct hook_rate *rate = &candidate->claim.hook.rate;
    *out_us = 0;
    if (rate->most == 0 || candidate->claim.attempts > 0)
        return STATUS_OK;
    if (db_do(store->db, err, RATE_NEW, "t", candidate->hook_key) != STATUS_OK ||
        db_get_int(store->db, 0, &bucket.empty_at_us, err, RATE[db_dialect(store->db)], "t",
                   candidate->hook_key) != STATUS_OK)
        return err->code;
    struct alert_admission admission = alert_admit(rate, &bucket, now_us);
    if (!admission.admitted) {
        *out_us = MAX(admission.next_at_us, now_us + 1);
        return STATUS_OK;
    }
    return db_do(store->db, err, RATE_SET, "ti", candidate->hook_key, bucket.empty_at_us);
}

static enum status fold(struct store *store, const struct candidate *candidate, struct err *err)
{
    CLEANUP(id_list_fini) struct id_list ids = {0};
    struct db_stmt *stmt = NULL;
    if (candidate->group_key == NULL || candidate->claim.attempts > 0)
        return STATUS_OK;
    enum status status = db_query(store->db, &stmt, err, MEMBERS[db_dialect(store->db)], "tii",
                                  candidate->group_key, candidate->claim.id, (int64_t)FOLDED_MAX);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        id_list_add(&ids, db_int(stmt, 0));
    for (size_t i = 0; i < ids.count && status == STATUS_OK; i++)
        status = db_later(store->db, err, FOLD, "ii", ids.items[i], candidate->claim.id);
    return status;
}

static enum status read_documents(struct store *store, struct arena *arena,
                                  struct notice_claim *claim, struct err *err)
{
    struct db_stmt *stmt = NULL;
    int64_t total = 0;
    if (db_get_int(store->db, 0, &total, err, FOLDED_COUNT, "i", claim->id) != STATUS_OK)
        return err->code;
    claim->total = (size_t)total;
    claim->documents = arena_array(arena, NOTICE_DOCUMENTS_MAX, sizeof *claim->documents);
    enum status status =
        db_query(store->db, &stmt, err, FOLDED, "ii", claim->id, (int64_t)NOTICE_DOCUMENTS_MAX);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        claim->documents[claim->count++] = arena_strdup(arena, db_text(stmt, 0));
    return status;
}

/* For commands, which may be beside it. */
static enum status read_path(struct store *store, struct arena *arena, struct notice_claim *claim,
                             struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (claim->hook.target != HOOK_COMMAND)
        return STATUS_OK;
    if (db_query(store->db, &stmt, err, PATH, "i", claim->run) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK || !row)
        return err->code;
    claim->path = arena_strdup(arena, db_text(stmt, 0));
    db_reset(stmt);
    return STATUS_OK;
}

static enum status take(struct store *store, int64_t now_us, struct arena *arena,
                        struct candidate *candidate, struct err *err)
{
    struct notice_claim *claim = &candidate->claim;
    int64_t lease_ms = NOTICE_LEASE_MS;
    if (claim->hook.target == HOOK_COMMAND)
        lease_ms += claim->hook.timeout_ms;
    if (fold(store, candidate, err) != STATUS_OK ||
        db_do(store->db, err, TAKE_IT, "iii", claim->id, now_us, now_us + lease_ms * 1000) !=
            STATUS_OK)
        return err->code;
    claim->attempts++;
    if (claim->first_at_us == 0)
        claim->first_at_us = now_us;
    if (read_path(store, arena, claim, err) != STATUS_OK)
        return err->code;
    return read_documents(store, arena, claim, err);
}

/* False: it is the caller's turn to take it. */
static bool pass(struct notice_passing *passing, const struct candidate *candidate)
{
    if (passing == NULL || !passing->is_passed(passing->context, &candidate->claim))
        return false;
    strbuf_addf(&passing->keys, "%s/%s,", candidate->hook_key, candidate->claim.space);
    return true;
}

static bool has_room(const struct notice_passing *passing)
{
    enum { KEY_MAX = SHA256_HEX_MAX + LIMIT_ID_BYTES + 2 };
    return passing == NULL || passing->keys.length < NOTICE_PASSING_BYTES - KEY_MAX;
}

static enum status find_wait(struct store *store, const struct candidate *candidate, int64_t now_us,
                             int64_t *out_us, struct err *err)
{
    if (wait_for_first(store, candidate, now_us, out_us, err) != STATUS_OK || *out_us != 0)
        return err->code;
    return wait_for_rate(store, candidate, now_us, out_us, err);
}

static enum status choose(struct store *store, struct arena *arena, struct notice_passing *passing,
                          struct notice_claim *out, struct err *err)
{
    int64_t now_us = store_now_us(store);
    for (int put_off = 0; put_off < PUT_OFF_MAX && has_room(passing);) {
        struct candidate candidate;
        int64_t later_us = 0;
        if (find(store, now_us, arena, passing, &candidate, err) != STATUS_OK ||
            candidate.claim.id == 0)
            return err->code;
        if (pass(passing, &candidate))
            continue;
        if (find_wait(store, &candidate, now_us, &later_us, err) != STATUS_OK)
            return err->code;
        if (later_us == 0) {
            if (take(store, now_us, arena, &candidate, err) != STATUS_OK)
                return err->code;
            *out = candidate.claim;
            return STATUS_OK;
        }
        put_off++;
        if (db_do(store->db, err, PUT_OFF, "ii", candidate.claim.id, later_us) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

struct claiming {
    struct arena *arena;
    struct notice_passing *passing;
    struct notice_claim *out;
};

static enum status claim_once(struct store *store, const void *context, struct err *err)
{
    const struct claiming *call = context;
    CLEANUP(db_endp) struct db *db = store->db;
    *call->out = (struct notice_claim){0};
    if (db_begin(db, err) != STATUS_OK ||
        choose(store, call->arena, call->passing, call->out, err) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

static enum status read_next(struct store *store, const struct notice_passing *passing,
                             int64_t *out_us, struct err *err)
{
    int64_t next_us = 0;
    const char *keys = keys_of(passing);
    enum status status = keys[0] == '\0'
                             ? db_get_int(store->db, 0, &next_us, err, NEXT_DUE, "")
                             : db_get_int(store->db, 0, &next_us, err,
                                          NEXT_DUE_BUT[db_dialect(store->db)], "t", keys);
    if (status != STATUS_OK)
        return status;
    *out_us = next_us != 0 ? next_us : INT64_MAX;
    if (!has_room(passing))
        *out_us = MAX(*out_us, store_now_us(store) + FULL_WAIT_US);
    return STATUS_OK;
}

/* Nearly always there is nothing, and a look is enough to see it. */
enum status store_notice_claim(struct store *store, struct arena *arena,
                               struct notice_passing *passing, struct notice_claim *out,
                               int64_t *out_next_us, struct err *err)
{
    struct notice_claim found = {0};
    const struct claiming call = {arena, passing, &found};
    if (read_next(store, passing, out_next_us, err) != STATUS_OK)
        return err_wrap(err, "look into the outbox");
    if (*out_next_us <= store_now_us(store) &&
        (store_repeat(store, claim_once, &call, err) != STATUS_OK ||
         read_next(store, passing, out_next_us, err) != STATUS_OK))
        return err_wrap(err, "take from the outbox");
    *out = found;
    return STATUS_OK;
}

enum status store_notice_next(struct store *store, int64_t *out_us, struct err *err)
{
    if (read_next(store, NULL, out_us, err) != STATUS_OK)
        return err_wrap(err, "look into the outbox");
    return STATUS_OK;
}
