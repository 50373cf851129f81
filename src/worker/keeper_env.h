#pragma once
/*
 * keeper_env: the environment of a keeper.
 *
 * Ours without the store, its key, and the secrets and connections that come from there: tasks
 * of the same user may find a way to look at it.
 */
#include "base/attrs.h"

/* Heap; the texts are those of `environ`. */
NODISCARD const char **keeper_env_new(void);
