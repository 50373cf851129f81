#include "base/attrs.h"
#include "sched/duty.h"

const struct duty DUTIES[] = {
    {"stop overdue runs", duty_stop_overdue},
    {"work off backfills", duty_work_off_backfills},
};
const size_t DUTIES_COUNT = ARRAY_LEN(DUTIES);
