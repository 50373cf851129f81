#include "store/host.h"

#include "base/check.h"
#include "base/str.h"
#include "model/event_kind.h"
#include "store/channel.h"
#include "store/store_priv.h"
#include "store/worker_claim.h"

static const char HOST_INSERT[] =
    "INSERT INTO host (id, maker, name, pid, boot, kind, slots, started_at_us, version, machine,"
    " roles, labels, queues, lease_ms, renewed_at_us, lease_until_us, schema)"
    " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $8, $15, $16)"
    " ON CONFLICT (id) DO NOTHING";
static const char HOST_END[] =
    "UPDATE host SET ended_at_us = $2, fate = $3 WHERE id = $1 AND ended_at_us IS NULL";
/* It may have renewed since it was read. */
static const char HOST_EXPIRE[] = "UPDATE host SET ended_at_us = $2, fate = 'lost'"
                                  " WHERE id = $1 AND ended_at_us IS NULL AND lease_until_us <= $2";
static const char HOST_RESUME[] =
    "UPDATE host SET pid = $2, boot = $3, slots = $4, version = $5, machine = $6, roles = $7,"
    " labels = $8, queues = $9, lease_ms = $10, renewed_at_us = $11, lease_until_us = $12,"
    " draining = CASE draining WHEN 2 THEN 0 ELSE draining END, schema = $13"
    " WHERE id = $1 AND ended_at_us IS NULL";
/* Leases are only ever compared by the clock of the database. */
static const char HOST_RENEW[] =
    "UPDATE host SET renewed_at_us = $2, lease_until_us = $2 + lease_ms * 1000"
    " WHERE id = $1 AND ended_at_us IS NULL";
/* Who comes through HTTP names itself with the least of tokens: that keeps no daemon out. */
static const char HOST_NAMESAKES[] =
    "SELECT id, lease_until_us, renewed_at_us FROM host"
    " WHERE name = $1 AND CASE kind WHEN 'http' THEN 1 ELSE 0 END = $2 AND kind <> 'foreground'"
    " AND lease_ms > 0 AND ended_at_us IS NULL ORDER BY id";
/* Locks the row: who comes at the same moment looks afterwards. */
static const char FLEET_LOCK[] = "UPDATE store SET fleet = fleet WHERE id = 1";
static const char FLEET_GET[] =
    "SELECT fleet, (SELECT count(*) FROM host WHERE kind = 'daemon') FROM store WHERE id = 1";
static const char FLEET_SET[] = "UPDATE store SET fleet = $1 WHERE id = 1";
static const char PULSE[] =
    "SELECT (SELECT draining FROM host WHERE id = $1),"
    " (SELECT count(*) FROM host WHERE ended_at_us IS NULL AND lease_until_us > $2),"
    " (SELECT coalesce(min(id), 0) FROM host WHERE ended_at_us IS NULL AND lease_until_us > $2"
    " AND kind = 'daemon'),"
    " (SELECT count(*) FROM host h WHERE h.lease_ms > 0 AND ((h.ended_at_us IS NULL"
    " AND h.lease_until_us <= $2) OR (h.ended_at_us IS NOT NULL AND EXISTS"
    " (SELECT 1 FROM running r WHERE r.host = h.id))))";
static const char HOST_BY_ID[] = "SELECT id FROM host WHERE id = $1";
/* 0: it claims; 1: somebody asked it not to; 2: it stops, whatever others want. */
static const char DRAIN[] = "UPDATE host SET draining = CASE draining WHEN 2 THEN 2 ELSE $2 END"
                            " WHERE id = $1 AND ended_at_us IS NULL";
static const char LEAVE[] = "UPDATE host SET draining = 2 WHERE id = $1 AND ended_at_us IS NULL";

static const char *text_of(const char *text)
{
    return text != NULL ? text : "";
}

/* --- coming and going ------------------------------------------------------------------------ */

/* Each kind of host is told what it can do itself. */
static enum status refuse_name(const char *name, bool is_http, int64_t since_us, struct err *err)
{
    return err_set(err, STATUS_CONFLICT,
                   is_http ? "a worker named '%s' is alive already (renewed %lld s ago); "
                             "give this one another name, or wait for its lease to end"
                           : "a host named '%s' is alive in this fleet (renewed %lld s ago); give "
                             "this one another name with --host-name, or wait for its lease to end",
                   name, (long long)(since_us / 1000000));
}

