#include "worker/preview.h"

#include <libgen.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "model/timetable.h"
#include "os/zone_file.h"
#include "worker/run_context.h"
#include "worker/scope.h"

struct preview {
    struct attempt_scope scope;
    json_t *fields;
};

static void add_field(struct preview *preview, const char *field, const json_t *template)
{
    struct err err = {0};
    json_t *value = NULL;
    json_t *row = json_object();
    json_put_string(row, "field", field);
    if (scope_render_json(&preview->scope, field, template, &value, &err) == STATUS_OK) {
        json_put(row, "value", value);
    } else {
        json_put(row, "value", json_deep_copy(template));
        json_put_string(row, "error", err.text);
    }
    CHECK(json_array_append_new(preview->fields, row) == 0);
}

static void add_text(struct preview *preview, const char *field, const char *text)
{
    if (text == NULL)
        return;
    CLEANUP(json_decrefp) json_t *template = json_string(text);
    add_field(preview, field, template);
}

static void add_all(struct preview *preview)
{
    const struct task_def *task = preview->scope.task;
    add_field(preview, task_kind_key(task->kind), task->settings);
    add_text(preview, "if", task->condition);
    if (task->foreach != NULL)
        add_field(preview, "foreach", task->foreach);
    if (task->matrix != NULL)
        add_field(preview, "matrix", task->matrix);
    add_text(preview, "label", task->label);
    add_text(preview, "workdir", task->workdir);
    if (json_object_get(task->rest, "outputs") != NULL)
        add_field(preview, "outputs", json_object_get(task->rest, "outputs"));
    for (size_t i = 0; i < task->env_count; i++) {
        const char *field = arena_format(preview->scope.arena, "env.%s", task->env[i].name);
        add_text(preview, field, task->env[i].value);
    }
}

/* A schedule that cannot be understood here is told of elsewhere. */
static struct tick_dates dates_of(const struct preview_request *request)
{
    int64_t at_us = request->logical_at_us;
    CLEANUP(timetable_freep) struct timetable *timetable = NULL;
    struct err ignored = {0};
    if (timetable_of_dag(request->dag, zone_file_read, &timetable, &ignored) != STATUS_OK)
        return (struct tick_dates){at_us, at_us, at_us};
    return timetable_dates_by_hand(timetable, at_us);
}

json_t *preview_fields(const struct preview_request *request)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *params = json_deep_copy(request->params);
    CLEANUP(json_decrefp)
    json_t *conf = request->conf != NULL ? json_deep_copy(request->conf) : json_object();
    char date[INSTANT_TEXT_MAX];
    struct tick_dates dates = dates_of(request);
    struct run_source source = {.vault = request->vault, .store_uuid = ""};
    struct run_context run = {
        .source = &source,
        .arena = arena,
        .info =
            {
                .dag_id = request->dag->id,
                .run_id = arena_format(arena, "manual__%s",
                                       instant_format_offset(request->logical_at_us, date)),
                .kind = "manual",
                .path = request->path,
                .logical_at_us = request->logical_at_us,
                .interval_start_us = dates.interval_start_us,
                .interval_end_us = dates.interval_end_us,
            },
        .dag = request->dag,
        .dag_dir = dirname(arena_strdup(arena, request->path)),
        .params = params,
        .conf = conf,
    };
    struct claim claim = {.attempt = 1, .map_index = -1, .node = request->node};
    struct preview preview = {
        .scope =
            {
                .arena = arena,
                .run = &run,
                .task = &request->dag->tasks[request->node],
                .claim = &claim,
                .vault = {.vault = request->vault, .space = request->space, .shows_only = true},
            },
        .fields = json_array(),
    };
    add_all(&preview);
    return preview.fields;
}
