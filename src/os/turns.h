#pragma once
/*
 * turns: threads that share one thing have it one after the other, in the order in which they
 * asked.
 *
 * A mutex alone promises no order: a thread that gives the thing back and asks again at once would
 * have it nearly always, and others would starve.
 *
 * Threads    Any. Whoever has the turn ends it.
 */
#include <stdbool.h>

#include "base/attrs.h"

struct turns;

NODISCARD struct turns *turns_new(void);
void turns_free(struct turns *turns); /* nobody has it or waits; NULL is allowed */

/* Wait until it is ours. */
void turns_take(struct turns *turns);
/* False, and nothing happens, when somebody has it or waits for it. */
NODISCARD bool turns_try(struct turns *turns);
void turns_give(struct turns *turns);
