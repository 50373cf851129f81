#include "service/log_target.h"

#include "base/str.h"
#include "store/job.h"
#include "store/run_store.h"

/* The attempt that is asked for, or the newest. */
static enum status choose_attempt(const json_t *request, int64_t newest, int64_t *out,
                                  struct err *err)
{
    *out = json_get_int(request, "try_number", newest);
    if (json_object_get(request, "try_number") != NULL && *out < 1)
        return err_set(err, STATUS_INVALID, "'try_number' counts from 1");
    if (*out > newest)
        return err_set(err, STATUS_NOT_FOUND, "there have been %lld attempts, not %lld",
                       (long long)newest, (long long)*out);
    return STATUS_OK;
}

enum status log_target_task(struct service *service, struct arena *arena, const json_t *request,
                            struct log_target *out, struct err *err)
{
    int64_t node = 0;
    int64_t map_index = json_get_int(request, "map_index", -1);
    if (lookup_run(service, DB_READ_ONLY, arena, request, &out->run, err) != STATUS_OK ||
        lookup_node(out->run.dag, json_get_string(request, "task", ""), &node, err) != STATUS_OK ||
        lookup_task(&out->run, arena, node, map_index, &out->task, err) != STATUS_OK)
        return err->code;
    if (out->task.instance_base != 0)
        return err_set(err, STATUS_INVALID,
                       "task '%s' is mapped: each instance has a log, say which with `map_index`",
                       out->run.dag->tasks[node].id);
    if (choose_attempt(request, out->task.attempt, &out->attempt, err) != STATUS_OK)
        return err->code;
    out->key = (struct blob_key){
        .kind = BLOB_LOG, .ids = {out->run.info.id, out->task.id, out->attempt}, .id_count = 3};
    return STATUS_OK;
}

enum status log_target_job(struct service *service, struct arena *arena, const json_t *request,
                           struct log_target *out, struct err *err)
{
    struct store *store = NULL;
    struct job_info job = {0};
    int64_t id = 0;
    (void)!str_parse_i64(json_get_string(request, "job", ""), 0, INT64_MAX, &id);
    if (service_store(service, DB_READ_ONLY, &store, err) != STATUS_OK ||
        store_job_load(store, arena, id, &job, err) != STATUS_OK ||
        store_task_load(store, arena, id, &out->task, err) != STATUS_OK ||
        choose_attempt(request, job.attempt, &out->attempt, err) != STATUS_OK)
        return err->code;
    out->key = (struct blob_key){.kind = BLOB_LOG, .ids = {0, job.id, out->attempt}, .id_count = 3};
    return STATUS_OK;
}
