#include "base/check.h"
#include "base/str.h"
#include "serve/airflow_vault.h"
#include "serve/answer.h"
#include "service/json_build.h"

enum status airflow_ask_nothing(const struct route_call *call, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *query = NULL;
    if (airflow_query(call, &query, err) != STATUS_OK)
        return err->code;
    *out = json_build_object();
    return STATUS_OK;
}

enum status airflow_must_be_new(const struct route_call *call, const char *operation,
                                json_t *taken_request, const char *what, struct err *err)
{
    CLEANUP(json_decrefp) json_t *found = NULL;
    CLEANUP(json_decrefp) json_t *request = taken_request;
    struct err problem = {0};
    enum status status = operation_call(call->operations, operation, request, &found, &problem);
    const char *space = json_get_string(found, "namespace", NULL);
    bool is_elsewhere =
        space != NULL && !str_equal(space, json_get_string(request, "namespace", NULL));
    if (status == STATUS_NOT_FOUND || (status == STATUS_OK && is_elsewhere))
        return STATUS_OK;
    if (status == STATUS_OK)
        return err_set(err, STATUS_CONFLICT, "the %s '%.100s' is there already; PATCH changes it",
                       what, json_get_string(request, "name", ""));
    *err = problem;
    return status;
}

static void shape(json_t *pool)
{
    json_put_int(pool, "running_slots", json_get_int(pool, "occupied_slots", 0));
    json_put_int(pool, "scheduled_slots", 0);
    json_put_int(pool, "deferred_slots", 0);
    json_put_bool(pool, "include_deferred", false);
}

enum status airflow_answer_pools(const struct route_call *call, json_t *taken, json_t **out,
                                 struct err *err)
{
    static const char *const KEYS[] = {
        "name",          "slots",           "occupied_slots", "open_slots", "queued_slots",
        "running_slots", "scheduled_slots", "deferred_slots", NULL};
    CLEANUP(json_decrefp) json_t *answer = taken;
    CLEANUP(json_decrefp) json_t *query = NULL;
    CLEANUP(json_decrefp) json_t *wanted = NULL;
    CLEANUP(json_decrefp) json_t *shown = json_build_array();
    const json_t *pools = json_object_get(answer, "pools");
    if (airflow_query(call, &query, err) != STATUS_OK ||
        airflow_ask_spaced(call, &wanted, err) != STATUS_OK)
        return err->code;
    const char *space = json_get_string(wanted, "namespace", "");
    for (size_t i = 0; i < json_array_size(pools); i++) {
        json_t *pool = json_array_get(pools, i);
        if (!str_equal(json_get_string(pool, "namespace", ""), space))
            continue;
        shape(pool);
        json_build_append(shown, json_incref(pool));
    }
    return airflow_slice(query, "pools", TAKE(shown), KEYS, out, err);
}

enum status airflow_ask_pool(const struct route_call *call, json_t **out, struct err *err)
{
    return airflow_ask_named(call, "pool_name", out, err);
}

enum status airflow_answer_pool(const struct route_call *call, json_t *taken, json_t **out,
                                struct err *err)
{
    (void)call;
    (void)err;
    shape(taken);
    *out = taken;
    return STATUS_OK;
}

static enum status check_deferred(const json_t *body, struct err *err)
{
    if (json_get_bool(body, "include_deferred", false))
        return err_set(
            err, STATUS_INVALID,
            "deferred tasks hold no slots of a pool: include_deferred can only be false");
    return STATUS_OK;
}

static enum status set_pool(const struct route_call *call, const json_t *body,
                            json_t *taken_request, struct http_response *out, struct err *err)
{
    json_t *pool = NULL;
    airflow_copy(body, "slots", taken_request, "slots");
    airflow_copy(body, "description", taken_request, "description");
    if (airflow_call(call, "pool.set", taken_request, &pool, err) != STATUS_OK)
        return err->code;
    shape(pool);
    answer_json(out, 200, pool);
    return STATUS_OK;
}

enum status airflow_handle_pool_post(struct route_call *call, struct http_response *out,
                                     struct err *err)
{
    CLEANUP(json_decrefp) json_t *body = NULL;
    CLEANUP(json_decrefp) json_t *request = json_build_object();
    if (airflow_body(call, &body, err) != STATUS_OK || check_deferred(body, err) != STATUS_OK ||
        airflow_put_space(call, NULL, body, request, err) != STATUS_OK)
        return err->code;
    json_put_string(request, "name", json_get_string(body, "name", ""));
    if (airflow_must_be_new(call, "pool.show", json_incref(request), "pool", err) != STATUS_OK)
        return err->code;
    return set_pool(call, body, TAKE(request), out, err);
}

enum status airflow_handle_pool_patch(struct route_call *call, struct http_response *out,
                                      struct err *err)
{
    CLEANUP(json_decrefp) json_t *query = NULL;
    CLEANUP(json_decrefp) json_t *body = NULL;
    CLEANUP(json_decrefp) json_t *before = NULL;
    CLEANUP(json_decrefp) json_t *request = json_build_object();
    const char *name = route_param(call, "pool_name");
    json_put_string(request, "name", name);
    if (airflow_query(call, &query, err) != STATUS_OK ||
        airflow_body(call, &body, err) != STATUS_OK ||
        airflow_put_space(call, query, body, request, err) != STATUS_OK ||
        airflow_mask(query, body, err) != STATUS_OK || check_deferred(body, err) != STATUS_OK ||
        airflow_call(call, "pool.show", json_incref(request), &before, err) != STATUS_OK)
        return err->code;
    if (!str_equal(json_get_string(body, "name", name), name))
        return err_set(err, STATUS_INVALID, "a pool keeps its name: make another one instead");
    return set_pool(call, body, TAKE(request), out, err);
}
