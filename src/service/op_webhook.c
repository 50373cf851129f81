/*
 * Webhooks: tokens with which others start a DAG.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "model/trigger_expr.h"
#include "service/json_build.h"
#include "service/op_handlers.h"
#include "service/run_json.h"
#include "service/service.h"
#include "store/webhook.h"

static json_t *webhook_json(const struct webhook_info *webhook)
{
    json_t *object = json_build_object();
    json_put_id(object, "id", webhook->id);
    json_put_string(object, "dag_id", webhook->dag_id);
    json_put_string(object, "name", webhook->name);
    json_put_string(object, "created_by", webhook->actor);
    json_put_instant(object, "created_at", webhook->created_at_us);
    json_put_instant(object, "last_used", webhook->used_at_us);
    json_put_int(object, "calls", webhook->calls);
    json_put_bool(object, "asked", webhook->is_asked);
    return object;
}

static enum status find(struct store *store, struct arena *arena, int64_t id,
                        struct webhook_info *out, struct err *err)
{
    struct webhook_info *list = NULL;
    size_t count = 0;
    if (store_webhook_list(store, arena, NULL, &list, &count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < count; i++)
        if (list[i].id == id) {
            *out = list[i];
            return STATUS_OK;
        }
    return err_set(err, STATUS_NOT_FOUND, "there is no webhook %lld", (long long)id);
}

enum status op_webhook_list(struct service *service, const json_t *request, json_t **out,
                            struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct store *store = NULL;
    struct webhook_info *list = NULL;
    size_t count = 0;
    if (service_store_if_any(service, &store, err) != STATUS_OK)
        return err->code;
    if (store != NULL && store_webhook_list(store, arena, json_get_string(request, "dag", NULL),
                                            &list, &count, err) != STATUS_OK)
        return err->code;
    json_t *webhooks = json_build_array();
    for (size_t i = 0; i < count; i++)
        json_build_append(webhooks, webhook_json(&list[i]));
    *out = json_build_list("webhooks", webhooks);
    return STATUS_OK;
}

enum status op_webhook_create(struct service *service, const json_t *request, json_t **out,
                              struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct store *store = NULL;
    struct webhook_info info = {0};
    char token[WEBHOOK_TOKEN_MAX];
    int64_t id = 0;
    struct webhook_request wanted = {
        .dag_id = json_get_string(request, "dag", ""),
        .name = json_get_string(request, "name", TRIGGER_WEBHOOK_DEFAULT),
        .actor = service->actor,
    };
    if (service_store(service, DB_READ_WRITE, &store, err) != STATUS_OK ||
        service_vault(service, &wanted.vault, err) != STATUS_OK)
        return err->code;
    CLEANUP(vault_freep) UNUSED struct vault *vault = wanted.vault;
    if (store_webhook_create(store, &wanted, &id, token, err) != STATUS_OK ||
        find(store, arena, id, &info, err) != STATUS_OK)
        return err->code;
    *out = webhook_json(&info);
    json_put_string(*out, "token", token);
    return STATUS_OK;
}

static enum status parse_id(const json_t *request, int64_t *out, struct err *err)
{
    const char *text = json_get_string(request, "id", "");
    if (!str_parse_i64(text, 1, INT64_MAX, out))
        return err_set(err, STATUS_INVALID, "'%.60s' is no number of a webhook", text);
    return STATUS_OK;
}

enum status op_webhook_delete(struct service *service, const json_t *request, json_t **out,
                              struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct store *store = NULL;
    struct webhook_info info = {0};
    int64_t id = 0;
    bool dry_run = json_get_bool(request, "dry_run", false);
    if (parse_id(request, &id, err) != STATUS_OK ||
        service_store(service, dry_run ? DB_READ_ONLY : DB_READ_WRITE, &store, err) != STATUS_OK ||
        find(store, arena, id, &info, err) != STATUS_OK ||
        (!dry_run && store_webhook_delete(store, id, service->actor, err) != STATUS_OK))
        return err->code;
    *out = webhook_json(&info);
    json_put_bool(*out, "deleted", !dry_run);
    return STATUS_OK;
}

enum status op_webhook_fire(struct service *service, const json_t *request, json_t **out,
                            struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const json_t *body = json_object_get(request, "body");
    CLEANUP(mem_freep)
    char *text = body != NULL && !json_is_null(body) ? json_format(body) : mem_strdup("");
    const struct webhook_call call = {
        .token = json_get_string(request, "token", ""),
        .body = text,
        .body_bytes = strlen(text),
        .key = json_get_string(request, "key", NULL),
    };
    struct webhook_answer answer;
    struct run_info info;
    struct store *store = NULL;
    if (service_store(service, DB_READ_WRITE, &store, err) != STATUS_OK ||
        store_webhook_fire(store, &call, &answer, err) != STATUS_OK)
        return err->code;
    service_wake(service);
    if (store_run_load(store, arena, answer.run, &info, err) != STATUS_OK ||
        run_json_load(service, store, &info, out, err) != STATUS_OK)
        return err->code;
    json_put_bool(*out, "is_new", answer.is_new);
    return STATUS_OK;
}
