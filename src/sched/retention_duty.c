#include "base/log.h"
#include "sched/duty.h"

/* Ages are counted in days. While there is much to do, others have their turn in between. */
enum { REST_US = 200000 };
static const int64_t EVERY_US = (int64_t)10 * 60 * 1000000;

enum status duty_remove_old(const struct duty_call *call, struct duty_result *out, struct err *err)
{
    struct retention_report report = {0};
    const struct retention_call turn = {
        .store = call->store,
        .blob = call->blob,
        .policy = call->retention,
        .actor = "retention",
    };
    bool more = false;
    /* News are no reason to look again, nor to put it off. */
    out->was_idle = call->retention == NULL || call->now_us < call->due_us;
    out->next_us = call->retention == NULL ? DUTY_NEVER : call->due_us;
    if (out->was_idle)
        return STATUS_OK;
    out->next_us = call->now_us + EVERY_US;
    if (retention_turn(&turn, &report, &more, err) != STATUS_OK)
        return err->code;
    int64_t events = retention_report_events(&report);
    if (report.runs > 0 || report.jobs > 0 || events > 0)
        log_info("removed what is old", LOG_INT("runs", report.runs), LOG_INT("jobs", report.jobs),
                 LOG_INT("events", events), LOG_INT("messages", report.rest[OLD_NOTICES]));
    if (more)
        out->next_us = call->now_us + REST_US;
    return STATUS_OK;
}
