#include "base/log.h"
#include "os/zone_file.h"
#include "sched/duty.h"
#include "store/backfill_store.h"
#include "store/control.h"

enum { BACKFILLS_MAX = 100, DOOMED_MAX = 100, LOOK_EVERY_US = 1000000 };

/* If two hosts do it at once, the second finds that it was asked for. */
static enum status stop_doomed(const struct duty_call *call, struct duty_result *out,
                               struct err *err)
{
    struct doomed_run runs[DOOMED_MAX];
    char actor[BACKFILL_ACTOR_MAX];
    size_t count = 0;
    if (store_backfill_doomed(call->store, runs, ARRAY_LEN(runs), &count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < count; i++) {
        struct cancel_request request = {.run = runs[i].run,
                                         .cause = CANCEL_ASKED,
                                         .actor = backfill_actor(runs[i].backfill, actor)};
        enum status status = store_run_cancel(call->store, &request, err);
        if (status != STATUS_OK && status != STATUS_CONFLICT)
            return status;
        out->changed = true;
    }
    if (count == DOOMED_MAX)
        out->next_us = call->now_us;
    return STATUS_OK;
}

/* One that cannot go on, say because a time zone is missing here, does not keep others from it. */
static void step(const struct duty_call *call, int64_t id, struct duty_result *out)
{
    struct err err = {0};
    struct backfill_progress progress;
    if (store_backfill_step(call->store, id, zone_file_read, &progress, &err) != STATUS_OK) {
        log_warn("a backfill does not go on", LOG_ID("backfill", id), LOG_STR("error", err.text));
        return;
    }
    out->changed |= progress.let_go + progress.redone > 0;
    if (progress.is_more)
        out->next_us = call->now_us;
    if (progress.is_over)
        log_info("backfill ended", LOG_ID("backfill", id));
}

enum status duty_work_off_backfills(const struct duty_call *call, struct duty_result *out,
                                    struct err *err)
{
    int64_t ids[BACKFILLS_MAX];
    size_t count = 0;
    bool goes_on = false;
    out->was_idle = call->glance != NULL && !call->glance->has_backfills;
    if (out->was_idle)
        return STATUS_OK;
    if (store_backfill_due(call->store, ids, ARRAY_LEN(ids), &count, &goes_on, err) != STATUS_OK)
        return err->code;
    if (!goes_on)
        return STATUS_OK;
    out->next_us = call->now_us + LOOK_EVERY_US;
    for (size_t i = 0; i < count; i++)
        step(call, ids[i], out);
    return stop_doomed(call, out, err);
}
