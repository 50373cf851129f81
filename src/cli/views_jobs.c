/*
 * Columns of queues, pools, jobs, dead letters and hosts.
 */
#include "cli/views.h"

#define COLUMNS(table) .columns = (table), .columns_count = ARRAY_LEN(table)

/* Fenced off because a table is read by column. */
/* clang-format off */
static const struct column QUEUES[] = {
    {"QUEUE", "name", COLUMN_TEXT, false},
    {"STATE", "state", COLUMN_STATE, false},
    {"LATE", "late", COLUMN_TEXT, false},
    {"PRIORITY", "priority", COLUMN_NUMBER, false},
    {"PENDING", "pending", COLUMN_NUMBER, false},
    {"DELAYED", "delayed", COLUMN_NUMBER, false},
    {"RUNNING", "running", COLUMN_NUMBER, false},
    {"OLDEST", "oldest_wait", COLUMN_DURATION, false},
    {"HOSTS", "hosts", COLUMN_NUMBER, false},
    {"MAX RUNNING", "max_running", COLUMN_NUMBER, true},
    {"SHARE", "max_share", COLUMN_NUMBER, true},
    {"SOFT", "soft_pending", COLUMN_NUMBER, true},
    {"HARD", "hard_pending", COLUMN_NUMBER, true},
};
const struct view VIEW_QUEUES = {.list = "queues", COLUMNS(QUEUES), .empty = "no queues"};

static const struct column QUEUE[] = {
    {"Queue", "name", COLUMN_TEXT, false},
    {"State", "state", COLUMN_STATE, false},
    {"Late", "late", COLUMN_TEXT, false},
    {"Priority", "priority", COLUMN_NUMBER, false},
    {"Pending", "pending", COLUMN_NUMBER, false},
    {"Delayed", "delayed", COLUMN_NUMBER, false},
    {"Running", "running", COLUMN_NUMBER, false},
    {"Oldest wait", "oldest_wait", COLUMN_DURATION, false},
    {"Hosts", "hosts", COLUMN_NUMBER, false},
    {"Served", "served_at", COLUMN_INSTANT, false},
    {"Max running", "max_running", COLUMN_NUMBER, false},
    {"Share, percent", "max_share", COLUMN_NUMBER, false},
    {"Soft bound", "soft_pending", COLUMN_NUMBER, false},
    {"Hard bound", "hard_pending", COLUMN_NUMBER, false},
};
const struct view VIEW_QUEUE = {COLUMNS(QUEUE)};

static const struct column POOLS[] = {
    {"POOL", "name", COLUMN_TEXT, false},
    {"NAMESPACE", "namespace", COLUMN_TEXT, false},
    {"SLOTS", "slots", COLUMN_NUMBER, false},
    {"OCCUPIED", "occupied_slots", COLUMN_NUMBER, false},
    {"QUEUED", "queued_slots", COLUMN_NUMBER, false},
    {"OPEN", "open_slots", COLUMN_NUMBER, false},
    {"RUNNING", "running", COLUMN_NUMBER, true},
    {"WAITING", "waiting", COLUMN_NUMBER, true},
    {"DESCRIPTION", "description", COLUMN_TEXT, false},
};
const struct view VIEW_POOLS = {.list = "pools", COLUMNS(POOLS), .empty = "no pools"};

static const struct column POOL[] = {
    {"Pool", "name", COLUMN_TEXT, false},
    {"Namespace", "namespace", COLUMN_TEXT, false},
    {"Slots", "slots", COLUMN_NUMBER, false},
    {"Occupied", "occupied_slots", COLUMN_NUMBER, false},
    {"Queued", "queued_slots", COLUMN_NUMBER, false},
    {"Open", "open_slots", COLUMN_NUMBER, false},
    {"Running tasks", "running", COLUMN_NUMBER, false},
    {"Waiting tasks", "waiting", COLUMN_NUMBER, false},
    {"Description", "description", COLUMN_TEXT, false},
};
const struct view VIEW_POOL = {COLUMNS(POOL)};

