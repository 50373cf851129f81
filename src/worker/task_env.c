#include "worker/task_env.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/sha256.h"

struct env_list {
    struct arena *arena;
    const char **items;
    size_t count;
};

static void add(struct env_list *list, const char *name, const char *value)
{
    list->items[list->count++] = arena_format(list->arena, "%s=%s", name, value);
}

static void add_instant(struct env_list *list, const char *name, int64_t at_us)
{
    char text[INSTANT_TEXT_MAX];
    add(list, name, instant_format_offset(at_us, text));
}

/* Stable over retries and takeovers, new after a clear. */
static const char *idempotency_key(const struct attempt_scope *scope, char out[SHA256_HEX_MAX])
{
    const struct claim *claim = scope->claim;
    CLEANUP(mem_freep)
    char *text =
        mem_format("%s/%lld/%s/%lld/%lld", scope->run->source->store_uuid, (long long)claim->run,
                   scope->task->id, (long long)claim->map_index, (long long)claim->generation);
    return sha256_hex(text, strlen(text), out);
}

/* What the task calls belongs to the span of its attempt. */
static void add_trace(struct env_list *list, const struct attempt_scope *scope)
{
    const struct run_context *run = scope->run;
    const struct span span = {
        .run = scope->claim->run,
        .task = scope->claim->task,
        .attempt = scope->claim->attempt,
    };
    struct span_ids ids;
    char text[TRACEPARENT_MAX];
    if (!run->source->is_traced)
        return;
    span_ids_make(run->source->store_uuid, &span, run->above, &ids);
    add(list, "TRACEPARENT", traceparent_format(&ids, text));
}

static void add_eider(struct env_list *list, const struct attempt_scope *scope,
                      const char *outputs_dir)
{
    const struct run_info *info = &scope->run->info;
    char key[SHA256_HEX_MAX];
    add(list, "EIDER_DAG_ID", info->dag_id);
    add(list, "EIDER_RUN_ID", info->run_id);
    add(list, "EIDER_TASK_ID", scope->task->id);
    add(list, "EIDER_MAP_INDEX",
        arena_format(list->arena, "%lld", (long long)scope->claim->map_index));
    add(list, "EIDER_TRY_NUMBER",
        arena_format(list->arena, "%lld", (long long)scope_try_number(scope)));
    add_instant(list, "EIDER_LOGICAL_DATE", info->logical_at_us);
    add_instant(list, "EIDER_DATA_INTERVAL_START", info->interval_start_us);
    add_instant(list, "EIDER_DATA_INTERVAL_END", info->interval_end_us);
    add(list, "EIDER_IDEMPOTENCY_KEY", idempotency_key(scope, key));
    add(list, "EIDER_PARAMS", info->params);
    add(list, "EIDER_OUTPUTS", outputs_dir);
    add_trace(list, scope);
}

static bool is_set(const struct env_list *list, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < list->count; i++)
        if (strncmp(list->items[i], name, length) == 0 && list->items[i][length] == '=')
            return true;
    return false;
}

/* Where the API is, and what shows it who asks. */
static void add_api(struct env_list *list, const struct attempt_scope *scope,
                    const struct task_api *api)
{
    char token[TASK_TOKEN_MAX];
    if (api == NULL || is_set(list, "EIDER_API") || is_set(list, "EIDER_TOKEN"))
        return;
    task_api_token(api, scope->claim, scope->vault.seen, token);
    add(list, "EIDER_API", api->url);
    add(list, "EIDER_TOKEN", token);
    secret_wipe(token, sizeof token);
}

enum status task_env_make(struct attempt_scope *scope, const struct env_options *options,
                          const char *const **out, struct err *err)
{
    static const char *const OUTSIDE[] = {"PATH", "HOME", "USER", "LANG", "TZ"};
    enum { EIDER_COUNT = 16 };
    const struct task_def *task = scope->task;
    size_t most = ARRAY_LEN(OUTSIDE) + EIDER_COUNT + task->env_count + task->env_pass.count + 2;
    struct env_list list = {
        .arena = scope->arena,
        .items = arena_array(scope->arena, most, sizeof(const char *)),
    };
    struct renderer renderer = scope_renderer(scope);
    /* The task's own come first; what is named twice is not set again. */
    for (size_t i = 0; i < task->env_count; i++) {
        const char *value = NULL;
        const char *field = arena_format(scope->arena, "env.%s", task->env[i].name);
        if (renderer.text(renderer.context, field, task->env[i].value, &value, err) != STATUS_OK)
            return err->code;
        add(&list, task->env[i].name, value);
        /* A template's text is a copy of ours. */
        if (value != task->env[i].value)
            secret_wipe((void *)(uintptr_t)value, strlen(value));
    }
    for (size_t i = 0; i < task->env_pass.count; i++) {
        const char *value = options->get(task->env_pass.items[i]);
        if (value == NULL || is_set(&list, task->env_pass.items[i]))
            continue;
        add(&list, task->env_pass.items[i], value);
        if (scope->vault.seen != NULL)
            vault_seen_add_variable(scope->vault.seen, task->env_pass.items[i], value);
    }
    for (size_t i = 0; i < ARRAY_LEN(OUTSIDE); i++) {
        const char *value = options->get(OUTSIDE[i]);
        if (value != NULL && !is_set(&list, OUTSIDE[i]))
            add(&list, OUTSIDE[i], value);
    }
    if (!is_set(&list, "PATH"))
        add(&list, "PATH", "/usr/local/bin:/usr/bin:/bin");
    add_eider(&list, scope, options->outputs_dir);
    add_api(&list, scope, options->api);
    *out = list.items;
    return STATUS_OK;
}

const char *task_env_request(struct attempt_scope *scope, const char *outputs_dir)
{
    const struct run_info *info = &scope->run->info;
    char key[SHA256_HEX_MAX];
    CLEANUP(json_decrefp) json_t *request = json_object();
    json_put_int(request, "version", 1);
    json_put_string(request, "dag_id", info->dag_id);
    json_put_string(request, "run_id", info->run_id);
    json_put_string(request, "task_id", scope->task->id);
    json_put_int(request, "map_index", scope->claim->map_index);
    json_put_int(request, "try_number", scope_try_number(scope));
    json_put_instant(request, "logical_date", info->logical_at_us);
    json_put_instant(request, "data_interval_start", info->interval_start_us);
    json_put_instant(request, "data_interval_end", info->interval_end_us);
    json_put_string(request, "idempotency_key", idempotency_key(scope, key));
    json_put_string(request, "outputs", outputs_dir);
    json_put(request, "params", json_incref(scope->run->params));
    json_put(request, "conf", json_incref(scope->run->conf));
    if (scope->item != NULL)
        json_put(request, "item", json_deep_copy(scope->item));
    CLEANUP(mem_freep) char *text = json_format(request);
    return arena_strdup(scope->arena, text);
}
