#include "service/home_failing.h"

#include "model/attempt.h"
#include "service/json_build.h"
#include "store/recent.h"
#include "store/version.h"

enum status home_failing_put(struct service *service, const struct run_info *run, json_t *object,
                             struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct recent_failure failure = {0};
    const struct dag *dag = NULL;
    struct store *store = NULL;
    bool is_found = false;
    if (service_store(service, DB_READ_ONLY, &store, err) != STATUS_OK ||
        store_recent_failure(store, arena, run->id, &failure, &is_found, err) != STATUS_OK ||
        store_version_dag(store, run->version, &dag, err) != STATUS_OK)
        return err->code;
    is_found = is_found && failure.node >= 0 && (size_t)failure.node < dag->tasks_count;
    json_put_string(object, "task_id", is_found ? dag->tasks[failure.node].id : NULL);
    json_put(object, "map_index", is_found ? json_integer(failure.map_index) : json_null());
    json_put_string(object, "label", failure.label);
    json_put(object, "try_number", is_found ? json_integer(failure.attempt) : json_null());
    bool is_exit = is_found && failure.reason == REASON_EXIT;
    bool is_signal = is_found && failure.reason == REASON_SIGNAL;
    json_put(object, "exit_code", is_exit ? json_integer(failure.exit_code) : json_null());
    json_put(object, "signal", is_signal ? json_integer(failure.exit_code) : json_null());
    json_put_string(object, "reason",
                    failure.reason != REASON_NONE ? reason_name(failure.reason) : NULL);
    json_put_string(object, "message", failure.detail);
    return STATUS_OK;
}
