#pragma once
/*
 * airflow_run_data: what tasks printed and returned, as Airflow's clients know it.
 */
#include "serve/airflow.h"

enum status airflow_handle_log(struct route_call *call, struct http_response *out, struct err *err);

enum status airflow_ask_xcoms(const struct route_call *call, json_t **out, struct err *err);
enum status airflow_answer_xcoms(const struct route_call *call, json_t *taken, json_t **out,
                                 struct err *err);
enum status airflow_ask_xcom(const struct route_call *call, json_t **out, struct err *err);
enum status airflow_answer_xcom(const struct route_call *call, json_t *taken, json_t **out,
                                struct err *err);
