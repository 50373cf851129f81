#include "base/log.h"
#include "sched/duty.h"
#include "sched/make_room.h"
#include "store/admission.h"

enum { AT_ONCE_MAX = 100 };

/* A DAG is looked at once per call, whatever others do meanwhile. */
enum status duty_let_go(const struct duty_call *call, struct duty_result *out, struct err *err)
{
    int64_t dags[AT_ONCE_MAX];
    size_t count = 0;
    int64_t after = 0;
    out->was_idle = call->glance != NULL && !call->glance->has_waiting_runs;
    if (out->was_idle)
        return STATUS_OK;
    if (make_room(call->store, &out->changed, err) != STATUS_OK)
        return err->code;
    do {
        if (store_admission_ready(call->store, after, dags, ARRAY_LEN(dags), &count, err) !=
            STATUS_OK)
            return err->code;
        for (size_t i = 0; i < count; i++) {
            int64_t gone = 0;
            const struct let_go_request request = {.dag_key = dags[i]};
            if (store_admission_let_go(call->store, &request, &gone, err) != STATUS_OK)
                return err->code;
            out->changed |= gone > 0;
            after = dags[i];
        }
    } while (count == ARRAY_LEN(dags));
    return STATUS_OK;
}
