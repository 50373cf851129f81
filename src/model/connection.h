#pragma once
/*
 * connection: how to reach something outside, and as whom.
 *
 * Texts are NULL when not given. The password is a secret: it has no formatter.
 */
#include <stdint.h>

#include "base/json.h"

struct connection {
    const char *type; /* "http", "slack", "pagerduty", "smtp", ... */
    const char *host;
    int64_t port; /* 0: not given */
    const char *login;
    const char *password;
    const char *schema;
    const json_t *extra; /* object, or NULL */
};
