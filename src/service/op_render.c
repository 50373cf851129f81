/*
 * Templates of a task filled in, before there is a run.
 */
#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "model/params.h"
#include "service/json_build.h"
#include "service/lookup.h"
#include "service/op_handlers.h"
#include "store/vault.h"

static enum status render(struct service *service, const struct found_dag *found,
                          const json_t *request, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *params = NULL;
    struct service_preview preview = {
        .dag = found->dag,
        .path = found->path,
        .conf = json_object_get(request, "conf"),
        .logical_at_us = service_now_us(service),
    };
    CLEANUP(vault_freep) struct vault *vault = NULL;
    const char *task_id = json_get_string(request, "task", "");
    const char *date = json_get_string(request, "logical_date", NULL);
    if (date != NULL && !instant_parse(date, &preview.logical_at_us))
        return err_set(err, STATUS_INVALID, "'%s' is not a date", date);
    if (lookup_node(found->dag, task_id, &preview.node, err) != STATUS_OK ||
        params_resolve_typed(found->dag, preview.conf, json_object_get(request, "params"), &params,
                             err) != STATUS_OK)
        return err->code;
    if (service_vault(service, &vault, err) != STATUS_OK)
        return err->code;
    preview.vault = vault;
    preview.params = params;
    json_t *response = json_build_object();
    json_put_string(response, "task_id", task_id);
    json_put(response, "fields", service->preview(service->preview_context, &preview));
    *out = response;
    return STATUS_OK;
}

enum status op_task_render(struct service *service, const json_t *request, json_t **out,
                           struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(lookup_dag_fini) struct found_dag found = {0};
    if (lookup_dag(service, arena, request, &found, err) != STATUS_OK ||
        lookup_check_author(service, &found, err) != STATUS_OK)
        return err->code;
    return render(service, &found, request, out, err);
}
