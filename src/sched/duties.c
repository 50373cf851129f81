#include "base/attrs.h"
#include "sched/duty.h"

const struct duty DUTIES[] = {
    {"stop overdue runs", duty_stop_overdue},
    {"remove what is old", duty_remove_old},
};
const size_t DUTIES_COUNT = ARRAY_LEN(DUTIES);
