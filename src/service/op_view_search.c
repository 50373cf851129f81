/*
 * DAGs, tasks, tags, runs and jobs by a part of their name.
 */
#include <string.h>
#include <strings.h>

#include "base/check.h"
#include "base/str.h"
#include "service/json_build.h"
#include "service/op_handlers.h"
#include "service/service.h"
#include "store/job.h"
#include "store/run_store.h"
#include "store/search.h"
#include "store/sight.h"
#include "store/version.h"

enum { HITS_DEFAULT = 20, HITS_MAX = 100, QUERY_MAX = 200, TEXTS_MAX = 200 };

#define SEARCH_KIND_MAP(X)                                                                         \
    X(DAG, "dag")                                                                                  \
    X(TAG, "tag")                                                                                  \
    X(TASK, "task")                                                                                \
    X(RUN, "run")                                                                                  \
    X(JOB, "job")

enum search_kind {
#define X(name, text) SEARCH_##name,
    SEARCH_KIND_MAP(X)
#undef X
        SEARCH_KIND_COUNT
};

static const char *const KINDS[] = {
#define X(name, text) [SEARCH_##name] = (text),
    SEARCH_KIND_MAP(X)
#undef X
};

struct search {
    struct store *store;
    const char *part;
    int64_t limit; /* of each kind */
    bool wants[SEARCH_KIND_COUNT];
    int64_t found[SEARCH_KIND_COUNT];
    int64_t exact; /* the number that the text is, which was looked up already; or 0 */
    json_t *hits;
};

/* --- the question ---------------------------------------------------------------------------- */

static const char *kind_at(const void *context, size_t i)
{
    (void)context;
    return KINDS[i];
}

static enum status read_kinds(const json_t *request, struct search *search, struct err *err)
{
    const json_t *kinds = json_object_get(request, "kinds");
    bool wants_all = json_array_size(kinds) == 0;
    for (size_t i = 0; i < SEARCH_KIND_COUNT; i++)
        search->wants[i] = wants_all;
    for (size_t k = 0; k < json_array_size(kinds); k++) {
        const char *name = json_string_value(json_array_get(kinds, k));
        size_t i = 0;
        while (i < SEARCH_KIND_COUNT && strcmp(KINDS[i], name) != 0)
            i++;
        const char *near = str_nearest(name, SEARCH_KIND_COUNT, kind_at, NULL);
        if (i == SEARCH_KIND_COUNT)
            return err_set(err, STATUS_INVALID,
                           "there is no kind '%.60s'; there are dag, tag, task, run, job%s%s%s",
                           name, near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
                           near != NULL ? "'?" : "");
        search->wants[i] = true;
    }
    return STATUS_OK;
}

static enum status read_question(const json_t *request, struct search *search, struct err *err)
{
    search->part = json_get_string(request, "q", "");
    search->limit = json_get_int(request, "limit", HITS_DEFAULT);
    if (search->part[0] == '\0' || strlen(search->part) > QUERY_MAX)
        return err_set(err, STATUS_INVALID, "'q' must have from 1 to %d bytes", QUERY_MAX);
    if (search->limit < 1 || search->limit > HITS_MAX)
        return err_set(err, STATUS_INVALID, "'limit' must be from 1 to %d", HITS_MAX);
    return read_kinds(request, search, err);
}

/* --- what was found -------------------------------------------------------------------------- */

static bool has_part(const char *text, const char *part)
{
    size_t length = strlen(part);
    for (; *text != '\0'; text++)
        if (strncasecmp(text, part, length) == 0)
            return true;
    return false;
}

/* A new hit, or NULL when there are enough of its kind; borrowed from the list. */
static json_t *add_hit(struct search *search, enum search_kind kind, const char *name)
{
    if (!search->wants[kind] || search->found[kind] >= search->limit)
        return NULL;
    json_t *object = json_build_object();
    search->found[kind]++;
    json_put_string(object, "kind", KINDS[kind]);
    json_put_string(object, "name", name);
    json_build_append(search->hits, object);
    return object;
}

static enum status add_dag(void *context, const struct search_hit *hit, struct err *err)
{
    (void)err;
    struct search *search = context;
    if (!store_sees(search->store, hit->namespace_))
        return STATUS_OK;
    json_t *object = add_hit(search, SEARCH_DAG, hit->name);
    if (object == NULL)
        return STATUS_OK;
    json_put_string(object, "dag_id", hit->name);
    json_put_string(object, "title", hit->about);
    json_put_bool(object, "is_active", hit->state != 0);
    return STATUS_OK;
}

static void add_run_hit(struct search *search, int64_t id, const char *run_id, const char *dag_id,
                        enum run_state state)
{
    json_t *object = add_hit(search, SEARCH_RUN, run_id);
    if (object == NULL)
        return;
    json_put_string(object, "dag_id", dag_id);
    json_put_string(object, "dag_run_id", run_id);
    json_put_id(object, "number", id);
    json_put_string(object, "state", run_state_name(state));
}

