#pragma once
/*
 * trigger: make a run that daemons work off.
 */
#include <stdbool.h>

struct cli;
struct parsed;

/* `needs_worker`: not when nobody is there to run it. Returns the exit code. */
int trigger_run(struct cli *cli, const struct parsed *parsed, bool needs_worker);