static enum status end_namesakes(struct store *store, const struct host_request *request,
                                 int64_t now_us, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool is_http = str_equal(request->kind, WORKER_HOST_KIND);
    enum status status =
        db_query(store->db, &stmt, err, HOST_NAMESAKES, "ti", request->name, (int64_t)is_http);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        if (db_int(stmt, 1) > now_us) {
            int64_t since_us = now_us - db_int(stmt, 2);
            db_reset(stmt);
            return refuse_name(request->name, is_http, since_us, err);
        }
        status = db_later(store->db, err, HOST_EXPIRE, "ii", db_int(stmt, 0), now_us);
    }
    return status;
}

static enum status read_fleet(struct store *store, struct arena *arena, const char **out_name,
                              int64_t *out_daemons, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, FLEET_GET, "") != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    if (!row)
        return err_set(err, STATUS_CORRUPT, "the store has no store row");
    *out_name = arena_strdup(arena, db_text(stmt, 0));
    *out_daemons = db_int(stmt, 1);
    db_reset(stmt);
    return STATUS_OK;
}

/* Two fleets on one database by mistake would run each other's work. */
static enum status join_fleet(struct store *store, const struct host_request *request,
                              struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const char *name = NULL;
    int64_t daemons = 0;
    if (request->fleet == NULL)
        return STATUS_OK;
    if (db_do(store->db, err, FLEET_LOCK, "") != STATUS_OK ||
        read_fleet(store, arena, &name, &daemons, err) != STATUS_OK)
        return err->code;
    if (str_equal(name, request->fleet))
        return STATUS_OK;
    if (daemons == 0)
        return db_do(store->db, err, FLEET_SET, "t", request->fleet);
    return err_set(err, STATUS_CONFLICT,
                   "the store belongs to the fleet '%s', this daemon to '%s': give it the store of "
                   "its own fleet, or set `fleet` (EIDER_FLEET) to '%s'",
                   name, request->fleet, name);
}

struct addition {
    const struct host_request *request;
    int64_t *id;
};

static enum status add_once(struct store *store, const void *context, struct err *err)
{
    const struct addition *addition = context;
    const struct host_request *request = addition->request;
    int64_t *id = addition->id;
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK)
        return err->code;
    int64_t now_us = store_now_us(store);
    *id = id_next(&store->ids, now_us);
    if (join_fleet(store, request, err) != STATUS_OK)
        return err->code;
    /* One after the other, so that of two with the same name the second sees the first. */
    bool is_unique = request->lease_ms > 0 && !str_equal(request->kind, "foreground");
    if (is_unique && (store_wait_for_ids(store, err) != STATUS_OK ||
                      end_namesakes(store, request, now_us, err) != STATUS_OK))
        return err->code;
    if (db_do(db, err, HOST_INSERT,
              "iititti"
              "itttttiii",
              *id, (int64_t)store->ids.maker, request->name, request->pid, text_of(request->boot),
              request->kind, request->slots, now_us, text_of(request->version),
              text_of(request->machine), text_of(request->roles), text_of(request->labels),
              text_of(request->queues), request->lease_ms, now_us + request->lease_ms * 1000,
              (int64_t)STORE_SCHEMA) != STATUS_OK)
        return err->code;
    if (db_changes(db) != 1) {
        store_renew_maker(store);
        return err_set(err, STATUS_BUSY, "another host has the number %lld", (long long)*id);
    }
    return db_commit(db, err);
}

enum status store_host_add(struct store *store, const struct host_request *request, int64_t *out_id,
                           struct err *err)
{
    int64_t id = 0;
    int64_t found = 0;
    const struct addition addition = {request, &id};
    enum status status = store_repeat(store, add_once, &addition, err);
    /* Else the row that it may have made would stand in its own way. */
    if (status == STATUS_UNKNOWN &&
        db_get_int(store->db, 0, &found, err, HOST_BY_ID, "i", id) == STATUS_OK)
        status = found == id ? STATUS_OK : store_repeat(store, add_once, &addition, err);
    if (status != STATUS_OK)
        return err_wrap(err, "register this host");
    *out_id = id;
    return STATUS_OK;
}