static const struct column LIMITS[] = {
    {"OF", "kind", COLUMN_TEXT, false},
    {"NAME", "name", COLUMN_TEXT, false},
    {"MAX RUNNING", "max_running", COLUMN_NUMBER, false},
    {"RUNNING", "running", COLUMN_NUMBER, false},
    {"WAITING", "waiting", COLUMN_NUMBER, false},
};
const struct view VIEW_LIMITS = {.list = "limits", COLUMNS(LIMITS), .name = "name",
    .empty = "no limits"};

static const struct column JOBS[] = {
    {"ID", "id", COLUMN_TEXT, false},
    {"QUEUE", "queue", COLUMN_TEXT, false},
    {"HANDLER", "handler", COLUMN_TEXT, false},
    {"STATUS", "status", COLUMN_STATE, false},
    {"TRIES", "attempts", COLUMN_NUMBER, false},
    {"CREATED", "created_at", COLUMN_INSTANT, false},
    {"DURATION", "duration", COLUMN_DURATION, false},
    {"REASON", "reason", COLUMN_TEXT, false},
    {"PRIORITY", "priority", COLUMN_NUMBER, true},
    {"RUN AFTER", "run_after", COLUMN_INSTANT, true},
    {"CLAIMED BY", "claimed_by", COLUMN_TEXT, true},
    {"ERROR", "error", COLUMN_TEXT, true},
    {"PAYLOAD", "payload", COLUMN_JSON, true},
};
const struct view VIEW_JOBS = {.list = "jobs", COLUMNS(JOBS), .empty = "no jobs"};

static const struct column JOB[] = {
    {"Id", "id", COLUMN_TEXT, false},
    {"Status", "status", COLUMN_STATE, false},
    {"Queue", "queue", COLUMN_TEXT, false},
    {"Handler", "handler", COLUMN_TEXT, false},
    {"Payload", "payload", COLUMN_JSON, false},
    {"Priority", "priority", COLUMN_NUMBER, false},
    {"Tries", "attempts", COLUMN_NUMBER, false},
    {"Retries used", "retry_count", COLUMN_NUMBER, false},
    {"Retries", "retries", COLUMN_NUMBER, false},
    {"Claimed by", "claimed_by", COLUMN_TEXT, false},
    {"Created", "created_at", COLUMN_INSTANT, false},
    {"Run after", "run_after", COLUMN_INSTANT, false},
    {"Started", "start_date", COLUMN_INSTANT, false},
    {"Ended", "end_date", COLUMN_INSTANT, false},
    {"Duration", "duration", COLUMN_DURATION, false},
    {"Reason", "reason", COLUMN_TEXT, false},
    {"Message", "message", COLUMN_TEXT, false},
    {"Exit", "exit_code", COLUMN_TEXT, false},
    {"Result", "result", COLUMN_JSON, false},
    {"Error", "error", COLUMN_TEXT, false},
    {"Cancel asked", "cancel_asked", COLUMN_TEXT, true},
    {"Dead letter", "dead", COLUMN_TEXT, true},
    {"Dedupe key", "dedupe", COLUMN_TEXT, true},
    {"Timeout", "timeout", COLUMN_DURATION, true},
    {"On lost lease", "on_lost_lease", COLUMN_TEXT, true},
    {"By", "actor", COLUMN_TEXT, true},
};
const struct view VIEW_JOB = {COLUMNS(JOB)};

static const struct column ENQUEUED[] = {
    {"ID", "id", COLUMN_TEXT, false},
    {"EXISTED", "existed", COLUMN_TEXT, false},
};
const struct view VIEW_ENQUEUED = {.list = "jobs", COLUMNS(ENQUEUED)};

static const struct column BATCH[] = {
    {"Enqueued", "count", COLUMN_NUMBER, false},
    {"Existed", "existed", COLUMN_NUMBER, false},
};
const struct view VIEW_BATCH = {COLUMNS(BATCH)};

static const struct column PURGED[] = {{"Purged", "purged", COLUMN_NUMBER, false}};
const struct view VIEW_PURGED = {COLUMNS(PURGED)};

