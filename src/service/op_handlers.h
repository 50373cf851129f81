#pragma once
/*
 * op_handlers: the handler of every operation. What each takes and gives is in operations.c.
 */
#include "base/attrs.h"
#include "base/err.h"
#include "base/json.h"

struct service;

#define OPERATION_HANDLER(name)                                                                    \
    NODISCARD enum status name(struct service *service, const json_t *request, json_t **out,       \
                               struct err *err)

OPERATION_HANDLER(op_asset_emit);
OPERATION_HANDLER(op_asset_list);
OPERATION_HANDLER(op_asset_show);
OPERATION_HANDLER(op_audit_list);
OPERATION_HANDLER(op_event_list);
OPERATION_HANDLER(op_backfill_approve);
OPERATION_HANDLER(op_backfill_cancel);
OPERATION_HANDLER(op_backfill_create);
OPERATION_HANDLER(op_backfill_list);
OPERATION_HANDLER(op_backfill_pause);
OPERATION_HANDLER(op_backfill_plan);
OPERATION_HANDLER(op_backfill_resume);
OPERATION_HANDLER(op_backfill_show);
OPERATION_HANDLER(op_config_get);
OPERATION_HANDLER(op_config_list);
OPERATION_HANDLER(op_connection_delete);
OPERATION_HANDLER(op_connection_list);
OPERATION_HANDLER(op_connection_set);
OPERATION_HANDLER(op_connection_show);
OPERATION_HANDLER(op_connection_test);
OPERATION_HANDLER(op_dag_delete);
OPERATION_HANDLER(op_dag_diff);
OPERATION_HANDLER(op_dag_errors);
OPERATION_HANDLER(op_dag_graph);
OPERATION_HANDLER(op_dag_list);
OPERATION_HANDLER(op_dag_explain);
OPERATION_HANDLER(op_dag_next);
OPERATION_HANDLER(op_dag_pause);
OPERATION_HANDLER(op_dag_rollback);
OPERATION_HANDLER(op_dag_show);
OPERATION_HANDLER(op_dag_source);
OPERATION_HANDLER(op_dag_trigger);
OPERATION_HANDLER(op_dag_unpause);
OPERATION_HANDLER(op_dag_validate);
OPERATION_HANDLER(op_dag_versions);
OPERATION_HANDLER(op_dead_list);
OPERATION_HANDLER(op_dead_purge);
OPERATION_HANDLER(op_dead_requeue);
OPERATION_HANDLER(op_dead_show);
OPERATION_HANDLER(op_doctor_check);
OPERATION_HANDLER(op_host_desired);
OPERATION_HANDLER(op_host_drain);
OPERATION_HANDLER(op_host_list);
OPERATION_HANDLER(op_host_show);
OPERATION_HANDLER(op_job_cancel);
OPERATION_HANDLER(op_job_enqueue);
OPERATION_HANDLER(op_job_list);
OPERATION_HANDLER(op_job_bytes);
OPERATION_HANDLER(op_job_log);
OPERATION_HANDLER(op_job_purge);
OPERATION_HANDLER(op_job_reschedule);
OPERATION_HANDLER(op_job_retry);
OPERATION_HANDLER(op_job_show);
OPERATION_HANDLER(op_limit_delete);
OPERATION_HANDLER(op_limit_list);
OPERATION_HANDLER(op_limit_set);
OPERATION_HANDLER(op_log_bytes);
OPERATION_HANDLER(op_log_read);
OPERATION_HANDLER(op_notify_list);
OPERATION_HANDLER(op_notify_retry);
OPERATION_HANDLER(op_notify_test);
OPERATION_HANDLER(op_pool_delete);
OPERATION_HANDLER(op_pool_list);
OPERATION_HANDLER(op_pool_set);
OPERATION_HANDLER(op_pool_show);
OPERATION_HANDLER(op_queue_delete);
OPERATION_HANDLER(op_queue_list);
OPERATION_HANDLER(op_queue_set);
OPERATION_HANDLER(op_queue_show);
OPERATION_HANDLER(op_run_active);
OPERATION_HANDLER(op_run_cancel);
OPERATION_HANDLER(op_run_delete);
OPERATION_HANDLER(op_run_explain);
OPERATION_HANDLER(op_run_list);
OPERATION_HANDLER(op_run_note);
OPERATION_HANDLER(op_run_rerun);
OPERATION_HANDLER(op_run_retry);
OPERATION_HANDLER(op_run_show);
OPERATION_HANDLER(op_run_tasks);
OPERATION_HANDLER(op_run_values);
OPERATION_HANDLER(op_secret_delete);
OPERATION_HANDLER(op_secret_list);
OPERATION_HANDLER(op_secret_rotate);
OPERATION_HANDLER(op_secret_set);
OPERATION_HANDLER(op_secret_show);
OPERATION_HANDLER(op_sla_list);
OPERATION_HANDLER(op_sla_report);
OPERATION_HANDLER(op_store_backup);
OPERATION_HANDLER(op_store_check);
OPERATION_HANDLER(op_store_export);
OPERATION_HANDLER(op_store_import);
OPERATION_HANDLER(op_store_migrate);
OPERATION_HANDLER(op_store_prune);
OPERATION_HANDLER(op_simulate);
OPERATION_HANDLER(op_store_restore);
OPERATION_HANDLER(op_task_clear);
OPERATION_HANDLER(op_task_list);
OPERATION_HANDLER(op_task_mark);
OPERATION_HANDLER(op_task_note);
OPERATION_HANDLER(op_task_render);
OPERATION_HANDLER(op_task_show);
OPERATION_HANDLER(op_variable_delete);
OPERATION_HANDLER(op_variable_list);
OPERATION_HANDLER(op_variable_set);
OPERATION_HANDLER(op_variable_show);
OPERATION_HANDLER(op_webhook_create);
OPERATION_HANDLER(op_webhook_delete);
OPERATION_HANDLER(op_webhook_fire);
OPERATION_HANDLER(op_webhook_list);