enum status store_host_resume(struct store *store, int64_t id, const struct host_request *request,
                              struct err *err)
{
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK)
        return err_wrap(err, "resume host %lld", (long long)id);
    if (join_fleet(store, request, err) != STATUS_OK)
        return err->code;
    int64_t now_us = store_now_us(store);
    if (db_do(db, err, HOST_RESUME,
              "iitittttt"
              "iiii",
              id, request->pid, text_of(request->boot), request->slots, text_of(request->version),
              text_of(request->machine), text_of(request->roles), text_of(request->labels),
              text_of(request->queues), request->lease_ms, now_us,
              now_us + request->lease_ms * 1000, (int64_t)STORE_SCHEMA) != STATUS_OK)
        return err_wrap(err, "resume host %lld", (long long)id);
    if (db_changes(db) != 1)
        return err_set(err, STATUS_NOT_FOUND, "host %lld is not known any more", (long long)id);
    return db_commit(db, err);
}

enum status store_host_leave(struct store *store, int64_t id, struct err *err)
{
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK || db_do(db, err, LEAVE, "i", id) != STATUS_OK)
        return err_wrap(err, "tell that host %lld stops", (long long)id);
    if (db_changes(db) != 1)
        return err_set(err, STATUS_NOT_FOUND, "host %lld is not known any more", (long long)id);
    return db_commit(db, err);
}

static enum status end_host(struct store *store, int64_t id, const char *fate, struct err *err)
{
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK ||
        db_do(db, err, HOST_END, "iit", id, store_now_us(store), fate) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

enum status store_host_end(struct store *store, int64_t id, struct err *err)
{
    if (end_host(store, id, "left", err) != STATUS_OK)
        return err_wrap(err, "take leave of the store");
    return STATUS_OK;
}

enum status store_host_bury(struct store *store, int64_t id, struct err *err)
{
    if (end_host(store, id, "lost", err) != STATUS_OK)
        return err_wrap(err, "note that host %lld is lost", (long long)id);
    return STATUS_OK;
}

/* --- the lease ------------------------------------------------------------------------------- */

static enum status read_pulse(struct store *store, int64_t id, struct host_pulse *out,
                              struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, PULSE, "ii", id, store_now_us(store)) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    CHECK(row);
    *out = (struct host_pulse){
        .draining = db_int(stmt, 0) != 0,
        .living = db_int(stmt, 1),
        .leads = db_int(stmt, 2) == id,
        .expired = db_int(stmt, 3),
    };
    db_reset(stmt);
    return STATUS_OK;
}

enum status store_host_renew(struct store *store, int64_t id, struct host_pulse *out,
                             struct err *err)
{
    struct host_pulse pulse = {0};
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK ||
        db_do(db, err, HOST_RENEW, "ii", id, store_now_us(store)) != STATUS_OK)
        return err_wrap(err, "renew the lease");
    if (db_changes(db) != 1)
        return err_set(err, STATUS_NOT_FOUND, "the lease of host %lld was taken", (long long)id);
    if (read_pulse(store, id, &pulse, err) != STATUS_OK || db_commit(db, err) != STATUS_OK)
        return err_wrap(err, "renew the lease");
    *out = pulse;
    return STATUS_OK;
}

static enum status set_draining(struct store *store, int64_t id, bool drain, const char *actor,
                                struct err *err)
{
    struct db *db = store->db;
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const char *data = arena_format(arena, "{\"host\":\"%lld\"}", (long long)id);
    if (db_do(db, err, DRAIN, "ii", id, (int64_t)drain) != STATUS_OK)
        return err->code;
    if (db_changes(db) != 1)
        return err_set(err, STATUS_NOT_FOUND, "there is no living host %lld", (long long)id);
    enum event_kind kind = drain ? EVENT_HOST_DRAINED : EVENT_HOST_RESUMED;
    if (store_tell(store, kind, actor, data, err) != STATUS_OK)
        return err->code;
    return db_notify(db, STORE_CHANNEL_STOP, "", err);
}

enum status store_host_drain(struct store *store, int64_t id, bool drain, const char *actor,
                             struct err *err)
{
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK || set_draining(store, id, drain, actor, err) != STATUS_OK ||
        db_commit(db, err) != STATUS_OK)
        return err_wrap(err, drain ? "drain" : "resume");
    return STATUS_OK;
}

/* --- looking --------------------------------------------------------------------------------- */