static const struct column LETTERS[] = {
    {"ID", "id", COLUMN_TEXT, false},
    {"KIND", "kind", COLUMN_TEXT, false},
    {"NAME", "name", COLUMN_TEXT, false},
    {"QUEUE", "queue", COLUMN_TEXT, false},
    {"DIED", "died_at", COLUMN_INSTANT, false},
    {"TRIES", "attempts", COLUMN_NUMBER, false},
    {"REASON", "reason", COLUMN_TEXT, false},
    {"MESSAGE", "message", COLUMN_TEXT, true},
    {"PAYLOAD", "payload", COLUMN_JSON, true},
};
const struct view VIEW_LETTERS = {.list = "letters", COLUMNS(LETTERS), .empty = "no dead letters"};

static const struct column LETTER[] = {
    {"Id", "id", COLUMN_TEXT, false},
    {"Kind", "kind", COLUMN_TEXT, false},
    {"Name", "name", COLUMN_TEXT, false},
    {"Queue", "queue", COLUMN_TEXT, false},
    {"Died", "died_at", COLUMN_INSTANT, false},
    {"Tries", "attempts", COLUMN_NUMBER, false},
    {"Reason", "reason", COLUMN_TEXT, false},
    {"Message", "message", COLUMN_TEXT, false},
    {"Payload", "payload", COLUMN_JSON, false},
};
const struct view VIEW_LETTER = {COLUMNS(LETTER)};

static const struct column HOSTS[] = {
    {"HOST", "name", COLUMN_TEXT, false},
    {"STATUS", "status", COLUMN_STATE, false},
    {"LEADER", "leader", COLUMN_TEXT, false},
    {"KIND", "kind", COLUMN_TEXT, false},
    {"USED", "slots_used", COLUMN_NUMBER, false},
    {"SLOTS", "slots", COLUMN_NUMBER, false},
    {"HEARD", "heartbeat_age", COLUMN_DURATION, false},
    {"SINCE", "birth", COLUMN_INSTANT, false},
    {"QUEUES", "queues", COLUMN_LIST, false},
    {"LABELS", "labels", COLUMN_LIST, false},
    {"ID", "id", COLUMN_TEXT, true},
    {"MACHINE", "machine", COLUMN_TEXT, true},
    {"PID", "pid", COLUMN_NUMBER, true},
    {"VERSION", "version", COLUMN_TEXT, true},
    {"ENDED", "ended_at", COLUMN_INSTANT, true},
};
const struct view VIEW_HOSTS = {.list = "hosts", COLUMNS(HOSTS), .empty = "no hosts"};

static const struct column HOST[] = {
    {"Id", "id", COLUMN_TEXT, false},
    {"Name", "name", COLUMN_TEXT, false},
    {"Status", "status", COLUMN_STATE, false},
    {"Leader", "leader", COLUMN_TEXT, false},
    {"Kind", "kind", COLUMN_TEXT, false},
    {"Machine", "machine", COLUMN_TEXT, false},
    {"Pid", "pid", COLUMN_NUMBER, false},
    {"Version", "version", COLUMN_TEXT, false},
    {"Since", "birth", COLUMN_INSTANT, false},
    {"Last heartbeat", "last_heartbeat", COLUMN_INSTANT, false},
    {"Ended", "ended_at", COLUMN_INSTANT, false},
    {"Slots", "slots", COLUMN_NUMBER, false},
    {"Used", "slots_used", COLUMN_NUMBER, false},
    {"Queues", "queues", COLUMN_LIST, false},
    {"Labels", "labels", COLUMN_LIST, false},
    {"Roles", "roles", COLUMN_LIST, false},
};
const struct view VIEW_HOST = {COLUMNS(HOST), .name = "name"};

static const struct column DESIRED[] = {
    {"Desired", "desired", COLUMN_NUMBER, false},
    {"Living", "living", COLUMN_NUMBER, false},
    {"Demand", "demand", COLUMN_NUMBER, false},
    {"Slots per host", "slots_per_host", COLUMN_NUMBER, false},
};
const struct view VIEW_DESIRED = {COLUMNS(DESIRED)};
/* clang-format on */
