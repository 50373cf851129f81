#include "sched/retention_turn.h"
#include "service/json_build.h"
#include "service/op_handlers.h"
#include "service/service.h"

enum status op_store_prune(struct service *service, const json_t *request, json_t **out,
                           struct err *err)
{
    bool dry_run = json_get_bool(request, "dry_run", false);
    struct retention_policy policy = retention_policy_of(service->settings);
    struct retention_report report = {0};
    struct retention_call call = {.policy = &policy, .is_dry = dry_run, .actor = service->actor};
    if (service_store(service, DB_READ_WRITE, &call.store, err) != STATUS_OK ||
        service_blob_if_any(service, &call.blob, err) != STATUS_OK)
        return err->code;
    for (bool more = true; more;)
        if (retention_turn(&call, &report, &more, err) != STATUS_OK)
            return err->code;
    *out = json_build_object();
    json_put_int(*out, "runs", report.runs);
    json_put_int(*out, "runs_without_logs", report.runs_without_logs);
    json_put_int(*out, "runs_without_values", report.runs_without_values);
    json_put_int(*out, "values", report.values);
    json_put_int(*out, "jobs", report.jobs);
    json_put_int(*out, "events", report.events);
    json_put_bool(*out, "dry_run", dry_run);
    return STATUS_OK;
}