static const char HOST_LIST[] =
    "SELECT h.id, h.name, h.kind, h.pid, h.slots, h.started_at_us, h.ended_at_us,"
    " (SELECT count(*) FROM running r WHERE r.host = h.id), h.machine, h.version, h.roles,"
    " h.labels, h.queues, h.boot, h.fate, h.draining, h.lease_ms, h.renewed_at_us,"
    " h.lease_until_us, (SELECT coalesce(min(o.id), 0) FROM host o WHERE o.ended_at_us IS NULL"
    " AND o.lease_until_us > $2 AND o.kind = 'daemon') FROM host h"
    " WHERE $1 = 1 OR h.ended_at_us IS NULL ORDER BY h.id DESC";
static const char HOST_BY_NAME[] =
    "SELECT id FROM host WHERE name = $1 AND ended_at_us IS NULL"
    " ORDER BY CASE kind WHEN 'daemon' THEN 0 WHEN 'http' THEN 2 ELSE 1 END, id DESC LIMIT 1";
static const char HOST_LIVES[] = "SELECT count(*) FROM host WHERE id = $1 AND ended_at_us IS NULL"
                                 " AND (lease_ms = 0 OR lease_until_us > $2)";
static const char HOST_OF_RUN[] = "SELECT DISTINCT r.host FROM running r JOIN task t"
                                  " ON t.id = r.task WHERE t.run = $1";

static struct host_info read_host(struct db_stmt *stmt, int64_t now_us)
{
    struct host_info info = {
        .id = db_int(stmt, 0),
        .name = db_text(stmt, 1),
        .kind = db_text(stmt, 2),
        .pid = db_int(stmt, 3),
        .slots = db_int(stmt, 4),
        .started_at_us = db_int(stmt, 5),
        .ended_at_us = db_int(stmt, 6),
        .holds = db_int(stmt, 7),
        .machine = db_text(stmt, 8),
        .version = db_text(stmt, 9),
        .roles = db_text(stmt, 10),
        .labels = db_text(stmt, 11),
        .queues = db_text(stmt, 12),
        .boot = db_text(stmt, 13),
        .fate = db_text(stmt, 14),
        .draining = db_int(stmt, 15) != 0,
        .stopping = db_int(stmt, 15) == 2,
        .lease_ms = db_int(stmt, 16),
        .renewed_at_us = db_int(stmt, 17),
        .lease_until_us = db_int(stmt, 18),
        .leads = db_int(stmt, 19) == db_int(stmt, 0),
    };
    info.has_expired = info.lease_ms > 0 && info.ended_at_us == 0 && info.lease_until_us <= now_us;
    return info;
}

enum status store_host_each(struct store *store, bool with_ended,
                            enum status (*each)(void *context, const struct host_info *info,
                                                struct err *err),
                            void *context, struct err *err)
{
    struct db_stmt *stmt = NULL;
    int64_t now_us = store_now_us(store);
    enum status status =
        db_query(store->db, &stmt, err, HOST_LIST, "ii", (int64_t)with_ended, now_us);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        struct host_info info = read_host(stmt, now_us);
        status = each(context, &info, err);
        if (status != STATUS_OK)
            db_reset(stmt);
    }
    return status;
}

enum status store_host_find(struct store *store, const char *text, int64_t *out_id, struct err *err)
{
    int64_t id = 0;
    int64_t found = 0;
    if (str_parse_i64(text, 1, INT64_MAX, &id) &&
        db_get_int(store->db, 0, &found, err, HOST_BY_ID, "i", id) != STATUS_OK)
        return err->code;
    if (found == 0 && db_get_int(store->db, 0, &found, err, HOST_BY_NAME, "t", text) != STATUS_OK)
        return err->code;
    if (found == 0)
        return err_set(err, STATUS_NOT_FOUND,
                       "there is no host '%s'; `eider hosts list` shows them", text);
    *out_id = found;
    return STATUS_OK;
}

enum status store_host_is_alive(struct store *store, int64_t id, bool *out, struct err *err)
{
    int64_t living = 0;
    if (db_get_int(store->db, 0, &living, err, HOST_LIVES, "ii", id, store_now_us(store)) !=
        STATUS_OK)
        return err_wrap(err, "look at host %lld", (long long)id);
    *out = living == 1;
    return STATUS_OK;
}

enum status store_host_of_run(struct store *store, int64_t run,
                              void (*each)(void *context, int64_t host), void *context,
                              struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status = db_query(store->db, &stmt, err, HOST_OF_RUN, "i", run);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        each(context, db_int(stmt, 0));
    }
    return status;
}
