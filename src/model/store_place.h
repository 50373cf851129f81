#pragma once
/*
 * store_place: where the files that belong to a store lie. Pure; all results are heap.
 *
 * A store in a file has a folder of its own, so that whoever uses the file finds the same logs,
 * values and locks, from any home: the folder it lies in when it has the usual name, else one
 * beside it that is named after it. What a home keeps for a store is in the home, under the
 * store's uuid: numbers of runs and tasks mean nothing without it.
 */
#include <stdbool.h>

#include "base/attrs.h"

/* The URL that a setting means: a relative path is inside the home; "": the usual file there. */
NODISCARD char *store_place_url(const char *setting, const char *home);
/* The path of a store in a file, borrowed from the URL; NULL: it is none. */
const char *store_place_path(const char *url);
/* The folder of a store in a file, whose path is absolute. */
NODISCARD char *store_place_folder(const char *path);
/* What this home keeps for that store. */
NODISCARD char *store_place_kept(const char *home, const char *uuid);
/* Fit to be part of a path. */
bool store_place_is_uuid(const char *text);
