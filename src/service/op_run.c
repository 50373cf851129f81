/*
 * Runs as they are: nothing here changes one.
 */
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "blob/value_key.h"
#include "model/dag_fields.h"
#include "service/json_build.h"
#include "service/listing.h"
#include "service/lookup.h"
#include "service/op_handlers.h"
#include "service/run_filter.h"
#include "service/run_json.h"
#include "service/trigger_json.h"
#include "store/job.h"
#include "store/overview.h"
#include "store/task_note.h"
#include "store/value.h"
#include "store/version.h"

enum { ACTIVE_MAX = 10000, SPILLED_MAX = 16 << 20 };

/* --- run.list -------------------------------------------------------------------------------- */

struct listing {
    const struct service *service;
    struct store *store;
    json_t *runs;
    int64_t limit;
    int64_t last; /* that is on the page */
    bool has_more;
    bool is_brief;
};

static enum status list_run(void *context, const struct run_info *run, struct err *err)
{
    struct listing *listing = context;
    json_t *object = NULL;
    listing->has_more = (int64_t)json_array_size(listing->runs) == listing->limit;
    if (listing->has_more)
        return STATUS_OK;
    listing->last = run->id;
    if (listing->is_brief)
        object = run_json(listing->service, run, NULL);
    else if (run_json_load(listing->service, listing->store, run, &object, err) != STATUS_OK)
        return err->code;
    json_build_append(listing->runs, object);
    return STATUS_OK;
}

/* How many there are on all pages, wherever this one begins. */
static enum status count_runs(struct store *store, const void *filter, int64_t most, int64_t *out,
                              struct err *err)
{
    struct run_page all = *(const struct run_page *)filter;
    all.below = 0;
    all.above = 0;
    return store_run_page_count(store, &all, most, out, err);
}

static enum status read_cursor(const json_t *request, struct run_page *filter, struct err *err)
{
    int64_t run = 0;
    if (json_object_get(request, "cursor") == NULL)
        return STATUS_OK;
    if (filter->order != RUN_BY_ID)
        return err_set(err, STATUS_INVALID,
                       "'cursor' goes on in a list by id: leave 'order_by' away, or use 'offset'");
    if (listing_read_cursor(request, &run, err) != STATUS_OK)
        return err->code;
    *(filter->is_descending ? &filter->below : &filter->above) = run;
    return STATUS_OK;
}

static enum status read_page(struct listing *listing, const struct run_page *filter,
                             struct err *err)
{
    struct run_page page = *filter;
    listing->limit = page.limit;
    page.limit = listing_ask(page.limit);
    if (listing->store != NULL &&
        store_run_page(listing->store, &page, list_run, listing, err) != STATUS_OK)
        return err_wrap(err, "list runs");
    listing->has_more = listing->has_more && filter->order == RUN_BY_ID;
    return STATUS_OK;
}

enum status op_run_list(struct service *service, const json_t *request, json_t **out,
                        struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *runs = json_build_array();
    struct listing listing = {
        .service = service, .runs = runs, .is_brief = json_get_bool(request, "brief", false)};
    struct run_page filter;
    if (run_filter_read(request, arena, &filter, err) != STATUS_OK ||
        run_filter_read_page(request, &filter.limit, &filter.offset, err) != STATUS_OK ||
        read_cursor(request, &filter, err) != STATUS_OK ||
        service_store_if_any(service, &listing.store, err) != STATUS_OK ||
        read_page(&listing, &filter, err) != STATUS_OK)
        return err->code;
    if (json_array_size(runs) == 0 && lookup_dag_name(service, filter.dag_id, err) != STATUS_OK)
        return err->code;
    const struct listing_page page = {
        .request = request,
        .name = "dag_runs",
        .store = listing.store,
        .limit = filter.limit,
        .is_later = filter.offset > 0 || filter.below > 0 || filter.above > 0,
        .count = count_runs,
        .filter = &filter,
    };
    if (listing_answer(&page, TAKE(runs), out, err) != STATUS_OK)
        return err->code;
    listing_put_cursor(*out, listing.has_more, listing.last);
    return STATUS_OK;
}

/* --- run.show -------------------------------------------------------------------------------- */

struct owners {
    const struct service *service;
    int64_t held_by;
    int64_t alive;
};

static void count_owner(void *context, int64_t host)
{
    struct owners *owners = context;
    owners->held_by++;
    owners->alive += service_host_is_alive(owners->service, host);
}

