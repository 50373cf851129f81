#pragma once
/*
 * yaml_scalar: the type of an unquoted YAML scalar.
 *
 * A careful subset of the YAML 1.2 core schema: null, true and false in their three
 * spellings, decimal integers and decimal floats. Everything else is text: yes, no, on,
 * dates, versions with two dots, 0o17, 0x1F, .inf, and numbers with a leading zero, which
 * are postal codes more often than numbers.
 */
#include <stddef.h>

#include "base/attrs.h"
#include "base/json.h"

/* A new value; NULL if it is an integer beyond 64 bits, which only quotes make meaningful. */
NODISCARD json_t *yaml_scalar_value(const char *text, size_t length);
