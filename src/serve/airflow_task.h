#pragma once
/*
 * airflow_task: task instances as Airflow's clients know them.
 */
#include "serve/airflow.h"

/* Change a task instance into one of theirs, ours' members beside. */
void airflow_task_shape(struct json_row *task);
/* The same of a JSON value, which is taken; a new reference. */
NODISCARD json_t *airflow_task_shaped(json_t *taken);
/* Change each of the member "task_instances" so. */
void airflow_tasks_shape(json_t *answer);
/* Of these instances: ids of tasks, each once; those of mapped ones speak for their task. */
NODISCARD json_t *airflow_task_ids(const json_t *instances);
/* dag_id, dag_run_id, task_id, execution_date and map_index alone; a new reference. */
NODISCARD json_t *airflow_task_reference(const json_t *task);

/*
 * Ids of tasks ordered for marking, by the tasks of their DAG as `task.list` gives them: children
 * first, since a parent that succeeded would let them begin. A new reference.
 */
NODISCARD json_t *airflow_children_first(const json_t *tasks, const json_t *names);

enum status airflow_ask_tasks(const struct route_call *call, json_t **out, struct err *err);
enum status airflow_ask_mapped(const struct route_call *call, json_t **out, struct err *err);
enum status airflow_ask_tasks_form(const struct route_call *call, json_t **out, struct err *err);
enum status airflow_answer_mapped(const struct route_call *call, json_t *taken, json_t **out,
                                  struct err *err);
/* Of tries, which are at hand as a whole. */
enum status airflow_answer_tries(const struct route_call *call, json_t *taken, json_t **out,
                                 struct err *err);
enum status airflow_answer_try(const struct route_call *call, json_t *taken, json_t **out,
                               struct err *err);
enum status airflow_ask_task(const struct route_call *call, json_t **out, struct err *err);
enum status airflow_answer_task(const struct route_call *call, json_t *taken, json_t **out,
                                struct err *err);
enum status airflow_ask_task_note(const struct route_call *call, json_t **out, struct err *err);
enum status airflow_ask_task_state(const struct route_call *call, json_t **out, struct err *err);
enum status airflow_answer_reference(const struct route_call *call, json_t *taken, json_t **out,
                                     struct err *err);
/* Why a task does not run, from what explains it. */
enum status airflow_answer_dependencies(const struct route_call *call, json_t *taken, json_t **out,
                                        struct err *err);
enum status airflow_answer_links(const struct route_call *call, json_t *taken, json_t **out,
                                 struct err *err);
enum status airflow_handle_clear(struct route_call *call, struct http_response *out,
                                 struct err *err);
enum status airflow_handle_states(struct route_call *call, struct http_response *out,
                                  struct err *err);
