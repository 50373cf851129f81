#pragma once
/*
 * dead_log: dead letters in a plain file beside the store, one line of JSON each.
 *
 * For whoever has to see what was given up when the database is away or gone. Written by the host
 * that leads; nothing reads it, and nothing is ever removed from it.
 */
#include "base/attrs.h"
#include "base/err.h"
#include "store/dead.h"

/* Of the file in a host's home. */
#define DEAD_LOG_NAME "dead-letters.jsonl"

/*
 * One line at the end of the file, which is made when it is missing; on disk when it returns. After
 * a failure the file is as it was. What a power cut left of a line stays a line of its own.
 */
NODISCARD enum status dead_log_append(const char *path, const struct dead_info *letter,
                                      struct err *err);
