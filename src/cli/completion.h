#pragma once
/*
 * completion: scripts for shells, made from the tables of commands.
 */
#include <stdbool.h>
#include <stdio.h>

#include "base/attrs.h"

/* False when there is none for this shell. */
NODISCARD bool completion_print(FILE *out, const char *shell);
