/*
 * Events as log entries, and the problems of DAG files.
 */
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "serve/airflow_around.h"
#include "service/json_build.h"

/* --- eventLogs ------------------------------------------------------------------------------- */

static json_t *shape(const json_t *ours)
{
    json_t *entry = json_build_object();
    CLEANUP(mem_freep) char *extra = json_format(json_object_get(ours, "details"));
    airflow_put_number(entry, "event_log_id", ours, "id");
    json_put_string(entry, "when", json_get_string(ours, "at", NULL));
    json_put_string(entry, "event", json_get_string(ours, "kind", ""));
    json_put_string(entry, "owner", json_get_string(ours, "actor", NULL));
    json_put_string(entry, "dag_id", json_get_string(ours, "dag_id", NULL));
    json_put_string(entry, "run_id", json_get_string(ours, "dag_run_id", NULL));
    json_put_string(entry, "task_id", json_get_string(ours, "task_id", NULL));
    json_put(entry, "map_index", json_null());
    json_put(entry, "try_number", json_null());
    airflow_copy(ours, "map_index", entry, "map_index");
    airflow_copy(ours, "attempt", entry, "try_number");
    json_put(entry, "execution_date", json_null());
    json_put_string(entry, "extra", extra);
    return entry;
}

static void put_names(const json_t *query, const char *key, json_t *request, const char *as)
{
    const json_t *names = json_object_get(query, key);
    if (json_array_size(names) > 0)
        airflow_copy(query, key, request, as);
}

enum status airflow_ask_event_logs(const struct route_call *call, json_t **out, struct err *err)
{
    static const struct airflow_word ORDERS[] = {
        {"event_log_id", "id"}, {"id", "id"}, {"when", "id"}, {"dttm", "id"}};
    static const struct airflow_word SAME[] = {{"dag_id", "dag"},      {"task_id", "task"},
                                               {"run_id", "run_id"},   {"map_index", "map_index"},
                                               {"owner", "actor"},     {"try_number", "try_number"},
                                               {"after", "when_from"}, {"before", "when_to"}};
    CLEANUP(json_decrefp) json_t *request = json_build_object();
    CLEANUP(json_decrefp) json_t *query = NULL;
    if (airflow_list(call, ORDERS, ARRAY_LEN(ORDERS), request, &query, err) != STATUS_OK)
        return err->code;
    (void)json_object_del(request, "with_total");
    airflow_copy_words(query, SAME, ARRAY_LEN(SAME), request);
    airflow_copy(query, "cursor", request, "cursor");
    put_names(query, "included_events", request, "kinds");
    put_names(query, "excluded_events", request, "without");
    if (json_get_string(query, "event", NULL) != NULL) {
        json_t *kinds = json_build_array();
        json_build_append(kinds, json_incref(json_object_get(query, "event")));
        json_put(request, "kinds", kinds);
    }
    *out = TAKE(request);
    return STATUS_OK;
}

enum status airflow_answer_event_logs(const struct route_call *call, json_t *taken, json_t **out,
                                      struct err *err)
{
    (void)call;
    (void)err;
    CLEANUP(json_decrefp) json_t *cursor = json_incref(json_object_get(taken, "cursor"));
    *out = airflow_shape_page(taken, &(struct airflow_word){"event_logs", "events"}, shape);
    json_put(*out, "cursor", TAKE(cursor));
    return STATUS_OK;
}

enum status airflow_ask_event_log(const struct route_call *call, json_t **out, struct err *err)
{
    int64_t id = 0;
    if (!str_parse_i64(route_param(call, "event_log_id"), 1, INT64_MAX - 1, &id))
        return err_set(err, STATUS_NOT_FOUND, "there is no event '%.60s'",
                       route_param(call, "event_log_id"));
    *out = json_build_object();
    json_put_id(*out, "id", id);
    return STATUS_OK;
}

enum status airflow_answer_event_log(const struct route_call *call, json_t *taken, json_t **out,
                                     struct err *err)
{
    CLEANUP(json_decrefp) json_t *answer = taken;
    const json_t *event = json_array_get(json_object_get(answer, "events"), 0);
    if (event == NULL)
        return err_set(err, STATUS_NOT_FOUND, "there is no event %.60s",
                       route_param(call, "event_log_id"));
    *out = shape(event);
    return STATUS_OK;
}

/* --- importErrors ---------------------------------------------------------------------------- */

/* Files have no number; one that stays the same as long as the file is called so will do. */
static int64_t id_of(const char *file)
{
    uint64_t hash = 14695981039346656037U;
    for (const char *at = file; *at != '\0'; at++)
        hash = (hash ^ (unsigned char)*at) * 1099511628211U;
    return (int64_t)(hash >> 12); /* a number that every reader of JSON can hold */
}

