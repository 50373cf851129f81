#include "service/access.h"

#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/str.h"
#include "service/principal.h"
#include "store/job.h"
#include "store/run_store.h"
#include "store/sight.h"

/* May this one do this, there? */
struct question {
    struct service *service;
    const struct operation *operation;
    const json_t *request;
    struct arena *arena;
};

static enum status too_small(const struct question *question, const char *space, struct err *err)
{
    const struct principal *principal = question->service->principal;
    return err_set(err, STATUS_DENIED, "%s needs the role %s in %s%.60s; %.60s has %s there",
                   question->operation->name, permission_name(question->operation->permission),
                   space != NULL ? "the namespace " : "all namespaces", space != NULL ? space : "",
                   principal != NULL && principal->name != NULL ? principal->name : "nobody",
                   permission_name(principal_role(principal, space)));
}

static enum status check_everywhere(const struct question *question, struct err *err)
{
    enum permission role = principal_role(question->service->principal, NULL);
    return role >= question->operation->permission ? STATUS_OK : too_small(question, NULL, err);
}

static enum status check_somewhere(const struct question *question, struct err *err)
{
    enum permission role = principal_best_role(question->service->principal);
    return role >= question->operation->permission ? STATUS_OK : too_small(question, NULL, err);
}

/* In the words that stand for both: it is not there, and it is not shown. */
static enum status not_there(const char *what, const char *name, struct err *err)
{
    return err_set(err, STATUS_NOT_FOUND, "there is no %s '%.100s'", what, name);
}

static enum status check_space(const struct question *question, const char *space, const char *what,
                               const char *name, struct err *err)
{
    enum permission role = principal_role(question->service->principal, space);
    if (role == PERMISSION_NONE)
        return not_there(what, name, err);
    return role >= question->operation->permission ? STATUS_OK : too_small(question, space, err);
}

/* --- things by their ids --------------------------------------------------------------------- */

/* What is named, and how it was found. */
struct thing {
    const char *what;
    const char *name;
    enum status status;
    const char *space; /* with STATUS_OK */
    struct err problem;
};

static enum status check_thing(const struct question *question, const struct thing *thing,
                               struct err *err)
{
    if (thing->status == STATUS_OK)
        return check_space(question, thing->space, thing->what, thing->name, err);
    if (thing->status == STATUS_NOT_FOUND)
        return not_there(thing->what, thing->name, err);
    *err = thing->problem;
    return thing->status;
}

static void find_by_id(const struct question *question, enum sight_kind kind, int64_t id,
                       struct thing *thing)
{
    struct store *store = NULL;
    thing->status = service_store(question->service, DB_READ_ONLY, &store, &thing->problem);
    if (thing->status == STATUS_OK)
        thing->status =
            store_space_of(store, question->arena, kind, id, &thing->space, &thing->problem);
}

static void find_dag(const struct question *question, const char *dag_id, struct thing *thing)
{
    struct store *store = NULL;
    thing->status = service_store(question->service, DB_READ_ONLY, &store, &thing->problem);
    if (thing->status == STATUS_OK)
        thing->status =
            store_space_of_dag(store, question->arena, dag_id, &thing->space, &thing->problem);
}

static enum status check_dag(const struct question *question, const char *dag_id, struct err *err)
{
    struct thing thing = {.what = "DAG", .name = dag_id};
    find_dag(question, dag_id, &thing);
    return check_thing(question, &thing, err);
}

/*
 * A text that is a DAG may lead elsewhere all the same: where the DAG has no runs, it is taken for
 * the name of a run of any DAG. What is found counts, not what was meant.
 */
static void find_named_run(const struct question *question, const char *text, struct thing *thing)
{
    struct store *store = NULL;
    struct err ignored = {0};
    int64_t id = 0;
    if (service_store(question->service, DB_READ_ONLY, &store, &ignored) == STATUS_OK &&
        store_run_find(store, text, &id, &ignored) == STATUS_OK)
        find_by_id(question, SIGHT_RUN, id, thing);
}

