/*
 * Namespaces: where DAGs, pools, variables, connections and secrets live, and where grants count.
 */
#include "base/arena.h"
#include "base/str.h"
#include "service/json_build.h"
#include "service/op_handlers.h"
#include "service/principal.h"
#include "service/service.h"
#include "store/space.h"

static json_t *space_json(const struct space *space)
{
    json_t *object = json_build_object();
    json_put_string(object, "name", space->name);
    json_put_int(object, "dags", space->dags);
    json_put_int(object, "pools", space->pools);
    json_put_int(object, "variables", space->variables);
    json_put_int(object, "connections", space->connections);
    json_put_int(object, "secrets", space->secrets);
    json_put_string(object, "doc", space->doc);
    json_put_string(object, "created_by", space->actor);
    json_put_instant(object, "created_at", space->created_at_us);
    return object;
}

enum status op_namespace_list(struct service *service, const json_t *request, json_t **out,
                              struct err *err)
{
    (void)request;
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct store *store = NULL;
    struct space *spaces = NULL;
    size_t count = 0;
    if (service_store_if_any(service, &store, err) != STATUS_OK ||
        (store != NULL && store_space_list(store, arena, &spaces, &count, err) != STATUS_OK))
        return err->code;
    json_t *list = json_build_array();
    for (size_t i = 0; i < count; i++)
        if (principal_sees(service->principal, spaces[i].name))
            json_build_append(list, space_json(&spaces[i]));
    *out = json_build_list("namespaces", list);
    return STATUS_OK;
}

static struct space_change change_of(const struct service *service, const json_t *request)
{
    return (struct space_change){
        .name = json_get_string(request, "name", ""),
        .doc = json_get_string(request, "doc", NULL),
        .actor = service->actor,
    };
}

enum status op_namespace_add(struct service *service, const json_t *request, json_t **out,
                             struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const struct space_change change = change_of(service, request);
    struct store *store = NULL;
    struct space *spaces = NULL;
    size_t count = 0;
    if (service_store_new(service, &store, err) != STATUS_OK ||
        store_space_add(store, &change, err) != STATUS_OK ||
        store_space_list(store, arena, &spaces, &count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < count; i++) {
        if (str_equal(spaces[i].name, change.name)) {
            *out = space_json(&spaces[i]);
            return STATUS_OK;
        }
    }
    return err_set(err, STATUS_NOT_FOUND, "the namespace '%s' was removed by somebody else",
                   change.name);
}

enum status op_namespace_remove(struct service *service, const json_t *request, json_t **out,
                                struct err *err)
{
    const struct space_change change = change_of(service, request);
    struct store *store = NULL;
    if (service_store(service, DB_READ_WRITE, &store, err) != STATUS_OK ||
        store_space_remove(store, &change, err) != STATUS_OK)
        return err->code;
    *out = json_build_object();
    json_put_string(*out, "name", change.name);
    json_put_bool(*out, "removed", true);
    return STATUS_OK;
}
