/*
 * Settings, backfills, and lists of what there is none of.
 */
#include <string.h>

#include "base/check.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "serve/airflow_around.h"
#include "serve/answer.h"
#include "service/json_build.h"

/* --- config ---------------------------------------------------------------------------------- */

#define SECTION "eider"

static json_t *options_of(const json_t *settings, const char *only)
{
    json_t *options = json_build_array();
    for (size_t i = 0; i < json_array_size(settings); i++) {
        const json_t *setting = json_array_get(settings, i);
        const char *key = json_get_string(setting, "key", "");
        if (only != NULL && !str_equal(key, only))
            continue;
        json_t *option = json_build_object();
        json_put_string(option, "key", key);
        json_put_string(option, "value", json_get_string(setting, "value", ""));
        json_build_append(options, option);
    }
    return options;
}

static void answer_ini(const json_t *options, struct http_response *out)
{
    CLEANUP(strbuf_fini) struct strbuf text;
    strbuf_init(&text, 1 << 20);
    strbuf_add(&text, "[" SECTION "]\n");
    for (size_t i = 0; i < json_array_size(options); i++)
        strbuf_addf(&text, "%s = %s\n", json_get_string(json_array_get(options, i), "key", ""),
                    json_get_string(json_array_get(options, i), "value", ""));
    answer_text(out, 200, "text/plain; charset=utf-8", text.text);
}

static void answer_sections(json_t *taken_options, struct http_response *out)
{
    json_t *answer = json_build_object();
    json_t *sections = json_build_array();
    json_t *section = json_build_object();
    json_put_string(section, "name", SECTION);
    json_put(section, "options", taken_options);
    json_build_append(sections, section);
    json_put(answer, "sections", sections);
    answer_json(out, 200, answer);
}

enum status airflow_handle_config(struct route_call *call, struct http_response *out,
                                  struct err *err)
{
    CLEANUP(json_decrefp) json_t *query = NULL;
    CLEANUP(json_decrefp) json_t *found = NULL;
    bool is_one = strstr(call->route->pattern, "{option}") != NULL;
    const char *accept = http_header(call->request, "Accept");
    if (airflow_query(call, &query, err) != STATUS_OK)
        return err->code;
    const char *section =
        is_one ? route_param(call, "section") : json_get_string(query, "section", SECTION);
    const char *option = is_one ? route_param(call, "option") : NULL;
    if (!str_equal(section, SECTION))
        return err_set(err, STATUS_NOT_FOUND,
                       "there is no section '%.60s': all settings are in '" SECTION "'", section);
    if (airflow_call(call, "config.list", json_build_object(), &found, err) != STATUS_OK)
        return err->code;
    CLEANUP(json_decrefp)
    json_t *options = options_of(json_object_get(found, "settings"), option);
    if (option != NULL && json_array_size(options) == 0)
        return err_set(err, STATUS_NOT_FOUND, "there is no setting '%.100s'", option);
    if (accept != NULL && strstr(accept, "text/plain") != NULL && strstr(accept, "json") == NULL)
        answer_ini(options, out);
    else
        answer_sections(TAKE(options), out);
    return STATUS_OK;
}

/* --- nothing --------------------------------------------------------------------------------- */

static enum status answer_none(struct route_call *call, const char *name, struct http_response *out,
                               struct err *err)
{
    CLEANUP(json_decrefp) json_t *query = NULL;
    if (airflow_query(call, &query, err) != STATUS_OK)
        return err->code;
    answer_json(out, 200, json_build_list(name, json_build_array()));
    return STATUS_OK;
}

enum status airflow_handle_plugins(struct route_call *call, struct http_response *out,
                                   struct err *err)
{
    return answer_none(call, "plugins", out, err);
}

enum status airflow_handle_providers(struct route_call *call, struct http_response *out,
                                     struct err *err)
{
    return answer_none(call, "providers", out, err);
}

/* --- backfills ------------------------------------------------------------------------------- */

static void shape(json_t *backfill)
{
    airflow_put_number(backfill, "id", backfill, "backfill");
    airflow_copy(backfill, "from", backfill, "from_date");
    airflow_copy(backfill, "to", backfill, "to_date");
    airflow_copy(backfill, "conf", backfill, "dag_run_conf");
    airflow_copy(backfill, "max_active", backfill, "max_active_runs");
    json_put_bool(backfill, "is_paused",
                  str_equal(json_get_string(backfill, "state", ""), "paused"));
    json_put(backfill, "completed_at", json_null());
    airflow_copy(backfill, "end_date", backfill, "completed_at");
}

enum status airflow_ask_backfills(const struct route_call *call, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *query = NULL;
    if (airflow_query(call, &query, err) != STATUS_OK)
        return err->code;
    *out = json_build_object();
    airflow_copy(query, "dag_id", *out, "dag");
    airflow_copy(query, "state", *out, "state");
    json_put_int(*out, "limit", 10000);
    return STATUS_OK;
}

enum status airflow_answer_backfills(const struct route_call *call, json_t *taken, json_t **out,
                                     struct err *err)
{
    static const char *const KEYS[] = {"id", "from_date", "to_date", NULL};
    CLEANUP(json_decrefp) json_t *answer = taken;
    CLEANUP(json_decrefp) json_t *query = NULL;
    const json_t *backfills = json_object_get(answer, "backfills");
    if (airflow_query(call, &query, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < json_array_size(backfills); i++)
        shape(json_array_get(backfills, i));
    return airflow_slice(query, "backfills", json_incref((json_t *)(uintptr_t)backfills), KEYS, out,
                         err);
}

enum status airflow_ask_backfill(const struct route_call *call, json_t **out, struct err *err)
{
    int64_t id = 0;
    CLEANUP(json_decrefp) json_t *body = NULL;
    if (call->route->body != NULL && airflow_body(call, &body, err) != STATUS_OK)
        return err->code;
    if (!str_parse_i64(route_param(call, "backfill_id"), 1, INT64_MAX, &id))
        return err_set(err, STATUS_NOT_FOUND, "there is no backfill '%.60s'",
                       route_param(call, "backfill_id"));
    *out = json_build_object();
    json_put_id(*out, "backfill", id);
    airflow_copy(body, "reason", *out, "reason");
    return STATUS_OK;
}

enum status airflow_ask_backfill_post(const struct route_call *call, json_t **out, struct err *err)
{
    static const struct airflow_word SAME[] = {
        {"dag_id", "dag"},        {"from_date", "from"},
        {"to_date", "to"},        {"max_active_runs", "max_active"},
        {"dag_run_conf", "conf"}, {"reprocess_behavior", "redo"},
    };
    CLEANUP(json_decrefp) json_t *body = NULL;
    if (airflow_body(call, &body, err) != STATUS_OK)
        return err->code;
    const char *redo = json_get_string(body, "reprocess_behavior", NULL);
    if (redo != NULL && str_equal(redo, "completed"))
        json_put_string(body, "reprocess_behavior", "all");
    *out = json_build_object();
    airflow_copy_words(body, SAME, ARRAY_LEN(SAME), *out);
    if (json_get_bool(body, "run_backwards", false))
        json_put_string(*out, "order", "desc");
    return STATUS_OK;
}

enum status airflow_answer_backfill(const struct route_call *call, json_t *taken, json_t **out,
                                    struct err *err)
{
    (void)call;
    (void)err;
    shape(taken);
    *out = taken;
    return STATUS_OK;
}
