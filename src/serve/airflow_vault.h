#pragma once
/*
 * airflow_vault: pools, variables and connections as Airflow's clients know them. Secrets go in and
 * never come out.
 */
#include "serve/airflow.h"

enum status airflow_answer_pools(const struct route_call *call, json_t *taken, json_t **out,
                                 struct err *err);
enum status airflow_ask_pool(const struct route_call *call, json_t **out, struct err *err);
enum status airflow_answer_pool(const struct route_call *call, json_t *taken, json_t **out,
                                struct err *err);
enum status airflow_handle_pool_post(struct route_call *call, struct http_response *out,
                                     struct err *err);
enum status airflow_handle_pool_patch(struct route_call *call, struct http_response *out,
                                      struct err *err);

enum status airflow_answer_variables(const struct route_call *call, json_t *taken, json_t **out,
                                     struct err *err);
enum status airflow_ask_variable(const struct route_call *call, json_t **out, struct err *err);
enum status airflow_answer_variable(const struct route_call *call, json_t *taken, json_t **out,
                                    struct err *err);
enum status airflow_ask_variable_post(const struct route_call *call, json_t **out, struct err *err);
enum status airflow_handle_variable_patch(struct route_call *call, struct http_response *out,
                                          struct err *err);

enum status airflow_answer_connections(const struct route_call *call, json_t *taken, json_t **out,
                                       struct err *err);
enum status airflow_ask_connection(const struct route_call *call, json_t **out, struct err *err);
enum status airflow_answer_connection(const struct route_call *call, json_t *taken, json_t **out,
                                      struct err *err);
enum status airflow_handle_connection_post(struct route_call *call, struct http_response *out,
                                           struct err *err);
enum status airflow_ask_connection_patch(const struct route_call *call, json_t **out,
                                         struct err *err);
enum status airflow_handle_connection_test(struct route_call *call, struct http_response *out,
                                           struct err *err);

/*
 * "namespace" of the request: that of the query or of the body, either of which may be NULL; else
 * the only one that whoever asks has, else `default`. STATUS_INVALID when the two differ.
 */
NODISCARD enum status airflow_put_space(const struct route_call *call, const json_t *query,
                                        const json_t *body, json_t *request, struct err *err);
/* A list of a namespace. */
enum status airflow_ask_spaced(const struct route_call *call, json_t **out, struct err *err);
/* One of a namespace, by the name that the path has as `param`. */
NODISCARD enum status airflow_ask_named(const struct route_call *call, const char *param,
                                        json_t **out, struct err *err);

/* A list without anything asked of it: pages are cut from the answer. */
enum status airflow_ask_nothing(const struct route_call *call, json_t **out, struct err *err);
/* STATUS_CONFLICT when the operation finds what the request names, in its namespace or in all. */
NODISCARD enum status airflow_must_be_new(const struct route_call *call, const char *operation,
                                          json_t *taken_request, const char *what, struct err *err);
