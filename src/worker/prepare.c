#include "worker/prepare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "model/dag_files.h"
#include "model/limits.h"
#include "model/template.h"
#include "model/trigger_expr.h"
#include "store/named_file.h"
#include "worker/scope.h"
#include "worker/spill.h"
#include "worker/task_env.h"

static struct outcome outcome_of(const struct claim *claim)
{
    return (struct outcome){
        .task = claim->task,
        .run = claim->run,
        .attempt = claim->attempt,
        .nonce = claim->nonce,
        .kind = OUTCOME_END,
    };
}

static void fail(struct prepared *out, struct arena *arena, enum reason reason,
                 const struct err *err)
{
    out->is_process = false;
    out->outcome.kind = OUTCOME_END;
    out->outcome.end = (struct attempt_end){.reason = reason, .result = TASK_FAILED};
    out->outcome.detail = arena_strdup(arena, err->text);
    out->outcome.datasets_count = 0;
}

static enum reason reason_of(const struct err *err)
{
    return err->code == STATUS_LIMIT ? REASON_LIMIT : REASON_TEMPLATE_ERROR;
}

/* --- mapped tasks ---------------------------------------------------------------------------- */

static enum status foreach_items(struct attempt_scope *scope, json_t **out, struct err *err)
{
    if (scope_render_json(scope, "foreach", scope->task->foreach, out, err) != STATUS_OK)
        return err->code;
    if (json_is_array(*out))
        return STATUS_OK;
    json_t *other = TAKE(*out);
    static const char *const FOUND[] = {
        [JSON_OBJECT] = "a map",  [JSON_STRING] = "a text", [JSON_INTEGER] = "a number",
        [JSON_REAL] = "a number", [JSON_TRUE] = "true",     [JSON_FALSE] = "false",
        [JSON_NULL] = "null",
    };
    const char *found = FOUND[json_typeof(other)];
    json_decref(other);
    return err_set(err, STATUS_INVALID, "foreach of task '%s' gave %s where a list is needed",
                   scope->task->id, found);
}

/* Every combination, the last key turning fastest. */
static enum status matrix_items(struct attempt_scope *scope, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *axes = NULL;
    if (scope_render_json(scope, "matrix", scope->task->matrix, &axes, err) != STATUS_OK)
        return err->code;
    CLEANUP(json_decrefp) json_t *items = json_array();
    (void)json_array_append_new(items, json_object());
    const char *key = NULL;
    json_t *axis = NULL;
    json_object_foreach(axes, key, axis)
    {
        if (!json_is_array(axis))
            return err_set(err, STATUS_INVALID, "matrix of task '%s': '%s' is not a list",
                           scope->task->id, key);
        if (json_array_size(items) * json_array_size(axis) > LIMIT_INSTANCES)
            return err_set(err, STATUS_LIMIT, "matrix of task '%s' has more than %d combinations",
                           scope->task->id, LIMIT_INSTANCES);
        json_t *longer = json_array();
        for (size_t i = 0; i < json_array_size(items); i++) {
            for (size_t j = 0; j < json_array_size(axis); j++) {
                json_t *item = json_copy(json_array_get(items, i));
                json_put(item, key, json_incref(json_array_get(axis, j)));
                (void)json_array_append_new(longer, item);
            }
        }
        json_decref(items);
        items = longer;
    }
    *out = TAKE(items);
    return STATUS_OK;
}

static enum status keep_items(struct attempt_scope *scope, const json_t *items,
                              struct outcome *outcome, struct err *err)
{
    CLEANUP(mem_freep) char *text = json_format(items);
    size_t length = strlen(text);
    struct outcome_value *value = arena_alloc(scope->arena, sizeof *value);
    *value = (struct outcome_value){.key = RUN_CONTEXT_ITEMS_KEY, .bytes = (int64_t)length};
    if (length <= LIMIT_VALUE_INLINE_BYTES) {
        value->json = arena_strdup(scope->arena, text);
    } else {
        if (length > LIMIT_VALUE_BYTES)
            return err_set(err, STATUS_LIMIT, "the items of task '%s' take more than %d bytes",
                           scope->task->id, LIMIT_VALUE_BYTES);
        struct spill_key key = {scope->claim->run, scope->claim->task, scope->claim->attempt,
                                RUN_CONTEXT_ITEMS_KEY};
        if (spill_put(scope->run->source->blob, &key, text, length, err) != STATUS_OK)
            return err->code;
    }
    outcome->values = value;
    outcome->values_count = 1;
    return STATUS_OK;
}

