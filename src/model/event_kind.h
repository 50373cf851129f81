#pragma once
/*
 * event_kind: what an event row tells. Stored as a number: add at the end only.
 */
#include <stdbool.h>

#include "base/attrs.h"

#define EVENT_KIND_MAP(X)                                                                          \
    X(NONE, "none")                                                                                \
    X(RUN_CREATED, "run_created")                                                                  \
    X(RUN_ENDED, "run_ended")                                                                      \
    X(RUN_CANCEL_ASKED, "run_cancel_asked")                                                        \
    X(RUN_REOPENED, "run_reopened")                                                                \
    X(RUN_NOTE, "run_note")                                                                        \
    X(TASK_ENDED, "task_ended")                                                                    \
    X(TASK_RETRY, "task_retry")                                                                    \
    X(TASK_LOST, "task_lost")                                                                      \
    X(TASK_RETURNED, "task_returned")                                                              \
    X(TASK_EXPANDED, "task_expanded")                                                              \
    X(TASK_CLEARED, "task_cleared")                                                                \
    X(TASK_MARKED, "task_marked")                                                                  \
    X(RUN_DELETED, "run_deleted")                                                                  \
    X(STORE_RESTORED, "store_restored")                                                            \
    X(HOST_DRAINED, "host_drained")                                                                \
    X(HOST_RESUMED, "host_resumed")                                                                \
    X(HOST_LOST, "host_lost")                                                                      \
    X(JOB_CANCEL_ASKED, "job_cancel_asked")                                                        \
    X(QUEUE_SET, "queue_set")                                                                      \
    X(QUEUE_DELETED, "queue_deleted")                                                              \
    X(JOB_RESCHEDULED, "job_rescheduled")                                                          \
    X(JOBS_PURGED, "jobs_purged")                                                                  \
    X(DEAD_PURGED, "dead_purged")                                                                  \
    X(VARIABLE_SET, "variable_set")                                                                \
    X(VARIABLE_DELETED, "variable_deleted")                                                        \
    X(CONNECTION_SET, "connection_set")                                                            \
    X(CONNECTION_DELETED, "connection_deleted")                                                    \
    X(SECRET_SET, "secret_set")                                                                    \
    X(SECRET_DELETED, "secret_deleted")                                                            \
    X(SECRETS_ROTATED, "secrets_rotated")                                                          \
    X(RUN_ADMITTED, "run_admitted")                                                                \
    X(DAG_PAUSED, "dag_paused")                                                                    \
    X(DAG_UNPAUSED, "dag_unpaused")                                                                \
    X(ASSET_EMITTED, "asset_emitted")                                                              \
    X(TRIGGER_REFUSED, "trigger_refused")                                                          \
    X(WEBHOOK_CREATED, "webhook_created")                                                          \
    X(WEBHOOK_DELETED, "webhook_deleted")                                                          \
    X(SLA_MISSED, "sla_missed")                                                                    \
    X(NOTICE_FAILED, "notice_failed")                                                              \
    X(NOTICE_RETRIED, "notice_retried")                                                            \
    X(NOTICE_TESTED, "notice_tested")                                                              \
    X(TASK_DEFERRED, "task_deferred")                                                              \
    X(BACKFILL_CREATED, "backfill_created")                                                        \
    X(BACKFILL_CHANGED, "backfill_changed")                                                        \
    X(BACKFILL_ENDED, "backfill_ended")                                                            \
    X(POOL_SET, "pool_set")                                                                        \
    X(POOL_DELETED, "pool_deleted")                                                                \
    X(LIMIT_SET, "limit_set")                                                                      \
    X(LIMIT_DELETED, "limit_deleted")                                                              \
    X(DAG_VERSION, "dag_version")                                                                  \
    X(DAG_ROLLED_BACK, "dag_rolled_back")                                                          \
    X(DAG_OFFERED, "dag_offered")                                                                  \
    X(DAG_WITHDRAWN, "dag_withdrawn")                                                              \
    X(DAG_DELETED, "dag_deleted")                                                                  \
    X(TASK_NOTE, "task_note")                                                                      \
    X(TASK_CANCEL_ASKED, "task_cancel_asked")                                                      \
    X(STORE_PRUNED, "store_pruned")                                                                \
    X(TASK_CLEAR_ASKED, "task_clear_asked")                                                        \
    X(USER_ADDED, "user_added")                                                                    \
    X(USER_CHANGED, "user_changed")                                                                \
    X(USER_REMOVED, "user_removed")                                                                \
    X(USER_SIGNED_IN, "user_signed_in")                                                            \
    X(USER_REFUSED, "user_refused")                                                                \
    X(TOKEN_ADDED, "token_added")                                                                  \
    X(TOKEN_REMOVED, "token_removed")                                                              \
    X(NAMESPACE_ADDED, "namespace_added")                                                          \
    X(NAMESPACE_REMOVED, "namespace_removed")

enum event_kind {
#define X(name, text) EVENT_##name,
    EVENT_KIND_MAP(X)
#undef X
        EVENT_KIND_COUNT
};

const char *event_kind_name(enum event_kind kind);
NODISCARD bool event_kind_parse(const char *name, enum event_kind *out);
/* Somebody wanted it: part of the audit trail, where the reason that was given is kept. */
bool event_kind_is_change(enum event_kind kind);
