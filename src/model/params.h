#pragma once
/*
 * params: run parameters against their declarations.
 *
 * A declaration is a small JSON schema: type (one name, or a pair with "null"), default, enum,
 * minimum, maximum, minLength, maxLength, minItems, maxItems, pattern (POSIX extended), nullable,
 * secret, and the texts title, description and doc. A parameter without a default that is not
 * nullable must be given. `default: null` makes it nullable.
 *
 * Tests  tests/unit/model/test_params.c, tests/fuzz/fuzz_params.c
 */
#include <stdbool.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/json.h"
#include "model/dag.h"

const char *param_type_name(enum param_type type);
/* True and *out if `name` is a type's name. */
NODISCARD bool param_type_parse(const char *name, enum param_type *out);

/*
 * Is `schema` a good declaration? Unknown keys, wrong types, bounds that cross and a default
 * that the declaration itself refuses are STATUS_INVALID; all problems are named, separated by
 * "; ", as far as they fit.
 */
NODISCARD enum status params_check_declaration(const json_t *schema, struct err *err);
/* The type that a good declaration names; PARAM_ANY without one. */
enum param_type params_declared_type(const json_t *schema);
/* A run cannot be made without a value for it. */
bool params_is_required(const json_t *schema);

/*
 * The parameters of a run: those given (an object, or NULL for none) over the defaults, in the
 * order of the declarations; a new object. STATUS_INVALID names every problem as
 * above, STATUS_LIMIT is for more than LIMIT_PARAMS_BYTES.
 */
NODISCARD enum status params_resolve(const struct dag *dag, const json_t *given, json_t **out,
                                     struct err *err);

/*
 * The same from a command line: `typed` is an object of texts, converted by their declared types,
 * `conf` an object of values of which the declared ones count, as in Airflow; `typed` wins. Both
 * may be NULL.
 */
NODISCARD enum status params_resolve_typed(const struct dag *dag, const json_t *conf,
                                           const json_t *typed, json_t **out, struct err *err);

/*
 * "name=value" from a command line, into the object `into`. The value of a string is the text
 * itself, of the other types JSON; without a type it is JSON if it parses and text if not.
 */
NODISCARD enum status params_parse_assignment(const struct dag *dag, const char *text, json_t *into,
                                              struct err *err);
