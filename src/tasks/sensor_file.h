#pragma once
/*
 * sensor_file: whether a file is there.
 */
#include <stdbool.h>

/* A path, or a pattern with `*`, `?` or `[..]` of which one match is enough. */
bool sensor_file_is_there(const char *path);
