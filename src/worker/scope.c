#include "worker/scope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/dag_roots.h"
#include "model/template.h"
#include "model/timetable.h"
#include "os/zone_file.h"

/* --- roots ----------------------------------------------------------------------------------- */

typedef enum status (*root_fn)(struct attempt_scope *scope, const char *const *path, size_t count,
                               size_t *out_used, json_t **out, struct err *err);

static json_t *instant_text(int64_t at_us)
{
    char text[INSTANT_TEXT_MAX];
    return json_string(instant_format_offset(at_us, text));
}

#define ROOT(name)                                                                                 \
    static enum status root_##name(                                                                \
        struct attempt_scope *scope UNUSED, const char *const *path UNUSED, size_t count UNUSED,   \
        size_t *out_used UNUSED, json_t **out UNUSED, struct err *err UNUSED)

ROOT(logical_date)
{
    *out = instant_text(scope->run->info.logical_at_us);
    return STATUS_OK;
}

ROOT(ds)
{
    char text[INSTANT_TEXT_MAX];
    *out = json_string(instant_format_date(scope->run->info.logical_at_us, text));
    return STATUS_OK;
}

static json_t *formatted_date(const struct attempt_scope *scope, bool with_time, const char *zone)
{
    struct civil c = civil_from_instant(scope->run->info.logical_at_us);
    char text[INSTANT_TEXT_MAX];
    int length =
        with_time
            ? snprintf(text, sizeof text, "%04lld%02u%02uT%02u%02u%02u%s", (long long)c.year,
                       c.month, c.day, c.hour, c.minute, c.second, zone)
            : snprintf(text, sizeof text, "%04lld%02u%02u", (long long)c.year, c.month, c.day);
    CHECK(length > 0 && length < (int)sizeof text);
    return json_string(text);
}

ROOT(ds_nodash)
{
    *out = formatted_date(scope, false, "");
    return STATUS_OK;
}

ROOT(ts_nodash)
{
    *out = formatted_date(scope, true, "");
    return STATUS_OK;
}

ROOT(ts_nodash_with_tz)
{
    *out = formatted_date(scope, true, "+0000");
    return STATUS_OK;
}

ROOT(interval_start)
{
    *out = instant_text(scope->run->info.interval_start_us);
    return STATUS_OK;
}

ROOT(interval_end)
{
    *out = instant_text(scope->run->info.interval_end_us);
    return STATUS_OK;
}

/* Neighbouring ticks: a run without a schedule has none, and the first and the last lack one. */
static enum status neighbour(const struct attempt_scope *scope, bool is_next, json_t **out,
                             struct err *err)
{
    CLEANUP(timetable_freep) struct timetable *timetable = NULL;
    int64_t date_us = scope->run->info.logical_at_us;
    int64_t tick_us = 0;
    if (timetable_of_dag(scope->run->dag, zone_file_read, &timetable, err) != STATUS_OK)
        return err->code;
    bool is_there = is_next ? timetable_next(timetable, date_us, &tick_us)
                            : timetable_previous(timetable, date_us, &tick_us);
    *out = is_there ? instant_text(tick_us) : json_null();
    return STATUS_OK;
}

ROOT(previous_date)
{
    return neighbour(scope, false, out, err);
}

ROOT(next_date)
{
    return neighbour(scope, true, out, err);
}

ROOT(run_id)
{
    *out = json_string(scope->run->info.run_id);
    return STATUS_OK;
}

ROOT(try_number)
{
    *out = json_integer(scope_try_number(scope));
    return STATUS_OK;
}

ROOT(map_index)
{
    *out = json_integer(scope->claim->map_index);
    return STATUS_OK;
}

ROOT(params)
{
    *out = json_incref(scope->run->params);
    return STATUS_OK;
}

ROOT(conf)
{
    *out = json_incref(scope->run->conf);
    return STATUS_OK;
}

/* Updates that the run was made of, by dataset; empty where it was not. */
ROOT(triggering_dataset_events)
{
    json_t *found = json_object_get(scope->run->conf, path[0]);
    *out = json_is_object(found) ? json_incref(found) : json_object();
    return STATUS_OK;
}

