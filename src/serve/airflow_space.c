/*
 * Whose a pool, a variable or a connection is. Airflow knows no namespaces, and its clients name
 * none; who has only one of them means that.
 */
#include "base/check.h"
#include "base/str.h"
#include "serve/airflow_vault.h"
#include "serve/dispatch.h"
#include "service/json_build.h"

/* NULL: several, all or none. */
static const char *only_space(const struct principal *principal)
{
    const char *only = NULL;
    if (principal_sees_all(principal))
        return NULL;
    for (size_t i = 0; i < principal->count; i++) {
        const struct grant *grant = &principal->grants[i];
        if (grant->role < PERMISSION_VIEWER)
            continue;
        if (only != NULL && !str_equal(only, grant->space))
            return NULL;
        only = grant->space;
    }
    return only;
}

enum status airflow_put_space(const struct route_call *call, const json_t *query,
                              const json_t *body, json_t *request, struct err *err)
{
    const char *asked = json_get_string(query, "namespace", NULL);
    const char *said = json_get_string(body, "namespace", NULL);
    if (asked != NULL && said != NULL && !str_equal(asked, said))
        return err_set(err, STATUS_INVALID,
                       "'namespace' is '%.60s' in the query and '%.60s' in the body", asked, said);
    const char *own = only_space(&call->visitor->principal);
    json_put_string(request, "namespace",
                    asked != NULL  ? asked
                    : said != NULL ? said
                    : own != NULL  ? own
                                   : "default");
    return STATUS_OK;
}

enum status airflow_ask_spaced(const struct route_call *call, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *query = NULL;
    CLEANUP(json_decrefp) json_t *request = json_build_object();
    if (airflow_query(call, &query, err) != STATUS_OK ||
        airflow_put_space(call, query, NULL, request, err) != STATUS_OK)
        return err->code;
    *out = TAKE(request);
    return STATUS_OK;
}

enum status airflow_ask_named(const struct route_call *call, const char *param, json_t **out,
                              struct err *err)
{
    if (airflow_ask_spaced(call, out, err) != STATUS_OK)
        return err->code;
    json_put_string(*out, "name", route_param(call, param));
    return STATUS_OK;
}
