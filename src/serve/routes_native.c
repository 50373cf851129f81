/*
 * What pictures need, and DAGs and runs by their own names. The table is fenced off from the
 * formatter because it is read by column.
 */
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "serve/ask.h"
#include "serve/native_rows.h"
#include "service/graph_part.h"

/* --- what is sent ---------------------------------------------------------------------------- */

static json_t *new_object(void)
{
    json_t *object = json_object();
    CHECK(object != NULL);
    return object;
}

static bool is_described(const struct operation_schema *schema, const char *name)
{
    for (size_t i = 0; i < schema->count; i++)
        if (strcmp(schema->fields[i].name, name) == 0)
            return true;
    return false;
}

/* For rows with shapers: nothing but what their description names. */
static enum status check_sent(const struct route_call *call, struct err *err)
{
    const char *key;
    json_t *value;
    if (call->request->query.count > 0)
        return err_set(err, STATUS_INVALID, "unknown query parameter '%.60s'",
                       call->request->query.items[0].name);
    if (call->body != NULL && !json_is_object(call->body))
        return err_set(err, STATUS_INVALID, "the body must be a JSON object");
    json_object_foreach(call->body, key, value)
    {
        if (!is_described(call->route->body, key))
            return err_set(err, STATUS_INVALID, "unknown field '%.60s'", key);
    }
    return STATUS_OK;
}

/* --- validate -------------------------------------------------------------------------------- */

/* Only texts: files of the server are not the sender's business. */
static enum status ask_validate(const struct route_call *call, json_t **out, struct err *err)
{
    if (check_sent(call, err) != STATUS_OK)
        return err->code;
    json_t *text = json_object_get(call->body, "text");
    json_t *name = json_object_get(call->body, "name");
    json_t *texts = json_object_get(call->body, "texts");
    if ((text == NULL) == (texts == NULL))
        return err_set(err, STATUS_INVALID, "give either 'text', with its 'name', or 'texts'");
    if ((text != NULL && !json_is_string(text)) || (name != NULL && !json_is_string(name)))
        return err_set(err, STATUS_INVALID, "'text' and 'name' must be strings");
    json_t *request = new_object();
    if (texts == NULL) {
        texts = new_object();
        json_put(texts, name != NULL ? json_string_value(name) : "dag.yaml", json_incref(text));
        json_put(request, "texts", texts);
    } else {
        json_put(request, "texts", json_incref(texts));
    }
    *out = request;
    return STATUS_OK;
}

/* --- graph ----------------------------------------------------------------------------------- */

/* Beside its DAG a run may be named by its id alone. */
static enum status ask_graph(const struct route_call *call, json_t **out, struct err *err)
{
    json_t *request = NULL;
    int64_t number = 0;
    if (ask_by_name(call, &request, err) != STATUS_OK)
        return err->code;
    const char *run = json_get_string(request, "run", NULL);
    if (run != NULL && strchr(run, '/') == NULL && !str_parse_i64(run, 1, INT64_MAX, &number)) {
        CLEANUP(mem_freep) char *full = mem_format("%s/%s", route_param(call, "dag"), run);
        json_put_string(request, "run", full);
    }
    *out = request;
    return STATUS_OK;
}

static const struct operation_field GRAPH[] = {
    {"run", FIELD_STRING, false, "with the states of this run: number, or its id"},
    {"version", FIELD_INTEGER, false, "number of a version; the current one by default"},
    GRAPH_PART,
};
static const struct operation_schema GRAPH_QUERY = {GRAPH, ARRAY_LEN(GRAPH)};

/* --- pause ----------------------------------------------------------------------------------- */

/* The operation takes many DAGs, the path names one. */
static enum status ask_one_dag(const struct route_call *call, json_t **out, struct err *err)
{
    if (check_sent(call, err) != STATUS_OK)
        return err->code;
    json_t *request = new_object();
    json_t *dags = json_array();
    CHECK(dags != NULL);
    CHECK(json_array_append_new(dags, json_string(route_param(call, "dag"))) == 0);
    json_put(request, "dags", dags);
    json_t *reason = json_object_get(call->body, "reason");
    if (reason != NULL)
        json_put(request, "reason", json_incref(reason));
    *out = request;
    return STATUS_OK;
}

static enum status answer_one_dag(const struct route_call *call, json_t *taken, json_t **out,
                                  struct err *err)
{
    (void)call;
    (void)err;
    *out = json_incref(json_array_get(json_object_get(taken, "dags"), 0));
    json_decref(taken);
    return STATUS_OK;
}

/* clang-format off */
static const struct operation_field VALIDATE[] = {
    {"text", FIELD_STRING, false, "a DAG file"},
    {"name", FIELD_STRING, false, "of that file, as problems show it; dag.yaml by default"},
    {"texts", FIELD_OBJECT, false, "instead: file name to text of several"},
};
static const struct operation_field PAUSE[] = {
    {"reason", FIELD_STRING, false, "why; kept with the change"},
};
static const struct operation_field PAUSED[] = {
    {"dag_id", FIELD_STRING, true, "the DAG"},
    {"is_paused", FIELD_BOOLEAN, true, "nothing of it starts by itself"},
    {"changed", FIELD_BOOLEAN, true, "it was not so before"},
};
static const struct operation_schema VALIDATE_BODY = {VALIDATE, ARRAY_LEN(VALIDATE)};
static const struct operation_schema PAUSE_BODY = {PAUSE, ARRAY_LEN(PAUSE)};
static const struct operation_schema PAUSED_RESPONSE = {PAUSED, ARRAY_LEN(PAUSED)};
#define PAUSING .ask = ask_one_dag, .answer = answer_one_dag, .body = &PAUSE_BODY, .response = &PAUSED_RESPONSE

