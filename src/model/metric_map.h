#pragma once
/*
 * metric_map: the rows of the table of metrics, read by metric.h. The table is fenced off from the
 * formatter because it is read by column.
 */

/* clang-format off */
/*    name, text, type, labels, unit, buckets, source, help */
#define METRIC_MAP(X) \
    X(DAG_RUN_DURATION, "eider_dag_run_duration_seconds", HISTOGRAM, DAG_STATE, SECONDS, WORK, OF_PROCESS, \
        "From the start of a run to its end") \
    X(DAG_RUNS, "eider_dag_runs_total", COUNTER, DAG_STATE, NONE, NONE, OF_PROCESS, \
        "Runs that ended") \
    X(DAG_RUNS_ACTIVE, "eider_dag_runs_active", GAUGE, STATE, NONE, NONE, OF_STORE, \
        "Runs that are not over") \
    X(SCHEDULING_LATENCY, "eider_scheduling_latency_seconds", HISTOGRAM, NONE, SECONDS, QUICK, OF_PROCESS, \
        "From the moment a task or job could run to its claim by this host") \
    X(TASK_DURATION, "eider_task_duration_seconds", HISTOGRAM, TASK_STATE, SECONDS, WORK, OF_PROCESS, \
        "From the start of a task's last attempt to its end") \
    X(TASKS, "eider_tasks_total", COUNTER, TASK_STATE, NONE, NONE, OF_PROCESS, \
        "Tasks of runs that ended, those that never started included") \
    X(TASK_RETRIES, "eider_task_retries_total", COUNTER, TASK, NONE, NONE, OF_PROCESS, \
        "Attempts that failed and are followed by another") \
    X(TASKS_SCHEDULED, "eider_tasks_scheduled_total", COUNTER, NONE, NONE, NONE, OF_PROCESS, \
        "Attempts of tasks and jobs that were handed to this host") \
    X(TASKS_STARVING, "eider_tasks_starving", GAUGE, NONE, NONE, NONE, OF_STORE, \
        "Tasks that could run if their pool had an open slot") \
    X(TASKS_RECOVERED, "eider_tasks_recovered_total", COUNTER, NONE, NONE, NONE, OF_PROCESS, \
        "Tasks and jobs that were taken back from hosts that died") \
    X(JOBS_ENQUEUED, "eider_jobs_enqueued_total", COUNTER, QUEUE, NONE, NONE, OF_PROCESS, \
        "Jobs that were enqueued through this host") \
    X(JOBS_COMPLETED, "eider_jobs_completed_total", COUNTER, QUEUE_STATE, NONE, NONE, OF_PROCESS, \
        "Jobs that ended, by how") \
    X(JOBS_PENDING, "eider_jobs_pending", GAUGE, NONE, NONE, NONE, OF_STORE, \
        "Jobs that wait for a worker or for their time") \
    X(JOBS_CLAIMED, "eider_jobs_claimed", GAUGE, NONE, NONE, NONE, OF_STORE, \
        "Jobs that a worker has") \
    X(JOB_DURATION, "eider_job_duration_seconds", HISTOGRAM, QUEUE_STATE, SECONDS, WORK, OF_PROCESS, \
        "From the start of a job's last attempt to its end") \
    X(QUEUE_DEPTH, "eider_queue_depth", GAUGE, QUEUE, NONE, NONE, OF_STORE, \
        "Tasks and jobs in a queue that nobody has claimed, those that wait for their time included") \
    X(QUEUE_READY, "eider_queue_ready", GAUGE, QUEUE, NONE, NONE, OF_STORE, \
        "Tasks and jobs in a queue that can be claimed now") \
    X(QUEUE_OLDEST, "eider_queue_oldest_seconds", GAUGE, QUEUE, SECONDS, NONE, OF_STORE, \
        "How long the oldest claimable task of a queue has waited") \
    X(POOL_SLOTS, "eider_pool_slots", GAUGE, POOL_STATE, NONE, NONE, OF_STORE, \
        "Slots of a pool: open, occupied, or queued for") \
    X(CLAIM_LATENCY, "eider_claim_latency_seconds", HISTOGRAM, NONE, SECONDS, QUICK, OF_PROCESS, \
        "How long a transaction took that claimed something") \
    X(CLAIM_CONFLICTS, "eider_claim_conflicts_total", COUNTER, NONE, NONE, NONE, OF_PROCESS, \
        "Claims that had to be made again because others came in between") \
    X(CLAIM_BACKOFFS, "eider_claim_backoffs_total", COUNTER, NONE, NONE, NONE, OF_PROCESS, \
        "Times this host waited because the store did not take a claim") \
    X(HEARTBEAT_LAG, "eider_heartbeat_lag_seconds", GAUGE, HOST, SECONDS, NONE, OF_STORE, \
        "Since a living host renewed its lease; 0 where a lock tells that it lives") \
    X(LEADER_CHANGES, "eider_leader_changes_total", COUNTER, NONE, NONE, NONE, OF_STORE, \
        "Hosts that led the fleet and ended") \
    X(LEADER_DETECTION, "eider_leader_detection_seconds", HISTOGRAM, NONE, SECONDS, QUICK, OF_PROCESS, \
        "From the end of a leader, or of its lease, until this host knew that it leads") \
    X(DEAD_LETTERS, "eider_dead_letters", GAUGE, NONE, NONE, NONE, OF_STORE, \
        "Tasks and jobs that were given up and wait for somebody to look at them") \
    X(SLA_MISSES, "eider_sla_misses_total", COUNTER, TASK, NONE, NONE, OF_PROCESS, \
        "Deadlines that were missed; those of a run have no task_id") \
    X(SLA_MISS_DURATION, "eider_sla_miss_duration_seconds", HISTOGRAM, TASK, SECONDS, WORK, OF_PROCESS, \
        "How late it was when a missed deadline was noticed") \
    X(WORKER_ACTIVE_TASKS, "eider_worker_active_tasks", GAUGE, HOST, NONE, NONE, OF_STORE, \
        "Tasks and jobs that a living host holds") \
    X(WORKER_SLOTS, "eider_worker_slots", GAUGE, HOST, NONE, NONE, OF_STORE, \
        "Slots of a living host") \
    X(WORKERS_TARGET, "eider_workers_target", GAUGE, NONE, NONE, NONE, OF_STORE, \
        "Hosts that the work that waits and runs could use: a signal for scaling") \
    X(WORKER_CPU, "eider_worker_cpu_ratio", GAUGE, HOST, RATIO, NONE, OF_PROCESS, \
        "Load of this host's machine over the last minute; 1 is as much to do as it has cores") \
    X(WORKER_MEMORY, "eider_worker_memory_bytes", GAUGE, HOST, BYTES, NONE, OF_PROCESS, \
        "Memory of this host's machine that is in use and not to be had back at once") \
    X(ROWS_EXTRACTED, "eider_rows_extracted_total", COUNTER, TASK, NONE, NONE, OF_PROCESS, \
        "Rows that tasks read") \
    X(ROWS_LOADED, "eider_rows_loaded_total", COUNTER, TASK, NONE, NONE, OF_PROCESS, \
        "Rows that tasks wrote") \
    X(DATA_BYTES, "eider_data_bytes_total", COUNTER, TASK, BYTES, NONE, OF_PROCESS, \
        "Bytes of data that tasks moved") \
    X(THROTTLE_LIMIT, "eider_throttle_limit", GAUGE, THROTTLE, NONE, NONE, OF_STORE, \
        "What a throttle allows at once") \
    X(THROTTLE_INFLIGHT, "eider_throttle_inflight", GAUGE, THROTTLE, NONE, NONE, OF_STORE, \
        "What passes through a throttle now") \
    X(SCHEDULER_TICK, "eider_scheduler_tick_seconds", HISTOGRAM, NONE, SECONDS, QUICK, OF_PROCESS, \
        "How long one turn of this host's scheduler took") \
    X(DAGS_PARSED, "eider_dags_parsed_total", COUNTER, NONE, NONE, NONE, OF_PROCESS, \
        "DAG files that this host has read, again after each change") \
    X(STORE_COMMIT, "eider_store_commit_seconds", HISTOGRAM, NONE, SECONDS, QUICK, OF_PROCESS, \
        "How long the store took to make a transaction durable") \
    X(STORE_COMMIT_FAILURES, "eider_store_commit_failures_total", COUNTER, NONE, NONE, NONE, OF_PROCESS, \
        "Transactions that did not become durable, or of which it is not known") \
    X(STORE_BATCH, "eider_store_batch_size", HISTOGRAM, NONE, NONE, SIZE, OF_PROCESS, \
        "Outcomes of tasks that became durable together") \
    X(SPANS_SENT, "eider_spans_sent_total", COUNTER, NONE, NONE, NONE, OF_PROCESS, \
        "Spans that a collector of traces has taken") \
    X(SPANS_DROPPED, "eider_spans_dropped_total", COUNTER, NONE, NONE, NONE, OF_PROCESS, \
        "Spans that were dropped: too many waited, or the collector did not take them")
/* clang-format on */