ROOT(item)
{
    if (scope->item == NULL)
        return err_set(err, STATUS_NOT_FOUND, "'%s' exists only in tasks with foreach or matrix",
                       path[0]);
    *out = json_deep_copy(scope->item);
    return STATUS_OK;
}

ROOT(dag)
{
    const struct dag *dag = scope->run->dag;
    *out = json_pack("{s:s, s:s, s:s?, s:s?}", "id", dag->id, "dag_id", dag->id, "title",
                     dag->title, "owner", dag->owner);
    return STATUS_OK;
}

ROOT(task)
{
    *out = json_pack("{s:s, s:s, s:s}", "id", scope->task->id, "task_id", scope->task->id, "group",
                     scope->task->group);
    return STATUS_OK;
}

ROOT(dag_run)
{
    const struct run_info *info = &scope->run->info;
    *out =
        json_pack("{s:s, s:s, s:O, s:o, s:o, s:s}", "run_id", info->run_id, "dag_id", info->dag_id,
                  "conf", scope->run->conf, "execution_date", instant_text(info->logical_at_us),
                  "logical_date", instant_text(info->logical_at_us), "run_type", info->kind);
    return STATUS_OK;
}

ROOT(ti)
{
    const struct run_info *info = &scope->run->info;
    *out =
        json_pack("{s:s, s:s, s:s, s:I, s:I}", "task_id", scope->task->id, "dag_id", info->dag_id,
                  "run_id", info->run_id, "try_number", (json_int_t)scope_try_number(scope),
                  "map_index", (json_int_t)scope->claim->map_index);
    return STATUS_OK;
}

ROOT(task_instance_key_str)
{
    char date[INSTANT_TEXT_MAX];
    CLEANUP(mem_freep)
    char *text = mem_format("%s__%s__%s", scope->run->dag->id, scope->task->id,
                            instant_format_date(scope->run->info.logical_at_us, date));
    *out = json_string(text);
    return STATUS_OK;
}

ROOT(tasks)
{
    if (count < 2)
        return err_set(err, STATUS_NOT_FOUND, "'tasks' needs the name of a task: tasks.NAME.key");
    if (count == 2) {
        *out_used = 2;
        return run_context_values(scope->run, path[1], out, err);
    }
    *out_used = 3;
    return run_context_value(scope->run, path[1], path[2], out, err);
}

/* var, conn and secrets */
ROOT(vault)
{
    return vault_scope_lookup(&scope->vault, path, count, out_used, out, err);
}

/* Whether the variable is that of a secret or of a connection. */
static bool is_secret_variable(const char *name)
{
    enum env_kind kind = ENV_KIND_COUNT;
    CLEANUP(mem_freep) char *known = env_name_parse(name, &kind);
    return known != NULL && kind != ENV_VARIABLE;
}

ROOT(env)
{
    const char *name = count >= 2 ? path[1] : "";
    if (is_secret_variable(name) && !scope->vault.may_see)
        return err_set(err, STATUS_DENIED,
                       "env.%s is secret: it can be used in 'env' and in headers only", name);
    for (size_t i = 0; i < scope->task->env_pass.count; i++) {
        const char *value = getenv(name);
        if (strcmp(scope->task->env_pass.items[i], name) == 0 && value != NULL) {
            if (scope->vault.seen != NULL)
                vault_seen_add_variable(scope->vault.seen, name, value);
            scope->vault.given += is_secret_variable(name);
            *out_used = 2;
            *out = json_text(value, strlen(value));
            return STATUS_OK;
        }
    }
    return err_set(err, STATUS_NOT_FOUND,
                   "environment variable '%s' is not set or not listed in env_pass", name);
}

/* Only as a function; see is_pull. */
ROOT(xcom_pull)
{
    return err_set(err, STATUS_NOT_FOUND, "'xcom_pull' is a function: xcom_pull('task')");
}

