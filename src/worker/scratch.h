#pragma once
/*
 * scratch: the folder for outputs and scripts of running attempts, when only one process uses it.
 */
#include <stdbool.h>

/*
 * Remove everything in `dir` for which `is_kept` says no. What cannot be removed stays; the next
 * start tries again.
 */
void scratch_clean(const char *dir, bool (*is_kept)(void *context, const char *name),
                   void *context);
