#pragma once
/*
 * airflow_dag: DAGs and their tasks as Airflow's clients know them.
 */
#include "serve/airflow.h"

enum status airflow_ask_dags(const struct route_call *call, json_t **out, struct err *err);
enum status airflow_answer_dags(const struct route_call *call, json_t *taken, json_t **out,
                                struct err *err);
enum status airflow_ask_dag(const struct route_call *call, json_t **out, struct err *err);
enum status airflow_answer_dag(const struct route_call *call, json_t *taken, json_t **out,
                               struct err *err);
enum status airflow_answer_details(const struct route_call *call, json_t *taken, json_t **out,
                                   struct err *err);
enum status airflow_ask_dag_post(const struct route_call *call, json_t **out, struct err *err);
enum status airflow_handle_dag_patch(struct route_call *call, struct http_response *out,
                                     struct err *err);
enum status airflow_handle_dags_patch(struct route_call *call, struct http_response *out,
                                      struct err *err);
enum status airflow_answer_dag_tasks(const struct route_call *call, json_t *taken, json_t **out,
                                     struct err *err);
enum status airflow_ask_dag_task(const struct route_call *call, json_t **out, struct err *err);
enum status airflow_answer_dag_task(const struct route_call *call, json_t *taken, json_t **out,
                                    struct err *err);
enum status airflow_handle_source(struct route_call *call, struct http_response *out,
                                  struct err *err);
enum status airflow_handle_stats(struct route_call *call, struct http_response *out,
                                 struct err *err);
