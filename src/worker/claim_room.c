#include "worker/claim_room.h"

#include "base/mem.h"

enum { SHORT_TASK_US = 20000 }; /* below this, going to the store for each task costs too much */

int64_t claim_room_slots(const struct claim_room *room)
{
    return MAX((room->slots * room->percent + 99) / 100, (int64_t)1);
}

/*
 * Short tasks are claimed ahead of their slots, so that the next one starts while the end of the
 * last is being committed. Long ones are not: they would look as if they ran, and keep more urgent
 * work from its turn.
 */
int64_t claim_room_left(const struct claim_room *room)
{
    int64_t slots = claim_room_slots(room);
    bool are_short = room->pace_us > 0 && room->pace_us < SHORT_TASK_US;
    return MAX(slots * (are_short ? 2 : 1) - room->held, (int64_t)0);
}
