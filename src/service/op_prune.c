#include "base/mem.h"
#include "sched/retention_turn.h"
#include "service/json_build.h"
#include "service/op_handlers.h"
#include "service/service.h"
#include "store/audit.h"

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
    CLEANUP(json_decrefp) json_t *object = json_build_object();
    json_put_int(object, "runs", report.runs);
    json_put_int(object, "runs_without_logs", report.runs_without_logs);
    json_put_int(object, "runs_without_values", report.runs_without_values);
    json_put_int(object, "values", report.values);
    json_put_int(object, "jobs", report.jobs);
    json_put_int(object, "dead_letters", report.dead);
    json_put_int(object, "events", retention_report_events(&report));
    json_put_int(object, "messages", report.rest[OLD_NOTICES]);
    json_put_int(object, "files", report.rest[OLD_ARRIVALS]);
    json_put_int(object, "backfills", report.rest[OLD_BACKFILLS]);
    json_put_int(object, "versions", report.rest[OLD_VERSIONS]);
    json_put_int(object, "hosts", report.rest[OLD_HOSTS]);
    CLEANUP(mem_freep) char *counts = json_format(object);
    if (!dry_run &&
        store_audit_add(call.store, EVENT_STORE_PRUNED, service->actor, counts, err) != STATUS_OK)
        return err_wrap(err, "what is old was removed, which could not be recorded");
    json_put_bool(object, "dry_run", dry_run);
    *out = TAKE(object);
    return STATUS_OK;
}
