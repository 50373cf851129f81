#include "service/dag_standing.h"

#include "service/json_build.h"
#include "service/run_json.h"
#include "store/run_store.h"

void dag_standing_put(json_t *object, const struct version_info *info, bool is_broken)
{
    json_put_int(object, "dag_version", info->number);
    json_put_bool(object, "is_active", info->is_active);
    json_put_bool(object, "is_rolled_back", !info->is_filed);
    json_put_bool(object, "has_import_errors", is_broken);
    json_put_string(object, "status",
                    !info->is_active  ? "inactive"
                    : is_broken       ? "broken"
                    : !info->is_filed ? "rolled_back"
                                      : "active");
}

struct last_run {
    const struct service *service;
    json_t *run;
};

static enum status keep_run(void *context, const struct run_info *run, struct err *err)
{
    (void)err;
    struct last_run *last = context;
    last->run = run_json(last->service, run, NULL);
    return STATUS_OK;
}

enum status dag_standing_put_last_run(const struct service *service, struct store *store,
                                      const char *dag_id, json_t *object, struct err *err)
{
    struct last_run last = {.service = service};
    struct run_filter filter = {.dag_id = dag_id, .state = -1, .limit = 1};
    if (store != NULL && store_run_each(store, &filter, keep_run, &last, err) != STATUS_OK) {
        json_decref(last.run);
        return err->code;
    }
    json_put(object, "last_run", last.run != NULL ? last.run : json_null());
    return STATUS_OK;
}
