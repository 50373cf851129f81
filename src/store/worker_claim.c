#include "store/worker_claim.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "store/repeat.h"
#include "store/store_priv.h"

enum { TRIES = 5 };

const char WORKER_HOST_KIND[] = "http";

static const char FIND[] =
    "SELECT id, lease_ms, renewed_at_us, draining FROM host WHERE name = $1 AND kind = 'http'"
    " AND machine = $2 AND ended_at_us IS NULL ORDER BY id DESC LIMIT 1";
static const char NAMED[] = "SELECT task, attempt FROM worker_claim WHERE host = $1 AND name = $2";
static const char NAME_ADD[] =
    "INSERT INTO worker_claim (host, name, task, attempt) VALUES ($1, $2, $3, $4)"
    " ON CONFLICT (host, name, task) DO UPDATE SET attempt = excluded.attempt";
/* Of what is over nobody asks again. */
static const char NAMES_FORGET[] =
    "DELETE FROM worker_claim WHERE host = $1 AND NOT EXISTS"
    " (SELECT 1 FROM running r WHERE r.host = $1 AND r.task = worker_claim.task)";
static const char HELD[] =
    "SELECT t.id, t.attempt, t.nonce, t.started_at_us FROM running r JOIN task t ON t.id = r.task"
    " WHERE r.host = $1 AND t.host = $1 AND t.run = 0 AND t.state = 3 ORDER BY t.id";
static const char NAMES_OF_ENDED[] =
    "DELETE FROM worker_claim WHERE NOT EXISTS"
    " (SELECT 1 FROM host h WHERE h.id = worker_claim.host AND h.ended_at_us IS NULL)";
static const char ATTEMPT[] =
    "SELECT a.state, a.reason, a.nonce, a.detail, a.result, a.is_last FROM ("
    "SELECT t.state, t.reason, t.nonce, t.host, t.detail, j.result, 1 AS is_last"
    " FROM task t JOIN job j ON j.id = t.id WHERE t.id = $1 AND t.attempt = $2 AND t.run = 0"
    " UNION ALL SELECT state, reason, nonce, host, detail, NULL, 0"
    " FROM attempt WHERE task = $1 AND attempt = $2) a"
    " JOIN host h ON h.id = a.host WHERE h.kind = 'http' AND h.machine = $3";

_Static_assert(TASK_RUNNING == 3, "as in the SQL");

enum status store_worker_find(struct store *store, const char *name, const char *owner,
                              struct worker_host *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, FIND, "tt", name, owner) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err_wrap(err, "find worker '%s'", name);
    if (!row)
        return err_set(err, STATUS_NOT_FOUND, "there is no worker '%s'", name);
    *out = (struct worker_host){
        .id = db_int(stmt, 0),
        .lease_ms = db_int(stmt, 1),
        .renewed_at_us = db_int(stmt, 2),
        .draining = db_int(stmt, 3) != 0,
    };
    db_reset(stmt);
    return STATUS_OK;
}

enum status store_worker_add(struct store *store, const struct host_request *request,
                             struct worker_host *out, struct err *err)
{
    struct err problem = {0};
    int64_t id = 0;
    enum status status = store_host_add(store, request, &id, &problem);
    /* Names of claims of those who are gone; whoever comes next does what is left undone here. */
    struct err ignored = {0};
    if (status == STATUS_OK)
        (void)!db_do(store->db, &ignored, NAMES_OF_ENDED, "");
    if (status != STATUS_OK && status != STATUS_UNKNOWN) {
        *err = problem;
        return err->code;
    }
    return store_worker_find(store, request->name, request->machine, out, err);
}

/* --- what it holds --------------------------------------------------------------------------- */

static struct worker_held read_held(struct db_stmt *stmt)
{
    struct worker_held held = {
        .task = db_int(stmt, 0), .attempt = db_int(stmt, 1), .started_at_us = db_int(stmt, 3)};
    size_t size = 0;
    const void *nonce = db_blob(stmt, 2, &size);
    CHECK(nonce != NULL);
    CHECK(size == sizeof held.nonce);
    memcpy(&held.nonce, nonce, sizeof held.nonce);
    return held;
}

enum status store_worker_held(struct store *store, int64_t host, struct arena *arena,
                              struct worker_held **out, size_t *out_count, struct err *err)
{
    CLEANUP(mem_freep) struct worker_held *list = NULL;
    struct db_stmt *stmt = NULL;
    size_t count = 0;
    size_t capacity = 0;
    enum status status = db_query(store->db, &stmt, err, HELD, "i", host);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        list = mem_grow(list, &capacity, count, sizeof *list);
        list[count++] = read_held(stmt);
    }
    if (status != STATUS_OK)
        return err_wrap(err, "look at what a worker holds");
    *out = arena_array(arena, count + 1, sizeof **out);
    if (count > 0)
        memcpy(*out, list, count * sizeof *list);
    *out_count = count;
    return STATUS_OK;
}

static enum status advance_once(struct store *store, const void *context, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct advance_result result = {0};
    return store_advance(store, context, arena, &result, err);
}

enum status store_worker_return(struct store *store, int64_t host, const struct worker_held *held,
                                size_t count, struct err *err)
{
    if (count == 0)
        return STATUS_OK;
    CLEANUP(mem_freep) struct outcome *outcomes = mem_zalloc(count, sizeof *outcomes);
    for (size_t i = 0; i < count; i++)
        outcomes[i] = (struct outcome){
            .task = held[i].task,
            .attempt = held[i].attempt,
            .nonce = held[i].nonce,
            .kind = OUTCOME_RETURN,
        };
    const struct advance_request request = {
        .host = host, .outcomes = outcomes, .outcomes_count = count};
    /* What was given back already is not given back twice: the same again is fine. */
    enum status status = STATUS_UNKNOWN;
    for (int tries = 0; status == STATUS_UNKNOWN && tries < TRIES; tries++)
        status = store_repeat(store, advance_once, &request, err);
    return status == STATUS_OK ? STATUS_OK : err_wrap(err, "give jobs back");
}

