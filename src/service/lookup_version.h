#pragma once
/*
 * lookup_version: the version of a DAG that a request wants to run.
 */
#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/json.h"
#include "service/service.h"

/*
 * The current version of what "file" and "dag" name; that of a file is kept in the store first,
 * since the file is the author's word. STATUS_CONFLICT: the file of the DAG is gone.
 */
NODISCARD enum status lookup_version(struct service *service, struct store *store,
                                     struct arena *arena, const json_t *request,
                                     int64_t *out_version, struct err *err);
