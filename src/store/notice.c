#include "store/notice.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "store/channel.h"
#include "store/sight.h"
#include "store/store_priv.h"

static const char *const STATE_NAMES[] = {
#define X(name, text) [NOTICE_##name] = text,
    NOTICE_STATE_MAP(X)
#undef X
};

const char *notice_state_name(enum notice_state state)
{
    CHECK(state < NOTICE_STATE_COUNT);
    return STATE_NAMES[state];
}

bool notice_state_parse(const char *name, enum notice_state *out)
{
    for (enum notice_state state = 0; state < NOTICE_STATE_COUNT; state++) {
        if (strcmp(STATE_NAMES[state], name) == 0) {
            *out = state;
            return true;
        }
    }
    return false;
}

/* --- what became of it ----------------------------------------------------------------------- */

static const char SETTLE[] = "UPDATE notice SET state = $3, due_at_us = $4, answer = $5,"
                             " ended_at_us = $6 WHERE id = $1 AND attempts = $2 AND state = 1";
static const char SETTLE_MISS[] =
    "UPDATE sla_miss SET notified = notified + 1 WHERE (run, task, kind, generation) IN"
    " (SELECT run, task, sla_kind, sla_generation FROM notice WHERE (id = $1 OR head = $1)"
    " AND kind = 4)";
_Static_assert(HOOK_SLA_MISS == 4, "as in the SQL");
static const char SETTLE_FOLDED[] = "UPDATE notice SET ended_at_us = $2 WHERE head = $1";

static enum status note(struct store *store, enum event_kind kind, const char *actor, int64_t id,
                        struct err *err)
{
    CLEANUP(mem_freep) char *data = mem_format("{\"notice\":\"%lld\"}", (long long)id);
    return store_tell(store, kind, actor, data, err);
}