/* A number, DAG/RUN_ID, or a DAG; a DAG may be called 123 as well. */
static enum status check_run(const struct question *question, const char *text, struct err *err)
{
    struct thing thing = {.what = "run", .name = text, .status = STATUS_NOT_FOUND};
    int64_t number = 0;
    if (str_parse_i64(text, 1, INT64_MAX, &number))
        find_by_id(question, SIGHT_RUN, number, &thing);
    if (thing.status == STATUS_NOT_FOUND) {
        find_dag(question, arena_strndup(question->arena, text, strcspn(text, "/")), &thing);
        if (thing.status == STATUS_OK)
            find_named_run(question, text, &thing);
    }
    return check_thing(question, &thing, err);
}

static enum status check_id(const struct question *question, enum sight_kind kind,
                            const char *member, const char *what, struct err *err)
{
    struct thing thing = {.what = what, .name = json_get_string(question->request, member, NULL)};
    int64_t id = 0;
    if (thing.name == NULL)
        return check_everywhere(question, err);
    CHECK(str_parse_i64(thing.name, 0, INT64_MAX, &id));
    find_by_id(question, kind, id, &thing);
    return check_thing(question, &thing, err);
}

/* --- members --------------------------------------------------------------------------------- */

static enum status check_dags(const struct question *question, struct err *err)
{
    const json_t *list = json_object_get(question->request, "dags");
    if (check_somewhere(question, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < json_array_size(list); i++)
        if (check_dag(question, json_string_value(json_array_get(list, i)), err) != STATUS_OK)
            return err->code;
    return STATUS_OK;
}

/* Who sends a command along writes a program, as authors of DAGs do; a handler is there already. */
static enum status check_command(const struct question *question, const json_t *job,
                                 const char *space, struct err *err)
{
    const struct principal *principal = question->service->principal;
    if (!job_handler_is_command(json_get_string(job, "handler", "")) ||
        principal_role(principal, space) >= PERMISSION_EDITOR)
        return STATUS_OK;
    return err_set(
        err, STATUS_DENIED,
        "a job that is a command needs the role editor in the namespace %.60s, %.60s has "
        "%s there; name a handler that hosts know instead",
        space, principal->name, permission_name(principal_role(principal, space)));
}

static enum status check_jobs(const struct question *question, struct err *err)
{
    const json_t *list = json_object_get(question->request, "jobs");
    if (check_somewhere(question, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *job = json_array_get(list, i);
        const char *space = json_get_string(job, "namespace", "default");
        if (check_space(question, space, "namespace", space, err) != STATUS_OK ||
            check_command(question, job, space, err) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

static enum status check_named_space(const struct question *question, struct err *err)
{
    const char *space = json_get_string(question->request, "namespace", "default");
    return check_space(question, space, "namespace", space, err);
}

static enum status check_limit(const struct question *question, struct err *err)
{
    const char *name = json_get_string(question->request, "name", "");
    const char *kind = json_get_string(question->request, "kind", "");
    if (str_equal(kind, "dag"))
        return check_dag(question, name, err);
    if (str_equal(kind, "namespace"))
        return check_space(question, name, "namespace", name, err);
    return check_everywhere(question, err);
}

/* Of what may be named, everything that is. *out_any: something is. */
static enum status check_members(const struct question *question, bool *out_any, struct err *err)
{
    const char *dag = json_get_string(question->request, "dag", NULL);
    const char *run = json_get_string(question->request, "run", NULL);
    /* A file that is sent along has its author checked by whoever reads it. */
    bool is_sent = json_is_string(json_object_get(question->request, "text"));
    *out_any = dag != NULL || run != NULL || is_sent;
    if (is_sent && check_somewhere(question, err) != STATUS_OK)
        return err->code;
    if (dag != NULL && !is_sent && check_dag(question, dag, err) != STATUS_OK)
        return err->code;
    if (run != NULL && check_run(question, run, err) != STATUS_OK)
        return err->code;
    return STATUS_OK;
}

static enum status check_list(const struct question *question, struct err *err)
{
    bool any = false;
    if (check_somewhere(question, err) != STATUS_OK ||
        check_members(question, &any, err) != STATUS_OK)
        return err->code;
    const char *space = json_get_string(question->request, "namespace", NULL);
    return space != NULL ? check_named_space(question, err) : STATUS_OK;
}

static enum status check_object(const struct question *question, struct err *err)
{
    bool any = false;
    if (check_members(question, &any, err) != STATUS_OK)
        return err->code;
    return any ? STATUS_OK : check_everywhere(question, err);
}

static enum status check_scope(const struct question *question, struct err *err)
{
    switch (question->operation->scope) {
    case SCOPE_ALL:
        return check_everywhere(question, err);
    case SCOPE_ANY:
        return check_somewhere(question, err);
    case SCOPE_LIST:
        return check_list(question, err);
    case SCOPE_DAG:
    case SCOPE_RUN:
        return check_object(question, err);
    case SCOPE_DAGS:
        return check_dags(question, err);
    case SCOPE_JOB:
        return check_id(question, SIGHT_JOB, "job", "job", err);
    case SCOPE_JOBS:
        return check_jobs(question, err);
    case SCOPE_LETTER:
        return check_id(question, SIGHT_LETTER, "id", "dead letter", err);
    case SCOPE_BACKFILL:
        return check_id(question, SIGHT_BACKFILL, "backfill", "backfill", err);
    case SCOPE_NOTICE:
        return check_id(question, SIGHT_NOTICE, "id", "message", err);
    case SCOPE_WEBHOOK:
        return check_id(question, SIGHT_WEBHOOK, "id", "webhook", err);
    case SCOPE_NAMESPACE:
        return check_named_space(question, err);
    case SCOPE_LIMIT:
        return check_limit(question, err);
    case SCOPE_WORKER:
        return principal_is_worker(question->service->principal) ? STATUS_OK
                                                                 : check_everywhere(question, err);
    case SCOPE_COUNT:
        break;
    }
    UNREACHABLE("a known scope");
}

static bool is_given(const json_t *request, const char *name)
{
    const json_t *value = json_object_get(request, name);
    return value != NULL && !json_is_null(value);
}

/* Files of this machine are for those who are on it. */
static enum status check_paths(const struct operation *operation, const json_t *request,
                               struct err *err)
{
    bool has_text = json_is_string(json_object_get(request, "text"));
    for (size_t i = 0; i < operation->request.count; i++) {
        const struct operation_field *field = &operation->request.fields[i];
        bool is_path = field->type == FIELD_PATHS || (field->type == FIELD_PATH && !has_text);
        if (is_path && is_given(request, field->name))
            return err_set(err, STATUS_DENIED,
                           "%s: '%s' leads to a file of the server, which cannot be reached from "
                           "elsewhere%s",
                           operation->name, field->name,
                           operation_takes(operation, "text") ? "; send its `text`" : "");
    }
    return STATUS_OK;
}

enum status access_check(struct service *service, const struct operation *operation,
                         const json_t *request, struct err *err)
{
    const struct principal *principal = service->principal;
    if (operation->permission == PERMISSION_NONE)
        return err_set(err, STATUS_DENIED, "%s: nobody may do this", operation->name);
    if (!service_is_local(service) && check_paths(operation, request, err) != STATUS_OK)
        return err->code;
    /* What a job needs depends on what it is. */
    if (principal_role(principal, NULL) >= operation->permission && operation->scope != SCOPE_JOBS)
        return STATUS_OK;
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const struct question question = {service, operation, request, arena};
    return check_scope(&question, err);
}