enum status op_run_show(struct service *service, const json_t *request, json_t **out,
                        struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct found_run run;
    CLEANUP(json_decrefp) json_t *object = NULL;
    struct owners owners = {.service = service};
    if (lookup_run(service, DB_READ_ONLY, arena, request, &run, err) != STATUS_OK)
        return err->code;
    if (json_get_bool(request, "brief", false)) {
        *out = run_json(service, &run.info, NULL);
        return STATUS_OK;
    }
    if (!run_state_is_final(run.info.state) &&
        store_host_of_run(run.store, run.info.id, count_owner, &owners, err) != STATUS_OK)
        return err->code;
    if (run_json_load(service, run.store, &run.info, &object, err) != STATUS_OK ||
        trigger_json_put_causes(run.store, run.info.id, object, err) != STATUS_OK)
        return err->code;
    if (owners.held_by > owners.alive)
        json_put_string(object, "reason", "its owner is dead: `eider retry` continues it");
    *out = TAKE(object);
    return STATUS_OK;
}

/* --- run.tasks ------------------------------------------------------------------------------- */

struct task_listing {
    struct task_note_list notes;
    const struct service *service;
    const struct found_run *run;
    json_t *tasks;
    int64_t node;               /* only this one; -1: all */
    int64_t state;              /* only these; -1: all */
    int64_t skips;              /* of those that match */
    int64_t limit;              /* after these; -1: all */
    int64_t matching;           /* so far */
    bool has_tasks;             /* as the DAG has them */
    bool has_instances;         /* of mapped ones */
    struct task_row *expanders; /* mapped tasks that have instances to come */
    size_t expanders_count;
};

static bool is_listed(struct task_listing *listing, const struct task_row *task)
{
    if ((listing->node >= 0 && task->node != listing->node) ||
        (listing->state >= 0 && (int64_t)task->state != listing->state) ||
        !(task->map_index >= 0 ? listing->has_instances : listing->has_tasks))
        return false;
    int64_t place = listing->matching++ - listing->skips;
    return place >= 0 && (listing->limit < 0 || place < listing->limit);
}

/* Instances get their rows when they start; until then they are shown as tasks that wait. */
static void list_to_come(struct task_listing *listing, const struct task_row *expander)
{
    struct task_row instance = {
        .run = expander->run,
        .node = expander->node,
        .map_index = expander->inserted,
        .generation = expander->generation,
        .exit_code = -1,
    };
    for (; instance.map_index < expander->counts.total; instance.map_index++)
        if (is_listed(listing, &instance))
            json_build_append(listing->tasks,
                              task_json(listing->service, &listing->run->info,
                                        &listing->run->dag->tasks[instance.node], &instance));
}

static enum status list_task(void *context, const struct run_row *run, const struct task_row *task,
                             struct err *err)
{
    struct task_listing *listing = context;
    if (task_row_is_expanding(task))
        listing->expanders[listing->expanders_count++] = *task;
    if (!is_listed(listing, task))
        return STATUS_OK;
    json_t *object =
        task_json(listing->service, &listing->run->info, &run->dag->tasks[task->node], task);
    json_build_append(listing->tasks, object);
    json_put_string(object, "note", task_note_find(&listing->notes, task->id));
    return task_json_add_host(listing->service, listing->run->store, task, object, err);
}

static const char *task_state_at(const void *context, size_t i)
{
    (void)context;
    return task_state_name((enum task_state)i);
}

static enum status read_task_state(const json_t *request, int64_t *out, struct err *err)
{
    const char *name = json_get_string(request, "state", NULL);
    enum task_state state = TASK_NONE;
    if (name == NULL)
        return STATUS_OK;
    if (!task_state_parse(name, &state)) {
        const char *near = str_nearest(name, TASK_STATE_COUNT, task_state_at, NULL);
        return err_set(err, STATUS_INVALID, "no task is ever '%.60s'%s%s%s", name,
                       near != NULL ? ", did you mean '" : "", near != NULL ? near : "",
                       near != NULL ? "'?" : "");
    }
    *out = (int64_t)state;
    return STATUS_OK;
}

