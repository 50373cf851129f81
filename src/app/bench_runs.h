#pragma once
/*
 * bench_runs: `eider __bench runs FILE COUNT`, for `make bench`: create many runs of one DAG and
 * drain them in one process. Prints {"tasks": n, "seconds": s}.
 */
#include "app/config.h"
#include "app/home.h"

/* Returns the exit code. */
int bench_runs_main(const struct config *config, const struct home *home, const char *exe,
                    const char *path, int64_t count);