/* Sorted by name. */
static const struct {
    const char *name;
    root_fn find;
} ROOTS[] = {
    {"conf", root_conf},
    {"conn", root_vault},
    {"dag", root_dag},
    {"dag_run", root_dag_run},
    {"data_interval_end", root_interval_end},
    {"data_interval_start", root_interval_start},
    {"ds", root_ds},
    {"ds_nodash", root_ds_nodash},
    {"env", root_env},
    {"execution_date", root_logical_date},
    {"item", root_item},
    {"logical_date", root_logical_date},
    {"map_index", root_map_index},
    {"matrix", root_item},
    {"next_execution_date", root_next_date},
    {"params", root_params},
    {"prev_execution_date", root_previous_date},
    {"run_id", root_run_id},
    {"secrets", root_vault},
    {"task", root_task},
    {"task_instance", root_ti},
    {"task_instance_key_str", root_task_instance_key_str},
    {"tasks", root_tasks},
    {"ti", root_ti},
    {"triggering_dataset_events", root_triggering_dataset_events},
    {"try_number", root_try_number},
    {"ts", root_logical_date},
    {"ts_nodash", root_ts_nodash},
    {"ts_nodash_with_tz", root_ts_nodash_with_tz},
    {"var", root_vault},
    {"xcom_pull", root_xcom_pull},
};

size_t scope_root_count(void)
{
    return ARRAY_LEN(ROOTS);
}

const char *scope_root_name(size_t i)
{
    CHECK(i < ARRAY_LEN(ROOTS));
    return ROOTS[i].name;
}

static const char *root_name(const void *context, size_t i)
{
    (void)context;
    return scope_root_name(i);
}

static enum status lookup(void *context, const char *const *path, size_t count, size_t *out_used,
                          json_t **out, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(ROOTS); i++) {
        if (strcmp(ROOTS[i].name, path[0]) != 0)
            continue;
        *out_used = 1;
        return ROOTS[i].find(context, path, count, out_used, out, err);
    }
    return err_set(err, STATUS_NOT_FOUND, "undefined name '%s'", path[0]);
}

/* --- functions ------------------------------------------------------------------------------- */

static bool is_pull(const char *const *path, size_t count)
{
    if (count == 1)
        return strcmp(path[0], "xcom_pull") == 0;
    return count == 2 && (strcmp(path[0], "ti") == 0 || strcmp(path[0], "task_instance") == 0) &&
           strcmp(path[1], "xcom_pull") == 0;
}

static bool is_function(void *context, const char *const *path, size_t count)
{
    return is_pull(path, count) || vault_scope_is_function(context, path, count);
}

static const json_t *argument(const json_t *args, size_t place, const json_t *named,
                              const char *name)
{
    const json_t *value = json_object_get(named, name);
    return value != NULL ? value : json_array_get(args, place);
}

/* xcom_pull(task_ids, key): one task gives its value, several give a list. */
static enum status pull(struct attempt_scope *scope, const json_t *args, const json_t *named,
                        json_t **out, struct err *err)
{
    const json_t *tasks = argument(args, 0, named, "task_ids");
    const json_t *key_value = argument(args, 1, named, "key");
    const char *key = json_is_string(key_value) ? json_string_value(key_value) : "return_value";
    const json_t *dag = argument(args, 2, named, "dag_id");
    const char *dag_id = json_is_string(dag) ? json_string_value(dag) : scope->run->dag->id;
    if (json_is_string(tasks))
        return run_context_value_of_dag(scope->run, dag_id, json_string_value(tasks), key, out,
                                        err);
    if (!json_is_array(tasks))
        return err_set(err, STATUS_INVALID, "xcom_pull needs a task id or a list of them");
    CLEANUP(json_decrefp) json_t *list = json_array();
    for (size_t i = 0; i < json_array_size(tasks); i++) {
        const char *id = json_string_value(json_array_get(tasks, i));
        json_t *value = NULL;
        if (run_context_value_of_dag(scope->run, dag_id, id != NULL ? id : "", key, &value, err) !=
            STATUS_OK)
            return err->code;
        (void)json_array_append_new(list, value);
    }
    *out = TAKE(list);
    return STATUS_OK;
}

/* NOLINTNEXTLINE(readability-function-size) -- the parameters are those of template.h */
static enum status call(void *context, const char *const *path, size_t count, json_t *args,
                        json_t *named, json_t **out, struct err *err)
{
    struct attempt_scope *scope = context;
    if (is_pull(path, count))
        return pull(scope, args, named, out, err);
    return vault_scope_call(&scope->vault, path, count, args, named, out, err);
}

/* --- rendering ------------------------------------------------------------------------------- */

