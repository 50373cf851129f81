#include "sched/duty.h"
#include "store/notice.h"

/* Told once; whoever sends knows by itself when the next one is due, and is told again if not. */
enum status duty_mind_messages(const struct duty_call *call, struct duty_result *out,
                               struct err *err)
{
    int64_t next_us = call->glance != NULL ? call->glance->next_message_us : 0;
    out->was_idle = call->glance != NULL;
    if (!out->was_idle && store_notice_next(call->store, &next_us, err) != STATUS_OK)
        return err->code;
    out->has_mail = next_us <= call->now_us;
    out->next_us = out->has_mail ? DUTY_NEVER : next_us;
    return STATUS_OK;
}
