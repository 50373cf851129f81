#pragma once
/*
 * keeper_outputs: the folder of a task's outputs, turned into values.
 */
#include "base/json.h"

/*
 * Read every file of the directory `dir` into an object (name to value) and remove the
 * directory, whether or not it could be read. A file that holds JSON becomes that value, any
 * other a text without its last newline. A missing directory gives an empty object.
 *
 *   STATUS_INVALID  something in it is no regular file, or has an unusable name.
 *   STATUS_LIMIT    a file is larger than LIMIT_VALUE_BYTES, there are more than
 *                   LIMIT_VALUES_PER_TASK, or all together are too large.
 */
NODISCARD enum status keeper_outputs_take(const char *dir, json_t **out_values, struct err *err);