static enum status settle_once(struct store *store, const void *context, struct err *err)
{
    const struct notice_verdict *verdict = context;
    CLEANUP(db_endp) struct db *db = store->db;
    int64_t now_us = store_now_us(store);
    bool is_over = verdict->state != NOTICE_PENDING;
    if (db_begin(db, err) != STATUS_OK ||
        db_do(db, err, SETTLE, "iiiitz", verdict->id, verdict->attempts, (int64_t)verdict->state,
              verdict->due_at_us, verdict->answer, is_over ? now_us : 0) != STATUS_OK)
        return err->code;
    bool is_ours = db_changes(db) == 1;
    if (is_ours && is_over && db_do(db, err, SETTLE_FOLDED, "ii", verdict->id, now_us) != STATUS_OK)
        return err->code;
    if (is_ours && verdict->state == NOTICE_SENT &&
        db_do(db, err, SETTLE_MISS, "i", verdict->id) != STATUS_OK)
        return err->code;
    if (is_ours && verdict->state == NOTICE_FAILED &&
        note(store, EVENT_NOTICE_FAILED, NULL, verdict->id, err) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

enum status store_notice_settle(struct store *store, const struct notice_verdict *verdict,
                                struct err *err)
{
    if (store_repeat(store, settle_once, verdict, err) != STATUS_OK)
        return err_wrap(err, "settle a message");
    return STATUS_OK;
}

/* --- looking --------------------------------------------------------------------------------- */

/*
 * What is rare is found by an index of its own, which has to be said in its words. $1 DAG, $2
 * state, $3 limit, $4 before.
 */
#define IN_ANY_STATE "CAST($2 AS BIGINT) < 0"
#define IF_OPEN      "state IN (0, 1) AND state = $2"
#define IF_SENT      "state = $2"
#define IF_OVER      "state IN (3, 4, 5) AND state = $2"
#define OF_ANY_DAG   " AND CAST($1 AS TEXT) IS NULL"
#define OF_DAG       " AND dag_id = $1"
#define COLUMNS                                                                                    \
    "SELECT id, delivery, state, at_us, due_at_us, dag_id, run, task, kind, target, document,"     \
    " head, attempts, ended_at_us, answer FROM notice"
#define NOTICES(which)                                                                             \
    {                                                                                              \
        .list = COLUMNS " WHERE " which " AND id < $4 ORDER BY id DESC LIMIT $3",                  \
        .count = COUNT_OF("SELECT 1 AS one FROM notice WHERE " which " LIMIT $3"),                 \
    }

enum notice_group { GROUP_ANY, GROUP_OPEN, GROUP_SENT, GROUP_OVER, GROUP_COUNT };

static const struct {
    const char *list;
    const char *count;
} QUERIES[GROUP_COUNT][2] = {
    [GROUP_ANY] = {NOTICES(IN_ANY_STATE OF_ANY_DAG), NOTICES(IN_ANY_STATE OF_DAG)},
    [GROUP_OPEN] = {NOTICES(IF_OPEN OF_ANY_DAG), NOTICES(IF_OPEN OF_DAG)},
    [GROUP_SENT] = {NOTICES(IF_SENT OF_ANY_DAG), NOTICES(IF_SENT OF_DAG)},
    [GROUP_OVER] = {NOTICES(IF_OVER OF_ANY_DAG), NOTICES(IF_OVER OF_DAG)},
};
static const char BY_ID[] = COLUMNS " WHERE id = $1";

static enum notice_group group_of(int64_t state)
{
    static const enum notice_group GROUPS[] = {
        [NOTICE_PENDING] = GROUP_OPEN, [NOTICE_SENDING] = GROUP_OPEN, [NOTICE_SENT] = GROUP_SENT,
        [NOTICE_FAILED] = GROUP_OVER,  [NOTICE_DROPPED] = GROUP_OVER, [NOTICE_FOLDED] = GROUP_OVER,
    };
    _Static_assert(ARRAY_LEN(GROUPS) == NOTICE_STATE_COUNT, "every state has a group");
    return state < 0 ? GROUP_ANY : GROUPS[state];
}

/* What is seen, of whoever does not see everything. */
#define LISTED_SEEN                                                                                \
    "SELECT n.id, n.delivery, n.state, n.at_us, n.due_at_us, n.dag_id, n.run, n.task, n.kind,"     \
    " n.target, n.document, n.head, n.attempts, n.ended_at_us, n.answer"                           \
    " FROM notice n JOIN dag d ON d.dag_id = n.dag_id WHERE ($1 < 0 OR n.state = $1)"              \
    " AND " SEEN("$2", "d.namespace") " AND n.id < $4 ORDER BY n.id DESC LIMIT $3"
static const char LIST_SEEN[] = LISTED_SEEN;
static const char LIST_SEEN_COUNT[] = COUNT_OF(LISTED_SEEN);

static bool is_limited(const struct store *store, const struct notice_filter *filter)
{
    return filter->dag_id == NULL && filter->id == 0 && !store_sees_all(store);
}

enum status store_notice_count(struct store *store, const struct notice_filter *filter,
                               int64_t most, int64_t *out, struct err *err)
{
    if (is_limited(store, filter))
        return db_get_int(store->db, 0, out, err, LIST_SEEN_COUNT, "itii", filter->state,
                          store_sight(store), most, INT64_MAX);
    const char *sql = QUERIES[group_of(filter->state)][filter->dag_id != NULL].count;
    return db_get_int(store->db, 0, out, err, sql, "tii", filter->dag_id, filter->state, most);
}

static enum status query_notices(struct store *store, const struct notice_filter *filter,
                                 struct db_stmt **out, struct err *err)
{
    int64_t before = filter->before != 0 ? filter->before : INT64_MAX;
    if (is_limited(store, filter))
        return db_query(store->db, out, err, LIST_SEEN, "itii", filter->state, store_sight(store),
                        filter->limit, before);
    if (filter->id != 0)
        return db_query(store->db, out, err, BY_ID, "i", filter->id);
    const char *sql = QUERIES[group_of(filter->state)][filter->dag_id != NULL].list;
    return db_query(store->db, out, err, sql, "tiii", filter->dag_id, filter->state, filter->limit,
                    before);
}

enum status store_notice_each(struct store *store, const struct notice_filter *filter,
                              enum status (*each)(void *context, const struct notice_info *notice,
                                                  struct err *err),
                              void *context, struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status = query_notices(store, filter, &stmt, err);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        struct notice_info notice = {
            .id = db_int(stmt, 0),
            .delivery = db_text(stmt, 1),
            .state = (enum notice_state)db_int(stmt, 2),
            .at_us = db_int(stmt, 3),
            .due_at_us = db_int(stmt, 4),
            .dag_id = db_text(stmt, 5),
            .run = db_int(stmt, 6),
            .task = db_int(stmt, 7),
            .kind = (enum hook_event)db_int(stmt, 8),
            .target = (enum hook_target)db_int(stmt, 9),
            .document = db_text(stmt, 10),
            .head = db_int(stmt, 11),
            .attempts = db_int(stmt, 12),
            .ended_at_us = db_int(stmt, 13),
            .answer = db_text(stmt, 14),
        };
        status = each(context, &notice, err);
        if (status != STATUS_OK)
            db_reset(stmt);
    }
    return status;
}

/* Those that go with another do as that does. */
static const char LEFT[] =
    "SELECT CAST(coalesce(sum(CASE WHEN n.state IN (0, 1) THEN 1 ELSE 0 END),"
    " 0) AS BIGINT), CAST(coalesce(sum(CASE WHEN n.state = 3 THEN 1 ELSE 0"
    " END), 0) AS BIGINT) FROM notice n WHERE n.run = $1";

enum status store_notice_left(struct store *store, int64_t run, struct notice_left *out,
                              struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, LEFT, "i", run) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err_wrap(err, "look into the outbox");
    CHECK(row);
    *out = (struct notice_left){.waiting = db_int(stmt, 0), .failed = db_int(stmt, 1)};
    db_reset(stmt);
    return STATUS_OK;
}

