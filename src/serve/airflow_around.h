#pragma once
/*
 * airflow_around: datasets, problems of DAG files, events, settings, backfills and versions as
 * Airflow's clients know them, and lists of what there is none of.
 */
#include "serve/airflow.h"

enum status airflow_ask_datasets(const struct route_call *call, json_t **out, struct err *err);
enum status airflow_answer_datasets(const struct route_call *call, json_t *taken, json_t **out,
                                    struct err *err);
enum status airflow_ask_dataset(const struct route_call *call, json_t **out, struct err *err);
enum status airflow_answer_dataset(const struct route_call *call, json_t *taken, json_t **out,
                                   struct err *err);
enum status airflow_ask_dataset_events(const struct route_call *call, json_t **out,
                                       struct err *err);
enum status airflow_answer_dataset_events(const struct route_call *call, json_t *taken,
                                          json_t **out, struct err *err);
enum status airflow_ask_dataset_emit(const struct route_call *call, json_t **out, struct err *err);
enum status airflow_answer_dataset_emit(const struct route_call *call, json_t *taken, json_t **out,
                                        struct err *err);
enum status airflow_answer_queued(const struct route_call *call, json_t *taken, json_t **out,
                                  struct err *err);

enum status airflow_answer_errors(const struct route_call *call, json_t *taken, json_t **out,
                                  struct err *err);
enum status airflow_answer_error(const struct route_call *call, json_t *taken, json_t **out,
                                 struct err *err);
enum status airflow_ask_warnings(const struct route_call *call, json_t **out, struct err *err);
enum status airflow_answer_warnings(const struct route_call *call, json_t *taken, json_t **out,
                                    struct err *err);

enum status airflow_ask_event_logs(const struct route_call *call, json_t **out, struct err *err);
enum status airflow_answer_event_logs(const struct route_call *call, json_t *taken, json_t **out,
                                      struct err *err);
enum status airflow_ask_event_log(const struct route_call *call, json_t **out, struct err *err);
enum status airflow_answer_event_log(const struct route_call *call, json_t *taken, json_t **out,
                                     struct err *err);

enum status airflow_handle_config(struct route_call *call, struct http_response *out,
                                  struct err *err);
enum status airflow_handle_plugins(struct route_call *call, struct http_response *out,
                                   struct err *err);
enum status airflow_handle_providers(struct route_call *call, struct http_response *out,
                                     struct err *err);

enum status airflow_ask_backfills(const struct route_call *call, json_t **out, struct err *err);
enum status airflow_ask_backfill(const struct route_call *call, json_t **out, struct err *err);
enum status airflow_ask_backfill_post(const struct route_call *call, json_t **out, struct err *err);
enum status airflow_answer_backfills(const struct route_call *call, json_t *taken, json_t **out,
                                     struct err *err);
enum status airflow_answer_backfill(const struct route_call *call, json_t *taken, json_t **out,
                                    struct err *err);
