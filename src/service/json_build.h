#pragma once
/*
 * json_build: new containers that are there, and lists that take what they are given.
 */
#include "base/json.h"

NODISCARD json_t *json_build_object(void);
NODISCARD json_t *json_build_array(void);
void json_build_append(json_t *array, json_t *taken);