enum status op_run_tasks(struct service *service, const json_t *request, json_t **out,
                         struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *tasks = json_build_array();
    struct found_run run;
    const json_t *folded = json_object_get(request, "folded");
    struct task_listing listing = {
        .service = service,
        .run = &run,
        .tasks = tasks,
        .node = -1,
        .state = -1,
        .skips = MAX(json_get_int(request, "offset", 0), (int64_t)0),
        .limit = json_get_int(request, "limit", -1),
        .has_tasks = !json_is_false(folded),
        .has_instances = !json_is_true(folded),
    };
    const char *task_id = json_get_string(request, "task", NULL);
    if (read_task_state(request, &listing.state, err) != STATUS_OK ||
        lookup_run(service, DB_READ_ONLY, arena, request, &run, err) != STATUS_OK ||
        (task_id != NULL && lookup_node(run.dag, task_id, &listing.node, err) != STATUS_OK))
        return err->code;
    listing.expanders = arena_array(arena, run.dag->tasks_count + 1, sizeof *listing.expanders);
    if (store_task_notes(run.store, arena, &run.info, &listing.notes, err) != STATUS_OK ||
        store_task_each(run.store, run.info.id, list_task, &listing, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < listing.expanders_count; i++)
        list_to_come(&listing, &listing.expanders[i]);
    *out = json_build_object();
    json_put_int(*out, "total_entries", listing.matching);
    json_put(*out, "task_instances", TAKE(tasks));
    return STATUS_OK;
}

/* --- run.active ------------------------------------------------------------------------------ */

struct active {
    struct service *service;
    struct store *store;
    struct arena *arena;
    struct run_info run; /* of the task before: they come by run */
    const struct dag *dag;
    json_t *tasks;
};

/* A job has neither DAG nor run: its handler and its number stand for them. */
static enum status list_job(struct active *active, const struct task_row *task, struct err *err)
{
    struct job_info info;
    enum status status = store_job_load(active->store, active->arena, task->id, &info, err);
    if (status != STATUS_OK)
        return status == STATUS_NOT_FOUND ? STATUS_OK : status;
    struct run_info run = {
        .dag_id = "(job)",
        .run_id = arena_format(active->arena, "%lld", (long long)task->id),
        .kind = "manual",
    };
    struct task_def def = *task_def_default();
    def.id = info.handler;
    def.queue = info.queue;
    def.retry.retries = info.retries;
    json_t *object = task_json(active->service, &run, &def, task);
    json_build_append(active->tasks, object);
    return task_json_add_host(active->service, active->store, task, object, err);
}

static enum status list_active(struct active *active, int64_t id, struct err *err)
{
    struct task_row task;
    struct err problem = {0};
    enum status status = store_task_load(active->store, active->arena, id, &task, &problem);
    /* It may have ended since it was listed. */
    if (status == STATUS_NOT_FOUND || (status == STATUS_OK && task.state != TASK_RUNNING))
        return STATUS_OK;
    if (status == STATUS_OK && task.run == RUN_OF_JOBS)
        return list_job(active, &task, err);
    if (status == STATUS_OK && task.run != active->run.id) {
        status = store_run_load(active->store, active->arena, task.run, &active->run, &problem);
        if (status == STATUS_OK)
            status = store_version_dag(active->store, active->run.version, &active->dag, &problem);
    }
    if (status != STATUS_OK) {
        *err = problem;
        return status;
    }
    json_t *object =
        task_json(active->service, &active->run, &active->dag->tasks[task.node], &task);
    json_build_append(active->tasks, object);
    return task_json_add_host(active->service, active->store, &task, object, err);
}

enum status op_run_active(struct service *service, const json_t *request, json_t **out,
                          struct err *err)
{
    (void)request;
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *tasks = json_build_array();
    struct active active = {.service = service, .arena = arena, .tasks = tasks};
    int64_t *ids = NULL;
    size_t count = 0;
    if (service_store_if_any(service, &active.store, err) != STATUS_OK ||
        (active.store != NULL &&
         store_held_list(active.store, arena, ACTIVE_MAX, &ids, &count, err) != STATUS_OK))
        return err->code;
    for (size_t i = 0; i < count; i++)
        if (list_active(&active, ids[i], err) != STATUS_OK)
            return err_wrap(err, "list what runs");
    *out = json_build_object();
    json_put_int(*out, "total_entries", (int64_t)json_array_size(tasks));
    json_put(*out, "task_instances", TAKE(tasks));
    return STATUS_OK;
}

/* --- run.values ------------------------------------------------------------------------------ */

struct value_listing {
    struct service *service;
    struct found_run run;
    const char *key;   /* only this one, or NULL */
    int64_t node;      /* only this one; -1: all */
    int64_t map_index; /* only this one; -1: all */
    const struct task_def *def;
    const struct task_row *task;
    json_t *values;
};

/* Keys with two underscores are the program's own. */
static bool is_hidden(const char *key)
{
    return str_starts_with(key, "__");
}

/* *out stays NULL for one that is gone or larger than anybody wants to see; heap. */
static enum status read_spilled(const struct value_listing *listing, const struct value_info *value,
                                char **out, struct err *err)
{
    CLEANUP(blob_handle_closep) struct blob_handle *handle = NULL;
    struct blob *blob = NULL;
    const struct task_row *task = listing->task;
    struct blob_key key = value_key(listing->run.info.id, task->id, task->attempt, value->key);
    struct err problem = {0};
    size_t got = 0;
    if (service_blob_if_any(listing->service, &blob, err) != STATUS_OK)
        return err->code;
    if (blob == NULL || value->bytes > SPILLED_MAX)
        return STATUS_OK;
    enum status status = blob_open(blob, &key, BLOB_READ, &handle, &problem);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    char *bytes = mem_alloc((size_t)value->bytes + 1);
    if (status == STATUS_OK)
        status = blob_range(handle, 0, bytes, (size_t)value->bytes, &got, &problem);
    if (status != STATUS_OK) {
        mem_freep(&bytes);
        *err = problem;
        return status;
    }
    bytes[got] = '\0';
    *out = bytes;
    return STATUS_OK;
}

static enum status list_value(void *context, const struct value_info *value, struct err *err)
{
    struct value_listing *listing = context;
    if (is_hidden(value->key) || (listing->key != NULL && !str_equal(listing->key, value->key)))
        return STATUS_OK;
    json_t *object = json_build_object();
    json_build_append(listing->values, object);
    json_put_instant(object, "logical_date", listing->run.info.logical_at_us);
    json_put_string(object, "task_id", listing->def->id);
    json_put_int(object, "map_index", listing->task->map_index);
    json_put_string(object, "label", listing->task->label);
    json_put_string(object, "key", value->key);
    json_put_int(object, "bytes", value->bytes);
    json_put_instant(object, "timestamp",
                     listing->task->ended_at_us != 0 ? listing->task->ended_at_us
                                                     : listing->run.info.created_at_us);
    json_put_bool(object, "spilled", value->json == NULL);
    json_t *parsed = NULL;
    CLEANUP(mem_freep) char *spilled = NULL;
    /* Large ones are read one by one. */
    if (value->json == NULL && listing->key != NULL &&
        read_spilled(listing, value, &spilled, err) != STATUS_OK)
        return err_wrap(err, "value '%s' of '%s'", value->key, listing->def->id);
    const char *text = value->json != NULL ? value->json : spilled;
    if (text != NULL && json_parse(text, strlen(text), &parsed, err) != STATUS_OK)
        return err_wrap(err, "value '%s' of '%s'", value->key, listing->def->id);
    json_put(object, "value", text != NULL ? parsed : json_null());
    return STATUS_OK;
}

static enum status list_values(void *context, const struct run_row *run,
                               const struct task_row *task, struct err *err)
{
    struct value_listing *listing = context;
    if ((listing->node >= 0 && task->node != listing->node) ||
        (listing->map_index >= 0 && task->map_index != listing->map_index))
        return STATUS_OK;
    listing->def = &run->dag->tasks[task->node];
    listing->task = task;
    return store_value_each(listing->run.store, task->id, list_value, listing, err);
}

enum status op_run_values(struct service *service, const json_t *request, json_t **out,
                          struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *values = json_build_array();
    const char *task_id = json_get_string(request, "task", NULL);
    struct value_listing listing = {
        .service = service,
        .key = json_get_string(request, "key", NULL),
        .node = -1,
        .map_index = json_get_int(request, "map_index", -1),
        .values = values,
    };
    if (listing.map_index >= 0 && task_id == NULL)
        return err_set(err, STATUS_INVALID, "'map_index' needs a task");
    if (lookup_run(service, DB_READ_ONLY, arena, request, &listing.run, err) != STATUS_OK ||
        (task_id != NULL &&
         lookup_node(listing.run.dag, task_id, &listing.node, err) != STATUS_OK) ||
        store_task_each(listing.run.store, listing.run.info.id, list_values, &listing, err) !=
            STATUS_OK)
        return err->code;
    if (listing.key != NULL && task_id != NULL && json_array_size(values) == 0)
        return err_set(err, STATUS_NOT_FOUND, "task '%s' has no value '%.100s'", task_id,
                       listing.key);
    *out = json_build_object();
    json_put_int(*out, "total_entries", (int64_t)json_array_size(values));
    json_put(*out, "values", TAKE(values));
    return STATUS_OK;
}
