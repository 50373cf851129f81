#pragma once
/*
 * handlers: what the rows of the command table call. Each returns an exit code.
 */
struct cli;
struct parsed;

#define HANDLER_MAP(X)                                                                             \
    X(run)                                                                                         \
    X(test)                                                                                        \
    X(retry)                                                                                       \
    X(up)                                                                                          \
    X(dags_trigger)                                                                                \
    X(validate)                                                                                    \
    X(init)                                                                                        \
    X(ps)                                                                                          \
    X(logs)                                                                                        \
    X(explain)                                                                                     \
    X(stop)                                                                                        \
    X(mark)                                                                                        \
    X(dags_list)                                                                                   \
    X(dags_show)                                                                                   \
    X(dags_graph)                                                                                  \
    X(dags_source)                                                                                 \
    X(dags_versions)                                                                               \
    X(dags_diff)                                                                                   \
    X(dags_rollback)                                                                               \
    X(dags_errors)                                                                                 \
    X(dags_delete)                                                                                 \
    X(runs_rerun)                                                                                  \
    X(runs_list)                                                                                   \
    X(runs_show)                                                                                   \
    X(runs_tasks)                                                                                  \
    X(runs_graph)                                                                                  \
    X(runs_gantt)                                                                                  \
    X(runs_wait)                                                                                   \
    X(runs_delete)                                                                                 \
    X(runs_note)                                                                                   \
    X(runs_values)                                                                                 \
    X(tasks_list)                                                                                  \
    X(tasks_show)                                                                                  \
    X(tasks_render)                                                                                \
    X(tasks_clear)                                                                                 \
    X(enqueue)                                                                                     \
    X(queues_list)                                                                                 \
    X(queues_show)                                                                                 \
    X(queues_set)                                                                                  \
    X(queues_pause)                                                                                \
    X(queues_resume)                                                                               \
    X(queues_delete)                                                                               \
    X(jobs_list)                                                                                   \
    X(jobs_show)                                                                                   \
    X(jobs_wait)                                                                                   \
    X(jobs_logs)                                                                                   \
    X(jobs_cancel)                                                                                 \
    X(jobs_retry)                                                                                  \
    X(jobs_reschedule)                                                                             \
    X(jobs_purge)                                                                                  \
    X(dlq_list)                                                                                    \
    X(dlq_show)                                                                                    \
    X(dlq_requeue)                                                                                 \
    X(dlq_purge)                                                                                   \
    X(dlq_export)                                                                                  \
    X(hosts_list)                                                                                  \
    X(hosts_show)                                                                                  \
    X(hosts_drain)                                                                                 \
    X(hosts_resume)                                                                                \
    X(hosts_desired)                                                                               \
    X(store_check)                                                                                 \
    X(store_backup)                                                                                \
    X(store_restore)                                                                               \
    X(store_export)                                                                                \
    X(store_import)                                                                                \
    X(store_migrate)                                                                               \
    X(store_prune)                                                                                 \
    X(config_list)                                                                                 \
    X(config_get)                                                                                  \
    X(doctor)                                                                                      \
    X(prove)                                                                                       \
    X(completion)                                                                                  \
    X(version)                                                                                     \
    X(help)                                                                                        \
    X(man)                                                                                         \
    X(docs)

#define X(name) int cmd_##name(struct cli *cli, const struct parsed *parsed);
HANDLER_MAP(X)
#undef X
