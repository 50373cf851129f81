#pragma once
/*
 * json_build: new containers that are there, and lists that take what they are given.
 */
#include "base/json.h"

NODISCARD json_t *json_build_object(void);
NODISCARD json_t *json_build_array(void);
void json_build_append(json_t *array, json_t *taken);
/* JSON that we wrote ourselves; what cannot be read is shown as text, NULL as null. */
void json_build_put_parsed(json_t *object, const char *key, const char *text);
/* Words separated by blanks as a list; NULL is an empty one. */
NODISCARD json_t *json_build_words(const char *words);
/* A list with how many there are in it: {NAME: [..], "total_entries": n}. */
NODISCARD json_t *json_build_list(const char *name, json_t *taken);
