#pragma once
/*
 * json: values of the outside world (params, task values, canonical DAGs).
 *
 * jansson is the value type everywhere; this header is the only way to it. Input
 * goes through json_parse, which is strict and bounded. Output is compact, with
 * sorted keys where a stable form matters.
 *
 * Ownership  as in jansson: `_new` functions of it and json_parse give the caller a
 *            reference; json_decref or CLEANUP(json_decrefp) ends it.
 */
#include <jansson.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"

enum { JSON_DEPTH_MAX = 128 };

/* One JSON value (any kind, not only containers) and nothing after it; duplicate keys refused. */
NODISCARD enum status json_parse(const char *text, size_t length, json_t **out, struct err *err);

/*
 * Compact text, heap, caller frees. Keys sorted: equal values give equal texts. A real is as short
 * as it can be while it reads back as the same number.
 */
NODISCARD char *json_format(const json_t *value);
/* The same, indented by two spaces, keys in the order they were set. */
NODISCARD char *json_format_pretty(const json_t *value);

/* A new string value; bytes that are not UTF-8 become U+FFFD, NUL bytes too. */
NODISCARD json_t *json_text(const char *bytes, size_t length);

/* Members with a default; a wrong type counts as absent. */
const char *json_get_string(const json_t *object, const char *key, const char *otherwise);
int64_t json_get_int(const json_t *object, const char *key, int64_t otherwise);
bool json_get_bool(const json_t *object, const char *key, bool otherwise);

/* Set a member to a new reference; the object must take it. */
void json_put(json_t *object, const char *key, json_t *taken);
void json_put_string(json_t *object, const char *key, const char *text); /* NULL becomes null */
void json_put_int(json_t *object, const char *key, int64_t value);
void json_put_bool(json_t *object, const char *key, bool value);
/* 64-bit ids are strings in JSON. */
void json_put_id(json_t *object, const char *key, int64_t id);
/* RFC 3339, or null for 0. */
void json_put_instant(json_t *object, const char *key, int64_t at_us);
