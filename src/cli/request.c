#include "cli/request.h"

#include <string.h>
#include <sys/stat.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/limits.h"

json_t *request_new(void)
{
    json_t *request = json_object();
    CHECK(request != NULL);
    return request;
}

json_t *request_of_run(const struct parsed *parsed)
{
    json_t *request = request_new();
    json_put_string(request, "run", parsed->args[0]);
    return request;
}

json_t *request_of_job(const struct parsed *parsed, struct err *err)
{
    int64_t id = 0;
    if (!str_parse_i64(parsed->args[0], 1, INT64_MAX, &id)) {
        (void)err_set(err, STATUS_INVALID,
                      "'%.60s' is no id of a job; `eider jobs list` shows them", parsed->args[0]);
        return NULL;
    }
    json_t *request = request_new();
    json_put_id(request, "job", id);
    return request;
}

bool request_is_file(const char *argument)
{
    static const char *const SUFFIXES[] = {".yaml", ".yml", ".py"};
    if (argument[0] == '.' || strchr(argument, '/') != NULL) /* no id of a DAG */
        return true;
    for (size_t i = 0; i < ARRAY_LEN(SUFFIXES); i++)
        if (str_ends_with(argument, SUFFIXES[i]))
            return true;
    struct stat status;
    return stat(argument, &status) == 0 && S_ISREG(status.st_mode);
}

json_t *request_of_dag(const struct parsed *parsed)
{
    json_t *request = request_new();
    const char *name = parsed->args[0];
    json_put_string(request, request_is_file(name) ? "file" : "dag", name);
    if (request_is_file(name))
        request_put_option(request, parsed, "dag", "dag");
    return request;
}

void request_put_option(json_t *request, const struct parsed *parsed, const char *option,
                        const char *key)
{
    const char *value = parsed_get(parsed, option, NULL);
    if (value != NULL)
        json_put_string(request, key, value);
}

enum status request_put_int(json_t *request, const struct parsed *parsed, const char *option,
                            const char *key, int64_t most, struct err *err)
{
    const struct int_bounds bounds = {.most = most};
    int64_t value = 0;
    if (!parsed_has(parsed, option))
        return STATUS_OK;
    if (parsed_get_int(parsed, option, &bounds, &value, err) != STATUS_OK)
        return err->code;
    json_put_int(request, key, value);
    return STATUS_OK;
}

enum status request_params(const struct parsed *parsed, json_t **out, struct err *err)
{
    json_t *params = NULL;
    const char *text;
    for (size_t i = 0; (text = parsed_get_nth(parsed, "param", i)) != NULL; i++) {
        const char *equals = strchr(text, '=');
        if (equals == NULL || equals == text) {
            json_decref(params);
            return err_set(err, STATUS_INVALID, "-p %.80s: write KEY=VALUE", text);
        }
        CLEANUP(mem_freep) char *key = mem_strndup(text, (size_t)(equals - text));
        if (params == NULL)
            params = request_new();
        json_t *value = json_text(equals + 1, strlen(equals + 1));
        if (value == NULL || json_object_set_new(params, key, value) != 0) {
            json_decref(params);
            return err_set(err, STATUS_INVALID, "-p %.80s: the name is not valid text", text);
        }
    }
    *out = params;
    return STATUS_OK;
}

enum status request_conf(const struct parsed *parsed, json_t **out, struct err *err)
{
    const char *text = parsed_get(parsed, "conf", NULL);
    json_t *conf = NULL;
    if (text != NULL) {
        size_t length = strlen(text);
        if (length > LIMIT_PARAMS_BYTES)
            return err_set(err, STATUS_LIMIT, "--conf has more than %d bytes", LIMIT_PARAMS_BYTES);
        if (json_parse(text, length, &conf, err) != STATUS_OK)
            return err_wrap(err, "--conf");
        if (!json_is_object(conf)) {
            json_decref(conf);
            return err_set(err, STATUS_INVALID, "--conf must be a JSON object");
        }
    }
    *out = conf;
    return STATUS_OK;
}

enum status request_date(const struct parsed *parsed, bool *out_given, int64_t *out_us,
                         struct err *err)
{
    const char *text = parsed_get(parsed, "date", NULL);
    int64_t at_us = 0;
    if (text != NULL && !instant_parse(text, &at_us))
        return err_set(err, STATUS_INVALID,
                       "--date: '%.60s' is no date; write 2026-01-15 or 2026-01-15T02:00:00Z",
                       text);
    *out_given = text != NULL;
    *out_us = at_us;
    return STATUS_OK;
}
