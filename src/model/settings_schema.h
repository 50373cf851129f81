#pragma once
/*
 * settings_schema: JSON Schema of eider.yaml, from the table of settings. Pure.
 */
#include "base/attrs.h"
#include "base/json.h"

/* A new reference. */
NODISCARD json_t *settings_schema(void);
