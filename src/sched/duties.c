#include "base/attrs.h"
#include "sched/duty.h"

const struct duty DUTIES[] = {
    {"start what is due", duty_start_due},
    {"let waiting runs go", duty_let_go},
    {"let tasks go that waited for their past", duty_let_past_go},
    {"stop overdue runs", duty_stop_overdue},
    {"start what events ask for", duty_start_by_events},
    {"start what files ask for", duty_start_by_files},
    {"pass deadlines", duty_pass_deadlines},
    {"wake what waits", duty_wake_waits},
    {"work off backfills", duty_work_off_backfills},
    {"mind messages", duty_mind_messages},
    {"remove what is old", duty_remove_old},
};
const size_t DUTIES_COUNT = ARRAY_LEN(DUTIES);

/* Each duty asks for itself then, and tells what is wrong. */
const struct store_glance *duties_glance(struct store *store, struct store_glance *room)
{
    struct err err = {0};
    return store_glance(store, room, &err) == STATUS_OK ? room : NULL;
}
