#pragma once
/*
 * explain_place: what of its queue and of the hosts keeps a task from starting. In words.
 */
#include "service/explain.h"

/*
 * What would hold the task up whenever its turn came: a queue that is paused, hosts that are not
 * there.
 */
void explain_obstacles(const struct explain_world *world, const struct explain_subject *subject,
                       struct explanation *out);
/* And, of one that could start now, what it waits for: its turn, its queue's bounds, a slot. */
void explain_queued(const struct explain_world *world, const struct explain_subject *subject,
                    struct explanation *out);
/* It could run, but for a limit. */
void explain_held(const struct explain_world *world, const struct explain_subject *subject,
                  struct explanation *out);
/* What keeps the instances of a mapped task that are still to come from starting. */
void explain_to_come(const struct explain_world *world, const struct explain_subject *subject,
                     struct explanation *out);