static const char *copy_text(struct arena *arena, struct db_stmt *stmt, int column)
{
    return arena_strdup_null(arena, db_text(stmt, column));
}

enum status store_worker_attempt(struct store *store, const struct worker_held *held,
                                 const char *owner, struct arena *arena, struct worker_attempt *out,
                                 struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool is_found = false;
    enum status status =
        db_query(store->db, &stmt, err, ATTEMPT, "iit", held->task, held->attempt, owner);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        size_t size = 0;
        const void *nonce = db_blob(stmt, 2, &size);
        if (is_found || nonce == NULL || size != sizeof held->nonce ||
            memcmp(nonce, &held->nonce, size) != 0)
            continue;
        *out = (struct worker_attempt){
            .state = (enum task_state)db_int(stmt, 0),
            .reason = (enum reason)db_int(stmt, 1),
            .detail = copy_text(arena, stmt, 3),
            .result = copy_text(arena, stmt, 4),
            .has_last_word = db_int(stmt, 5) == 1,
        };
        is_found = true;
    }
    if (status != STATUS_OK)
        return err_wrap(err, "look for an attempt");
    if (!is_found)
        return err_set(err, STATUS_CONFLICT,
                       "this claim is not the current one of its job: the lease ran out, or it "
                       "has ended already");
    return STATUS_OK;
}

/* --- claims ---------------------------------------------------------------------------------- */

struct claiming {
    const struct worker_claim *claim;
    struct arena *arena;
    struct advance_result result;
};

struct pair {
    int64_t task;
    int64_t attempt;
};

static bool is_among(const struct pair *pairs, size_t count, const struct claim *claim)
{
    for (size_t i = 0; i < count; i++)
        if (pairs[i].task == claim->task && pairs[i].attempt == claim->attempt)
            return true;
    return false;
}

/* What an earlier claim of this name was given. */
static enum status find_named(struct store *store, struct claiming *claiming, struct err *err)
{
    CLEANUP(mem_freep) struct pair *pairs = NULL;
    size_t count = 0;
    size_t capacity = 0;
    struct db_stmt *stmt = NULL;
    const struct worker_claim *claim = claiming->claim;
    enum status status = db_query(store->db, &stmt, err, NAMED, "it", claim->host, claim->name);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        pairs = mem_grow(pairs, &capacity, count, sizeof *pairs);
        pairs[count++] = (struct pair){db_int(stmt, 0), db_int(stmt, 1)};
    }
    struct claim *held = NULL;
    size_t held_count = 0;
    if (status != STATUS_OK || (count > 0 && store_held(store, claim->host, claiming->arena, &held,
                                                        &held_count, err) != STATUS_OK))
        return err->code;
    claiming->result = (struct advance_result){.claims = held};
    for (size_t i = 0; i < held_count; i++)
        if (held[i].job != NULL && is_among(pairs, count, &held[i]))
            held[claiming->result.claims_count++] = held[i];
    return STATUS_OK;
}

static enum status claim_once(struct store *store, const void *context, struct err *err)
{
    struct claiming *claiming = *(struct claiming *const *)context;
    const struct worker_claim *claim = claiming->claim;
    const struct advance_request request = {
        .host = claim->host,
        .process_slots = claim->slots,
        .inline_slots = claim->slots,
        .labels = claim->labels,
        .queues = claim->queues,
        .jobs_only = true,
    };
    return store_advance(store, &request, claiming->arena, &claiming->result, err);
}

static enum status keep_name(struct store *store, const struct claiming *claiming, struct err *err)
{
    CLEANUP(db_endp) struct db *db = store->db;
    const struct worker_claim *claim = claiming->claim;
    const struct advance_result *result = &claiming->result;
    if (result->claims_count == 0)
        return STATUS_OK;
    if (db_begin(db, err) != STATUS_OK ||
        db_do(db, err, NAMES_FORGET, "i", claim->host) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < result->claims_count; i++)
        if (db_do(db, err, NAME_ADD, "itii", claim->host, claim->name, result->claims[i].task,
                  result->claims[i].attempt) != STATUS_OK)
            return err->code;
    return db_commit(db, err);
}

/* The claim and its name become durable at once: neither is there without the other. */
static enum status claim_by_name(struct store *store, struct claiming *claiming, struct err *err)
{
    if (find_named(store, claiming, err) != STATUS_OK || claiming->result.claims_count > 0)
        return err->code;
    if (store_together_begin(store, err) != STATUS_OK ||
        claim_once(store, &claiming, err) != STATUS_OK ||
        keep_name(store, claiming, err) != STATUS_OK)
        return err->code;
    return store_together_commit(store, err);
}

enum status store_worker_claim(struct store *store, const struct worker_claim *claim,
                               struct arena *arena, struct claim **out, size_t *out_count,
                               struct err *err)
{
    struct claiming *claiming = &(struct claiming){.claim = claim, .arena = arena};
    enum status status = claim->name != NULL ? claim_by_name(store, claiming, err)
                                             : store_repeat(store, claim_once, &claiming, err);
    if (status != STATUS_OK)
        return err_wrap(err, "claim for a worker");
    *out = claiming->result.claims;
    *out_count = claiming->result.claims_count;
    return STATUS_OK;
}
