/*
 * dag.post: a DAG without a file, kept in the store alone, so that every host knows it at once.
 *
 * What hosts offer from files is theirs to change: a DAG that has a file is not posted over.
 */
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/settings.h"
#include "service/json_build.h"
#include "service/lookup.h"
#include "service/op_handlers.h"
#include "service/principal.h"
#include "service/rehearsal.h"
#include "service/service.h"
#include "store/dag_file.h"
#include "store/sight.h"
#include "store/version.h"

enum { POSTED_BYTES_MAX = 4 << 20 };

static enum status check_right(const struct service *service, const char *space, struct err *err)
{
    if (principal_role(service->principal, space) >= PERMISSION_EDITOR)
        return STATUS_OK;
    return err_set(err, STATUS_DENIED, "dag.post needs the role editor in the namespace %.60s",
                   space);
}

static enum status note_file(void *context, const struct dag_file *file, struct err *err)
{
    (void)file;
    (void)err;
    *(bool *)context = true;
    return STATUS_OK;
}

/* Whether the id is free, or is that of a posted DAG that may be replaced. */
static enum status check_id(struct service *service, struct store *store, const char *dag_id,
                            bool replaces, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct err problem = {0};
    const char *space = NULL;
    bool has_file = false;
    const struct dag_file_filter of_dag = {.dag_id = dag_id};
    enum status status = store_space_of_dag(store, arena, dag_id, &space, &problem);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    if (status != STATUS_OK) {
        *err = problem;
        return status;
    }
    /* Ids are unique among all namespaces; whose it is stays untold. */
    if (principal_role(service->principal, space) == PERMISSION_NONE)
        return err_set(err, STATUS_DENIED, "the id '%s' cannot be had", dag_id);
    if (!replaces)
        return err_set(err, STATUS_CONFLICT, "there is a DAG '%s' already; PUT replaces it",
                       dag_id);
    if (check_right(service, space, err) != STATUS_OK ||
        store_dag_file_each(store, &of_dag, note_file, &has_file, err) != STATUS_OK)
        return err->code;
    if (has_file)
        return err_set(err, STATUS_CONFLICT, "the DAG '%s' has a file: change it there", dag_id);
    return STATUS_OK;
}

static enum status save(struct service *service, const struct spec_file *file, bool replaces,
                        struct version_ref *out, struct err *err)
{
    struct store *store = NULL;
    CHECK(file != NULL);
    const struct dag *dag = file->dags[0];
    const struct version_source source = {
        .path = "",
        .text = file->text,
        .actor = service->actor,
        .starts_paused = settings_number(service->settings, SETTING_DAGS_PAUSED_AT_CREATION) != 0,
    };
    if (check_right(service, dag->namespace_, err) != STATUS_OK ||
        service_store_new(service, &store, err) != STATUS_OK ||
        check_id(service, store, dag->id, replaces, err) != STATUS_OK ||
        store_version_save(store, dag, &source, out, err) != STATUS_OK)
        return err->code;
    service_wake(service);
    return STATUS_OK;
}

static enum status read_definition(const json_t *request, struct spec_file **out, struct err *err)
{
    const json_t *definition = json_object_get(request, "definition");
    const char *id = json_get_string(definition, "dag", NULL);
    CLEANUP(mem_freep) char *text = json_format_pretty(definition);
    if (id == NULL)
        return err_set(err, STATUS_INVALID, "a DAG without a file needs its id: 'dag'");
    if (strlen(text) > POSTED_BYTES_MAX)
        return err_set(err, STATUS_LIMIT, "a DAG that is posted has at most %d bytes",
                       POSTED_BYTES_MAX);
    *out = spec_load_text("posted.json", text, strlen(text));
    CHECK(*out != NULL);
    if (lookup_check_file(*out, err) != STATUS_OK)
        return err->code;
    if ((*out)->dags_count != 1)
        return err_set(err, STATUS_INVALID, "one DAG is posted at a time");
    return STATUS_OK;
}

static enum status post(struct service *service, const json_t *request, json_t **out,
                        struct err *err)
{
    CLEANUP(spec_file_freep) struct spec_file *file = NULL;
    struct version_ref ref;
    if (read_definition(request, &file, err) != STATUS_OK ||
        save(service, file, json_get_bool(request, "replace", false), &ref, err) != STATUS_OK)
        return err->code;
    CLEANUP(json_decrefp) json_t *question = json_build_object();
    json_put_string(question, "dag", file->dags[0]->id);
    return op_dag_show(service, question, out, err);
}

enum status op_dag_post(struct service *service, const json_t *request, json_t **out,
                        struct err *err)
{
    return rehearsal_call(service, request, post, out, err);
}