static enum status add_run(void *context, const struct search_hit *hit, struct err *err)
{
    (void)err;
    struct search *search = context;
    bool is_sound = hit->state >= 0 && hit->state < RUN_STATE_COUNT;
    if (is_sound && hit->id != search->exact && store_sees(search->store, hit->namespace_))
        add_run_hit(search, hit->id, hit->name, hit->about, (enum run_state)hit->state);
    return STATUS_OK;
}

static void add_job_hit(struct search *search, int64_t id, const char *handler, const char *queue)
{
    json_t *object = add_hit(search, SEARCH_JOB, handler);
    if (object == NULL)
        return;
    json_put_id(object, "id", id);
    json_put_string(object, "queue", queue);
}

static enum status add_job(void *context, const struct search_hit *hit, struct err *err)
{
    (void)err;
    struct search *search = context;
    if (hit->id != search->exact && store_sees(search->store, hit->namespace_))
        add_job_hit(search, hit->id, hit->name, hit->about);
    return STATUS_OK;
}

/* The text of a version has the part somewhere; whether as a task or a tag, the DAG says. */
static enum status add_inside(void *context, const struct search_hit *hit, struct err *err)
{
    struct search *search = context;
    const struct dag *dag = NULL;
    if (hit->state == 0 || !store_sees(search->store, hit->namespace_))
        return STATUS_OK;
    if (store_version_dag(search->store, hit->id, &dag, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < dag->tags.count; i++) {
        bool is_hit = has_part(dag->tags.items[i], search->part);
        json_t *object = is_hit ? add_hit(search, SEARCH_TAG, dag->tags.items[i]) : NULL;
        if (object != NULL)
            json_put_string(object, "dag_id", dag->id);
    }
    for (size_t i = 0; i < dag->tasks_count; i++) {
        bool is_hit = has_part(dag->tasks[i].id, search->part);
        json_t *object = is_hit ? add_hit(search, SEARCH_TASK, dag->tasks[i].id) : NULL;
        if (object == NULL)
            continue;
        json_put_string(object, "dag_id", dag->id);
        json_put_string(object, "task_id", dag->tasks[i].id);
    }
    return STATUS_OK;
}

/* --- looking --------------------------------------------------------------------------------- */

static enum status pass_unless_missing(enum status status, const struct err *problem,
                                       struct err *err)
{
    if (status == STATUS_OK || status == STATUS_NOT_FOUND || status == STATUS_INVALID)
        return STATUS_OK;
    *err = *problem;
    return status;
}

/* A number is a run or a job; DAG/RUN_ID is a run: found however old. */
static enum status find_exact(struct search *search, struct arena *arena, struct err *err)
{
    struct err problem = {0};
    struct run_info run;
    struct job_info job;
    int64_t id = 0;
    bool is_number = str_parse_i64(search->part, 1, INT64_MAX, &search->exact);
    enum status status = STATUS_NOT_FOUND;
    if (!is_number && strchr(search->part, '/') != NULL)
        status = store_run_find(search->store, search->part, &id, &problem);
    if (is_number || status == STATUS_OK)
        status =
            store_run_load(search->store, arena, is_number ? search->exact : id, &run, &problem);
    bool is_seen = false;
    if (status == STATUS_OK &&
        store_sees_dag(search->store, run.dag_id, &is_seen, err) != STATUS_OK)
        return err->code;
    if (is_seen)
        add_run_hit(search, run.id, run.run_id, run.dag_id, run.state);
    if (pass_unless_missing(status, &problem, err) != STATUS_OK)
        return err->code;
    status = is_number ? store_job_load(search->store, arena, search->exact, &job, &problem)
                       : STATUS_NOT_FOUND;
    if (status == STATUS_OK && store_sees(search->store, job.namespace_))
        add_job_hit(search, job.id, job.handler, job.queue);
    return pass_unless_missing(status, &problem, err);
}

static enum status find_all(struct search *search, struct arena *arena, struct err *err)
{
    /* What is not seen must not use up the room of what is. */
    int64_t most = store_sees_all(search->store) ? search->limit : TEXTS_MAX;
    struct store *store = search->store;
    bool inside = search->wants[SEARCH_TAG] || search->wants[SEARCH_TASK];
    if (find_exact(search, arena, err) != STATUS_OK ||
        (search->wants[SEARCH_DAG] &&
         store_search_dags(store, search->part, most, add_dag, search, err) != STATUS_OK) ||
        (inside && store_search_texts(store, search->part, TEXTS_MAX, add_inside, search, err) !=
                       STATUS_OK) ||
        (search->wants[SEARCH_RUN] &&
         store_search_runs(store, search->part, most + 1, add_run, search, err) != STATUS_OK) ||
        (search->wants[SEARCH_JOB] &&
         store_search_jobs(store, search->part, most + 1, add_job, search, err) != STATUS_OK))
        return err->code;
    return STATUS_OK;
}

enum status op_search_find(struct service *service, const json_t *request, json_t **out,
                           struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *hits = json_build_array();
    struct search search = {.hits = hits};
    if (read_question(request, &search, err) != STATUS_OK ||
        service_store_if_any(service, &search.store, err) != STATUS_OK ||
        (search.store != NULL && find_all(&search, arena, err) != STATUS_OK))
        return err->code;
    *out = json_build_list("results", TAKE(hits));
    return STATUS_OK;
}
