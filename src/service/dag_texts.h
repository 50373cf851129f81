#pragma once
/*
 * dag_texts: DAG files of this machine, for an operation that is done on another one.
 *
 * What cannot be read is told in the words that the operation itself would have used here.
 */
#include "base/attrs.h"
#include "base/err.h"
#include "base/json.h"
#include "service/operation.h"

/*
 * The request with the files themselves in the place of their paths: `text` beside `file`, `files`
 * for `paths`. A new reference; of a request that names no file the same object.
 */
NODISCARD enum status dag_texts_attach(const struct operation *operation, const json_t *request,
                                       json_t **out, struct err *err);
