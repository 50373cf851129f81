#pragma once
/*
 * airflow_run: runs as Airflow's clients know them.
 */
#include "serve/airflow.h"

/* Change a run of ours into one of theirs, ours' members beside. */
void airflow_run_shape(json_t *run);

/* {logical,execution,start,end,updated_at}_{gte,lte} in our words. */
void airflow_put_ranges(const json_t *query, json_t *request);

enum status airflow_ask_runs(const struct route_call *call, json_t **out, struct err *err);
enum status airflow_ask_runs_form(const struct route_call *call, json_t **out, struct err *err);
enum status airflow_answer_runs(const struct route_call *call, json_t *taken, json_t **out,
                                struct err *err);
/* The run of the path, to be shown without the states of its tasks. */
enum status airflow_ask_run(const struct route_call *call, json_t **out, struct err *err);
enum status airflow_answer_run(const struct route_call *call, json_t *taken, json_t **out,
                               struct err *err);
enum status airflow_ask_trigger(const struct route_call *call, json_t **out, struct err *err);
/* The run of the path and nothing else. */
enum status airflow_ask_run_plain(const struct route_call *call, json_t **out, struct err *err);
enum status airflow_ask_run_note(const struct route_call *call, json_t **out, struct err *err);
enum status airflow_answer_upstream(const struct route_call *call, json_t *taken, json_t **out,
                                    struct err *err);
enum status airflow_handle_run_state(struct route_call *call, struct http_response *out,
                                     struct err *err);
enum status airflow_handle_run_clear(struct route_call *call, struct http_response *out,
                                     struct err *err);