/* "tasks.load.run, line 3: undefined name 'x' (dags/etl.yaml:12)" */
static enum status locate(const struct attempt_scope *scope, const char *field,
                          const struct template_fault *fault, struct err *err)
{
    CLEANUP(mem_freep) char *path = mem_format("tasks.%s.%s", scope->task->id, field);
    const struct source_place *place = dag_find_place(scope->run->dag, path);
    struct err cause = *err;
    const char *file = scope->run->info.path;
    if (place == NULL || file[0] == '\0')
        return err_set(err, cause.code, "%s of task '%s', line %d, column %d: %s", field,
                       scope->task->id, fault->line, fault->column, cause.text);
    int line = place->line + MAX(fault->line, 1) - 1;
    return err_set(err, cause.code, "%s:%d: %s of task '%s': %s", file, line, field,
                   scope->task->id, cause.text);
}

static void before_output(void *context)
{
    vault_scope_before_output(&((struct attempt_scope *)context)->vault);
}

static void after_output(void *context, const char *text, size_t length)
{
    vault_scope_after_output(&((struct attempt_scope *)context)->vault, text, length);
}

static enum status render(struct attempt_scope *scope, const char *field, const char *text,
                          json_t **out_value, char **out_text, struct err *err)
{
    struct template_scope names = {
        .context = scope,
        .lookup = lookup,
        .is_function = is_function,
        .call = call,
        .before_output = before_output,
        .after_output = after_output,
        .zones = zone_file_read,
        .roots_count = ARRAY_LEN(ROOTS),
        .root = root_name,
    };
    const struct template *template = NULL;
    struct template_fault fault = {0};
    scope->vault.may_see = dag_field_takes_secrets(field);
    scope->vault.given = scope->vault.given_before = 0;
    scope->vault.is_tainted = false;
    enum status status = template_parse(scope->arena, text, &template, &fault, err);
    if (status == STATUS_OK)
        status = out_text != NULL ? template_render_text(template, &names, out_text, &fault, err)
                                  : template_render(template, &names, out_value, &fault, err);
    return status == STATUS_OK ? status : locate(scope, field, &fault, err);
}

static enum status render_text(void *context, const char *field, const char *text, const char **out,
                               struct err *err)
{
    struct attempt_scope *scope = context;
    if (template_is_plain(text)) {
        *out = text;
        return STATUS_OK;
    }
    char *rendered = NULL;
    if (render(scope, field, text, NULL, &rendered, err) != STATUS_OK)
        return err->code;
    CHECK(rendered != NULL);
    *out = arena_strdup(scope->arena, rendered);
    secret_wipe(rendered, scope->vault.may_see ? strlen(rendered) : 0);
    free(rendered);
    return STATUS_OK;
}

static enum status render_value(void *context, const char *field, const char *text, json_t **out,
                                struct err *err)
{
    return render(context, field, text, out, NULL, err);
}

struct renderer scope_renderer(struct attempt_scope *scope)
{
    return (struct renderer){.context = scope, .text = render_text, .value = render_value};
}

/* Depth is bounded: values come from files and JSON, both parsed with a bound on nesting. */
/* NOLINTNEXTLINE(misc-no-recursion) */
enum status scope_render_json(struct attempt_scope *scope, const char *field, const json_t *value,
                              json_t **out, struct err *err)
{
    if (json_is_string(value) && !template_is_plain(json_string_value(value)))
        return render(scope, field, json_string_value(value), out, NULL, err);
    if (!json_is_array(value) && !json_is_object(value)) {
        *out = json_deep_copy(value);
        return STATUS_OK;
    }
    CLEANUP(json_decrefp) json_t *copy = json_is_array(value) ? json_array() : json_object();
    for (size_t i = 0; i < json_array_size(value); i++) {
        json_t *element = NULL;
        if (scope_render_json(scope, field, json_array_get(value, i), &element, err) != STATUS_OK)
            return err->code;
        (void)json_array_append_new(copy, element);
    }
    for (void *at = json_object_iter((json_t *)(uintptr_t)value); at != NULL;
         at = json_object_iter_next((json_t *)(uintptr_t)value, at)) {
        json_t *member = NULL;
        if (scope_render_json(scope, field, json_object_iter_value(at), &member, err) != STATUS_OK)
            return err->code;
        json_put(copy, json_object_iter_key(at), member);
    }
    *out = TAKE(copy);
    return STATUS_OK;
}