static enum status expand(struct attempt_scope *scope, struct outcome *outcome, struct err *err)
{
    CLEANUP(json_decrefp) json_t *items = NULL;
    enum status status = scope->task->foreach != NULL ? foreach_items(scope, &items, err)
                                                      : matrix_items(scope, &items, err);
    if (status != STATUS_OK)
        return status;
    size_t count = json_array_size(items);
    if (count > LIMIT_INSTANCES)
        return err_set(err, STATUS_LIMIT, "foreach of task '%s' gave %zu items, at most %d",
                       scope->task->id, count, LIMIT_INSTANCES);
    if (count == 0) {
        outcome->end = (struct attempt_end){.reason = REASON_EMPTY, .result = TASK_SKIPPED};
        outcome->detail = "the list is empty";
        return STATUS_OK;
    }
    outcome->kind = OUTCOME_EXPAND;
    outcome->instances = (int64_t)count;
    return keep_items(scope, items, outcome, err);
}

/* --- tasks that run -------------------------------------------------------------------------- */

/* A condition without braces is an expression as a whole. */
static enum status condition_holds(struct attempt_scope *scope, bool *out, struct err *err)
{
    const char *text = scope->task->condition;
    if (text == NULL) {
        *out = true;
        return STATUS_OK;
    }
    if (template_is_plain(text))
        text = arena_format(scope->arena, "{{ %s }}", text);
    struct renderer renderer = scope_renderer(scope);
    CLEANUP(json_decrefp) json_t *value = NULL;
    if (renderer.value(renderer.context, "if", text, &value, err) != STATUS_OK)
        return err->code;
    *out = template_truth(value);
    return STATUS_OK;
}

static void keep_choice(struct attempt_scope *scope, const struct task_plan *plan,
                        struct outcome *outcome)
{
    outcome->is_choice = true;
    outcome->chosen = plan->chosen;
    outcome->chosen_count = plan->chosen_count;
    CLEANUP(json_decrefp) json_t *names = json_array();
    for (size_t i = 0; i < plan->chosen_count; i++)
        (void)json_array_append_new(names, json_string(scope->run->dag->tasks[plan->chosen[i]].id));
    CLEANUP(mem_freep) char *text = json_format(names);
    struct outcome_value *value = arena_alloc(scope->arena, sizeof *value);
    *value = (struct outcome_value){
        .key = "chosen",
        .json = arena_strdup(scope->arena, text),
        .bytes = (int64_t)strlen(text),
    };
    outcome->values = value;
    outcome->values_count = 1;
}

/* What a success will have updated: known before the start, so that no success fails over it. */
static enum status render_datasets(struct attempt_scope *scope, struct outcome *outcome,
                                   struct err *err)
{
    const json_t *list = json_object_get(scope->task->rest, "outputs");
    if (list == NULL)
        return STATUS_OK;
    size_t count = json_is_string(list) ? 1 : json_array_size(list);
    const char **uris = arena_array(scope->arena, count + 1, sizeof *uris);
    struct renderer renderer = scope_renderer(scope);
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_is_string(list) ? list : json_array_get(list, i);
        const char *field = arena_format(scope->arena, "outputs.%zu", i);
        if (renderer.text(renderer.context, field, json_string_value(item), &uris[i], err) !=
            STATUS_OK)
            return err->code;
        if (!dataset_uri_is_valid(uris[i]))
            return err_set(err, STATUS_INVALID,
                           "outputs of task '%s': '%.200s' cannot be a dataset: its URI has no "
                           "blanks and at most %d bytes",
                           scope->task->id, uris[i], LIMIT_URI_BYTES);
    }
    outcome->datasets = uris;
    outcome->datasets_count = count;
    return STATUS_OK;
}

