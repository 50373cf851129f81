#pragma once
/*
 * request: the parts that requests of several commands share.
 */
#include <stdbool.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/json.h"
#include "cli/parsed.h"

/* {} that can be filled; a new reference. */
NODISCARD json_t *request_new(void);
/* {"run": RUN} from the first argument. */
NODISCARD json_t *request_of_run(const struct parsed *parsed);
/* {"job": ID} from the first argument; NULL and *err when that is no id. */
NODISCARD json_t *request_of_job(const struct parsed *parsed, struct err *err);
/* {"file": PATH} or {"dag": ID} from the first argument, with --dag where given. */
NODISCARD json_t *request_of_dag(const struct parsed *parsed);

/* Put an option's text under `key`, if it was given. */
void request_put_option(json_t *request, const struct parsed *parsed, const char *option,
                        const char *key);
/* The same for a whole number within bounds. */
NODISCARD enum status request_put_int(json_t *request, const struct parsed *parsed,
                                      const char *option, const char *key, int64_t most,
                                      struct err *err);

/* Does the argument name a file rather than a DAG? A path, a suffix of DAG files, or it exists. */
bool request_is_file(const char *argument);

/* -p KEY=VALUE.. as an object of texts, NULL when none is given. */
NODISCARD enum status request_params(const struct parsed *parsed, json_t **out, struct err *err);
/* --conf as an object, NULL when not given. */
NODISCARD enum status request_conf(const struct parsed *parsed, json_t **out, struct err *err);
/* --date as an instant; *out_given tells whether there was one. */
NODISCARD enum status request_date(const struct parsed *parsed, bool *out_given, int64_t *out_us,
                                   struct err *err);
