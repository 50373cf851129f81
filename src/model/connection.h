#pragma once
/*
 * connection: how to reach another system, and as whom.
 *
 * The password is a secret: it is shown nowhere.
 */
#include <stdint.h>

#include "base/json.h"

struct connection {
    char *type; /* never NULL; the others are NULL when they are not given */
    char *host;
    char *login;
    char *password;
    char *schema;
    int64_t port;  /* 0: not given */
    json_t *extra; /* an object, never NULL */
};