const char *prepare_nonce_text(struct arena *arena, const struct nonce *nonce)
{
    char *text = arena_alloc(arena, sizeof nonce->bytes * 2 + 1);
    for (size_t i = 0; i < sizeof nonce->bytes; i++)
        CHECK(snprintf(text + i * 2, 3, "%02x", nonce->bytes[i]) == 2);
    return text;
}

static enum status fill_process(struct attempt_scope *scope, const struct prepare_options *options,
                                const struct task_plan *plan, struct keeper_task *out,
                                struct err *err)
{
    const struct task_def *task = scope->task;
    const struct claim *claim = scope->claim;
    struct renderer renderer = scope_renderer(scope);
    const char *workdir = scope->run->dag_dir;
    if (task->workdir != NULL) {
        if (renderer.text(renderer.context, "workdir", task->workdir, &workdir, err) != STATUS_OK)
            return err->code;
        if (workdir[0] != '/')
            workdir = arena_format(scope->arena, "%s/%s", scope->run->dag_dir, workdir);
    }
    out->workdir = workdir;
    out->argv = plan->argv;
    out->script = plan->script;
    out->protocol = task->protocol;
    if (task->protocol)
        out->request = task_env_request(scope, out->outputs_dir);
    out->user = task->user;
    out->nonce = prepare_nonce_text(scope->arena, &claim->nonce);
    out->limits = (struct keeper_limits){
        .cpu_s = (task->limits.cpu_ms + 999) / 1000,
        .memory_bytes = task->limits.memory_bytes,
        .processes = task->limits.procs,
    };
    out->timeout_ms = plan->timeout_ms > 0 && task->timeout_ms > 0
                          ? MIN(plan->timeout_ms, task->timeout_ms)
                          : plan->timeout_ms + task->timeout_ms;
    out->survives_deadline = task->on_lost_lease == LOST_LEASE_FINISH;
    out->grace_ms = task->grace_ms >= 0 ? task->grace_ms : options->grace_ms;
    out->output_bytes =
        task->limits.output_bytes > 0 ? task->limits.output_bytes : options->output_bytes;
    out->blob_root = options->blob_root;
    out->log_key = (struct blob_key){
        .kind = BLOB_LOG, .ids = {claim->run, claim->task, claim->attempt}, .id_count = 3};
    struct env_options env = {
        .outputs_dir = out->outputs_dir, .get = options->get_env, .api = options->api};
    return task_env_make(scope, &env, &out->env, err);
}

const char *prepare_slot_outputs(struct arena *arena, const struct prepare_options *options)
{
    return arena_format(arena, "%s/host-%lld.%lld.out", options->scratch_dir,
                        (long long)options->host, (long long)options->slot);
}

/* Every host runs the bytes that the version was made with. */
static enum status read_named_file(void *context, const char *name, const char **out,
                                   struct err *err)
{
    struct attempt_scope *scope = context;
    const struct named_file *file = dag_find_file(scope->run->dag, name);
    if (file == NULL)
        return err_set(err, STATUS_NOT_FOUND, "no file '%s' belongs to this version", name);
    if (file->bytes != NULL) {
        *out = file->bytes;
        return STATUS_OK;
    }
    return store_named_file_load(scope->run->source->store, scope->arena, file->hash, out, NULL,
                                 err);
}

/* In its slot for a while, or without one. */
static void wait_for(const struct attempt_scope *scope, const struct task_plan *plan,
                     struct prepared *out)
{
    int64_t own_ms = scope->task->timeout_ms;
    out->is_sleep = plan->hold_ms > 0;
    if (out->is_sleep) {
        out->sleep_ms = own_ms > 0 ? MIN(own_ms, plan->hold_ms) : plan->hold_ms;
        out->poke = plan->wait;
        return;
    }
    out->outcome.kind = OUTCOME_DEFER;
    out->outcome.wait = plan->wait;
}

