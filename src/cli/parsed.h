#pragma once
/*
 * parsed: a command line taken apart by the tables of command.h.
 *
 * Options may stand anywhere, long ones take `--name=value` or `--name value`, short
 * ones may be joined (`-fn3`), `--` ends them. The last of several wins unless the
 * option is repeatable.
 *
 * Ownership  Texts are borrowed from argv; parsed_fini frees the arrays.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"
#include "cli/command.h"

struct parsed_option {
    const struct command_option *option;
    const char *value; /* NULL for a switch */
};

struct parsed {
    const struct command *command; /* NULL: none was named */
    const char *noun;              /* "runs" without its verb, or NULL */
    const char **args;
    size_t args_count;
    size_t plain_count; /* of those, how many stand before `--` */
    struct parsed_option *options;
    size_t options_count;
};

/* STATUS_INVALID with a text for the user, suggestions included. argv[0] is skipped. */
NODISCARD enum status parsed_read(const struct command_table *table, int argc,
                                  const char *const *argv, struct parsed *out, struct err *err);
void parsed_fini(struct parsed *parsed); /* twice is fine */

bool parsed_has(const struct parsed *parsed, const char *option);
/* The last value given, or `otherwise`. */
const char *parsed_get(const struct parsed *parsed, const char *option, const char *otherwise);
/* The n-th value of a repeatable option, or NULL. */
const char *parsed_get_nth(const struct parsed *parsed, const char *option, size_t n);
struct int_bounds {
    int64_t least, most;
    int64_t otherwise; /* when the option is not there */
};

/* The option's value as a whole number; STATUS_INVALID when it is none or out of bounds. */
NODISCARD enum status parsed_get_int(const struct parsed *parsed, const char *option,
                                     const struct int_bounds *bounds, int64_t *out,
                                     struct err *err);