static bool is_warning(const json_t *problem)
{
    return str_starts_with(json_get_string(problem, "message", ""), "warning: ");
}

static json_t *new_error(const json_t *problem)
{
    json_t *error = json_build_object();
    const char *file = json_get_string(problem, "file", "");
    json_put_int(error, "import_error_id", id_of(file));
    json_put_string(error, "filename", file);
    json_put_string(error, "timestamp", json_get_string(problem, "since", "1970-01-01T00:00:00Z"));
    json_put_string(error, "stack_trace", "");
    return error;
}

static void add_problem(struct arena *arena, json_t *error, const json_t *problem)
{
    json_put_string(error, "stack_trace",
                    arena_format(arena, "%s%s:%lld:%lld: %s\n",
                                 json_get_string(error, "stack_trace", ""),
                                 json_get_string(problem, "file", ""),
                                 (long long)json_get_int(problem, "line", 0),
                                 (long long)json_get_int(problem, "column", 0),
                                 json_get_string(problem, "message", "")));
}

/* One for each file, with all its problems; they come file by file. */
static json_t *errors_of(const struct route_call *call, const json_t *answer)
{
    const json_t *problems = json_object_get(answer, "errors");
    json_t *errors = json_build_array();
    for (size_t i = 0; i < json_array_size(problems); i++) {
        const json_t *problem = json_array_get(problems, i);
        json_t *last = json_array_get(errors, json_array_size(errors) - 1);
        if (is_warning(problem))
            continue;
        if (last == NULL || !str_equal(json_get_string(last, "filename", ""),
                                       json_get_string(problem, "file", ""))) {
            last = new_error(problem);
            json_build_append(errors, last);
        }
        add_problem(call->arena, last, problem);
    }
    return errors;
}

enum status airflow_answer_errors(const struct route_call *call, json_t *taken, json_t **out,
                                  struct err *err)
{
    static const char *const KEYS[] = {"filename", "import_error_id", "timestamp", NULL};
    CLEANUP(json_decrefp) json_t *answer = taken;
    CLEANUP(json_decrefp) json_t *query = NULL;
    if (airflow_query(call, &query, err) != STATUS_OK)
        return err->code;
    return airflow_slice(query, "import_errors", errors_of(call, answer), KEYS, out, err);
}

enum status airflow_answer_error(const struct route_call *call, json_t *taken, json_t **out,
                                 struct err *err)
{
    CLEANUP(json_decrefp) json_t *answer = taken;
    CLEANUP(json_decrefp) json_t *errors = errors_of(call, answer);
    int64_t id = 0;
    if (str_parse_i64(route_param(call, "import_error_id"), 0, INT64_MAX, &id))
        for (size_t i = 0; i < json_array_size(errors); i++)
            if (json_get_int(json_array_get(errors, i), "import_error_id", -1) == id) {
                *out = json_incref(json_array_get(errors, i));
                return STATUS_OK;
            }
    return err_set(err, STATUS_NOT_FOUND, "there is no import error '%.60s'",
                   route_param(call, "import_error_id"));
}

enum status airflow_ask_warnings(const struct route_call *call, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *query = NULL;
    if (airflow_query(call, &query, err) != STATUS_OK)
        return err->code;
    *out = json_build_object();
    if (json_object_get(query, "dag_id") != NULL)
        json_put_string(*out, "dag", json_get_string(query, "dag_id", ""));
    return STATUS_OK;
}

enum status airflow_answer_warnings(const struct route_call *call, json_t *taken, json_t **out,
                                    struct err *err)
{
    static const char *const KEYS[] = {"dag_id", "warning_type", "message", "timestamp", NULL};
    CLEANUP(json_decrefp) json_t *answer = taken;
    CLEANUP(json_decrefp) json_t *query = NULL;
    const json_t *problems = json_object_get(answer, "errors");
    if (airflow_query(call, &query, err) != STATUS_OK)
        return err->code;
    json_t *warnings = json_build_array();
    for (size_t i = 0; i < json_array_size(problems); i++) {
        const json_t *problem = json_array_get(problems, i);
        if (!is_warning(problem))
            continue;
        json_t *warning = json_build_object();
        json_put_string(warning, "dag_id", json_get_string(query, "dag_id", ""));
        json_put_string(warning, "warning_type", "circle of DAGs");
        json_put_string(warning, "message",
                        json_get_string(problem, "message", "") + strlen("warning: "));
        json_put_string(warning, "timestamp", "1970-01-01T00:00:00Z");
        json_build_append(warnings, warning);
    }
    return airflow_slice(query, "dag_warnings", warnings, KEYS, out, err);
}