static enum status plan_task(struct attempt_scope *scope, const struct prepare_options *options,
                             struct prepared *out, struct err *err)
{
    const struct claim *claim = scope->claim;
    struct renderer renderer = scope_renderer(scope);
    const char *stem = arena_format(scope->arena, "%s/%lld.%lld", options->scratch_dir,
                                    (long long)claim->task, (long long)claim->attempt);
    /* A folder that was given to another user cannot serve the next task. */
    bool keeps_outputs_dir = options->slot > 0 && scope->task->user == NULL;
    out->process = (struct keeper_task){
        .id = claim->task,
        .outputs_dir = keeps_outputs_dir ? prepare_slot_outputs(scope->arena, options)
                                         : arena_format(scope->arena, "%s.out", stem),
        .keep_outputs_dir = keeps_outputs_dir,
        .script_path = arena_format(scope->arena, "%s.script", stem),
    };
    struct file_source files = {.context = scope, .read = read_named_file};
    struct plan_request request = {
        .arena = scope->arena,
        .dag = scope->run->dag,
        .task = scope->task,
        .dag_dir = scope->run->dag_dir,
        .script_path = out->process.script_path,
        .now_us = clock_wall_us(),
        .logical_at_us = scope->run->info.logical_at_us,
        .poke_max_ms = options->poke_max_ms,
        .renderer = &renderer,
        .files = &files,
    };
    struct task_plan plan;
    if (task_plan_make(&request, &plan, err) != STATUS_OK ||
        render_datasets(scope, &out->outcome, err) != STATUS_OK)
        return err->code;
    out->is_process = plan.is_process;
    if (plan.is_process)
        return fill_process(scope, options, &plan, &out->process, err);
    if (plan.wait != NULL) {
        wait_for(scope, &plan, out);
        return STATUS_OK;
    }
    out->outcome.end = plan.end;
    if (plan.is_choice)
        keep_choice(scope, &plan, &out->outcome);
    return STATUS_OK;
}

static enum status prepare(struct attempt_scope *scope, const struct prepare_options *options,
                           struct prepared *out, struct err *err)
{
    const struct claim *claim = scope->claim;
    if (claim->map_index < 0 && task_def_is_mapped(scope->task))
        return expand(scope, &out->outcome, err);
    if (claim->map_index >= 0 &&
        run_context_item(scope->run, claim, &scope->item, err) != STATUS_OK)
        return err->code;
    struct renderer renderer = scope_renderer(scope);
    if (claim->map_index >= 0 && scope->task->label != NULL &&
        renderer.text(renderer.context, "label", scope->task->label, &out->label, err) != STATUS_OK)
        return err->code;
    out->outcome.label = out->label;
    bool holds = true;
    if (condition_holds(scope, &holds, err) != STATUS_OK)
        return err->code;
    if (!holds) {
        out->outcome.end = (struct attempt_end){.reason = REASON_CONDITION, .result = TASK_SKIPPED};
        out->outcome.detail = "its condition is false";
        return STATUS_OK;
    }
    return plan_task(scope, options, out, err);
}

void prepare_attempt(struct run_context *run, const struct claim *claim,
                     const struct prepare_options *options, struct arena *arena,
                     struct prepared *out)
{
    struct vault_seen seen = {.arena = arena};
    struct attempt_scope scope = {
        .arena = arena,
        .run = run,
        .task = &run->dag->tasks[claim->node],
        .claim = claim,
        .vault = {.vault = run->source->vault, .space = run->info.namespace_, .seen = &seen},
    };
    struct err err = {0};
    *out = (struct prepared){.outcome = outcome_of(claim)};
    enum status status = prepare(&scope, options, out, &err);
    if (status != STATUS_OK) {
        fail(out, arena, reason_of(&err), &err);
        /* What a template does with a secret may be what it complains of. */
        out->outcome.detail = vault_seen_mask(&seen, out->outcome.detail);
        out->store_is_away = err.code == STATUS_BUSY || err.code == STATUS_UNREACHABLE ||
                             err.code == STATUS_TIMEOUT || err.code == STATUS_UNKNOWN;
    }
    if (out->is_process)
        out->process.secrets = vault_seen_list(&seen);
    else
        vault_seen_wipe(&seen);
}

static void wipe_all(const char *const *texts)
{
    for (; texts != NULL && *texts != NULL; texts++)
        secret_wipe((void *)(uintptr_t)*texts, strlen(*texts));
}

void prepared_wipe(struct prepared *prepared)
{
    struct keeper_task *process = &prepared->process;
    if (process->secrets == NULL)
        return;
    wipe_all(process->env);
    wipe_all(process->secrets);
    process->env = process->secrets = NULL;
}