static const struct route ROWS[] = {
    {NATIVE(GET,    "home",                            "home.show")},
    {NATIVE(GET,    "dag-rows",                        "dag.rows")},
    {NATIVE(GET,    "grid/{dag}",                      "dag.grid")},
    {NATIVE(GET,    "graph/{dag}",                     "dag.layout"),
        .ask = ask_graph, .query = &GRAPH_QUERY},
    {NATIVE(GET,    "gantt/{run}",                     "run.gantt")},
    {NATIVE(GET,    "calendar/{dag}",                  "dag.calendar")},
    {NATIVE(GET,    "explain/dags/{dag}",              "dag.explain")},
    {NATIVE(GET,    "explain/runs/{run}",              "run.explain")},
    {NATIVE(GET,    "explain/runs/{run}/tasks/{task}", "run.explain")},
    {NATIVE(GET,    "running/tasks",                   "task.running")},
    {NATIVE(GET,    "search",                          "search.find")},
    {NATIVE(GET,    "simulate",                        "schedule.simulate")},
    {NATIVE(POST,   "render",                          "task.render")},
    {NATIVE(POST,   "schedule/preview",                "schedule.preview")},
    {NATIVE(POST,   "validate",                        "dag.validate"),
        .ask = ask_validate, .body = &VALIDATE_BODY},

    {NATIVE(GET,    "dags",                            "dag.list")},
    {NATIVE(GET,    "dags/{dag}",                      "dag.show")},
    {NATIVE(DELETE, "dags/{dag}",                      "dag.delete")},
    {NATIVE(GET,    "dags/{dag}/diff",                 "dag.diff")},
    {NATIVE(GET,    "dags/{dag}/next",                 "dag.next")},
    {NATIVE(POST,   "dags/{dag}/pause",                "dag.pause"), PAUSING},
    {NATIVE(GET,    "dags/{dag}/picture",              "dag.graph")},
    {NATIVE(POST,   "dags/{dag}/rollback",             "dag.rollback")},
    {NATIVE(GET,    "dags/{dag}/source",               "dag.source")},
    {NATIVE(GET,    "dags/{dag}/tasks",                "task.list")},
    {NATIVE(GET,    "dags/{dag}/tasks/{task}",         "task.show")},
    {NATIVE(POST,   "dags/{dag}/trigger",              "dag.trigger")},
    {NATIVE(POST,   "dags/{dag}/unpause",              "dag.unpause"), PAUSING},
    {NATIVE(GET,    "dags/{dag}/versions",             "dag.versions")},
    {NATIVE(GET,    "import-errors",                   "dag.errors")},

    {NATIVE(GET,    "runs",                            "run.list")},
    {NATIVE(GET,    "runs/{run}",                      "run.show")},
    {NATIVE(DELETE, "runs/{run}",                      "run.delete")},
    {NATIVE(POST,   "runs/{run}/cancel",               "run.cancel")},
    {NATIVE(POST,   "runs/{run}/clear",                "task.clear")},
    {NATIVE(POST,   "runs/{run}/note",                 "run.note")},
    {NATIVE(POST,   "runs/{run}/rerun",                "run.rerun")},
    {NATIVE(POST,   "runs/{run}/retry",                "run.retry")},
    {NATIVE(GET,    "runs/{run}/tasks",                "run.tasks")},
    {NATIVE(POST,   "runs/{run}/tasks/{task}/mark",    "task.mark")},
    {NATIVE(POST,   "runs/{run}/tasks/{task}/note",    "task.note")},
    {NATIVE(GET,    "runs/{run}/tasks/{task}/find",    "log.find")},
    {NATIVE(GET,    "runs/{run}/tasks/{task}/lines",   "log.lines")},
    {NATIVE(GET,    "runs/{run}/values",               "run.values")},
    {NATIVE(GET,    "running",                         "run.active")},

    {NATIVE(GET,    "backfills",                       "backfill.list")},
    {NATIVE(POST,   "backfills",                       "backfill.create")},
    {NATIVE(GET,    "backfills/{backfill}",            "backfill.show")},
    {NATIVE(POST,   "backfills/{backfill}/approve",    "backfill.approve")},
    {NATIVE(POST,   "backfills/{backfill}/cancel",     "backfill.cancel")},
    {NATIVE(POST,   "backfills/{backfill}/pause",      "backfill.pause")},
    {NATIVE(POST,   "backfills/{backfill}/resume",     "backfill.resume")},
    {NATIVE(POST,   "backfill-plan",                   "backfill.plan")},
};
/* clang-format on */

const struct route_table ROUTES_NATIVE = {ROWS, ARRAY_LEN(ROWS), NULL};
