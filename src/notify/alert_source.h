#pragma once
/*
 * alert_source: what messages take from outside of what happened: connections, variables.
 *
 * alert_connection is the one place that knows where connections come from.
 *
 * Threads  Read by any thread; nothing in it changes.
 */
#include <stdbool.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/json.h"
#include "model/connection.h"
#include "model/template.h"

struct alert_source {
    const json_t *connections; /* by name, as config.h has them; NULL: none */
    const json_t *variables;
    bool public_only; /* refuse receivers inside */
};

/* STATUS_NOT_FOUND: there is none of that name. The caller ends it by connection_fini. */
NODISCARD enum status alert_connection(const struct alert_source *source, const char *name,
                                       struct connection *out, struct err *err);

/* What templates of hooks find in it: var and conn. Borrows the source. */
struct template_scope alert_source_scope(const struct alert_source *source);
