#include "model/event_kind.h"

#include <string.h>

#include "base/check.h"

static const char *const NAMES[] = {
#define X(name, text) [EVENT_##name] = text,
    EVENT_KIND_MAP(X)
#undef X
};
_Static_assert(ARRAY_LEN(NAMES) == EVENT_KIND_COUNT, "every kind has a name");

/* What merely follows, such as the end of a task, is not among them. */
static const bool CHANGES[EVENT_KIND_COUNT] = {
    [EVENT_RUN_CREATED] = true,       [EVENT_RUN_CANCEL_ASKED] = true,
    [EVENT_RUN_NOTE] = true,          [EVENT_TASK_CLEARED] = true,
    [EVENT_TASK_MARKED] = true,       [EVENT_TASK_NOTE] = true,
    [EVENT_TASK_CANCEL_ASKED] = true, [EVENT_RUN_DELETED] = true,
    [EVENT_STORE_RESTORED] = true,    [EVENT_STORE_PRUNED] = true,
    [EVENT_HOST_DRAINED] = true,      [EVENT_HOST_RESUMED] = true,
    [EVENT_JOB_CANCEL_ASKED] = true,  [EVENT_JOB_RESCHEDULED] = true,
    [EVENT_JOBS_PURGED] = true,       [EVENT_DEAD_PURGED] = true,
    [EVENT_QUEUE_SET] = true,         [EVENT_QUEUE_DELETED] = true,
    [EVENT_VARIABLE_SET] = true,      [EVENT_VARIABLE_DELETED] = true,
    [EVENT_CONNECTION_SET] = true,    [EVENT_CONNECTION_DELETED] = true,
    [EVENT_SECRET_SET] = true,        [EVENT_SECRET_DELETED] = true,
    [EVENT_SECRETS_ROTATED] = true,   [EVENT_DAG_PAUSED] = true,
    [EVENT_DAG_UNPAUSED] = true,      [EVENT_ASSET_EMITTED] = true,
    [EVENT_WEBHOOK_CREATED] = true,   [EVENT_WEBHOOK_DELETED] = true,
    [EVENT_NOTICE_RETRIED] = true,    [EVENT_NOTICE_TESTED] = true,
    [EVENT_BACKFILL_CREATED] = true,  [EVENT_BACKFILL_CHANGED] = true,
    [EVENT_POOL_SET] = true,          [EVENT_POOL_DELETED] = true,
    [EVENT_LIMIT_SET] = true,         [EVENT_LIMIT_DELETED] = true,
    [EVENT_DAG_VERSION] = true,       [EVENT_DAG_ROLLED_BACK] = true,
    [EVENT_DAG_DELETED] = true,       [EVENT_TASK_CLEAR_ASKED] = true,
    [EVENT_TRIGGER_REFUSED] = true,   [EVENT_USER_ADDED] = true,
    [EVENT_USER_CHANGED] = true,      [EVENT_USER_REMOVED] = true,
    [EVENT_USER_SIGNED_IN] = true,    [EVENT_USER_REFUSED] = true,
    [EVENT_TOKEN_ADDED] = true,       [EVENT_TOKEN_REMOVED] = true,
    [EVENT_NAMESPACE_ADDED] = true,   [EVENT_NAMESPACE_REMOVED] = true,
};

bool event_kind_is_change(enum event_kind kind)
{
    CHECK(kind < EVENT_KIND_COUNT);
    return CHANGES[kind];
}

const char *event_kind_name(enum event_kind kind)
{
    CHECK(kind < EVENT_KIND_COUNT);
    return NAMES[kind];
}

bool event_kind_parse(const char *name, enum event_kind *out)
{
    for (unsigned kind = 0; kind < EVENT_KIND_COUNT; kind++)
        if (strcmp(NAMES[kind], name) == 0) {
            *out = (enum event_kind)kind;
            return true;
        }
    return false;
}