/* --- by hand --------------------------------------------------------------------------------- */

static const char RETRY[] = "UPDATE notice SET state = 0, due_at_us = $2, first_at_us = NULL,"
                            " ended_at_us = NULL WHERE id = $1 AND state IN (0, 3, 4)";
static const char STATE_OF[] = "SELECT state FROM notice WHERE id = $1";
_Static_assert(NOTICE_FAILED == 3 && NOTICE_DROPPED == 4, "as in the SQL");

struct retrying {
    int64_t id;
    const char *actor;
};

static enum status retry_once(struct store *store, const void *context, struct err *err)
{
    const struct retrying *call = context;
    CLEANUP(db_endp) struct db *db = store->db;
    int64_t state = 0;
    if (db_begin(db, err) != STATUS_OK ||
        db_get_int(db, -1, &state, err, STATE_OF, "i", call->id) != STATUS_OK)
        return err->code;
    if (state < 0)
        return err_set(err, STATUS_NOT_FOUND, "there is no message %lld", (long long)call->id);
    if (db_do(db, err, RETRY, "ii", call->id, store_now_us(store)) != STATUS_OK)
        return err->code;
    if (db_changes(db) == 0)
        return err_set(err, STATUS_CONFLICT, "the message is %s and is not sent again",
                       notice_state_name((enum notice_state)state));
    if (note(store, EVENT_NOTICE_RETRIED, call->actor, call->id, err) != STATUS_OK ||
        db_notify(db, STORE_CHANNEL_NOTICE, "", err) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

enum status store_notice_retry(struct store *store, int64_t id, const char *actor, struct err *err)
{
    return store_repeat(store, retry_once, &(struct retrying){id, actor}, err);
}

enum status store_notice_tested(struct store *store, const char *actor, const char *data,
                                struct err *err)
{
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK ||
        store_tell(store, EVENT_NOTICE_TESTED, actor, data, err) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}
