#pragma once
/*
 * api: the daemon's server, as the settings say.
 */
#include "app/config.h"
#include "app/home.h"
#include "base/json.h"

struct api;
struct measuring;

struct api_options {
    const struct config *config;
    const struct home *home;
    const struct measuring *measuring; /* of the process */
};

/*
 * *out is NULL when none is wanted, or when nobody asked for one and its usual address is taken.
 *
 *   STATUS_INVALID   the address or the certificate is none, or others would reach it although it
 *                    has no users or no TLS
 *   STATUS_CONFLICT  somebody else listens at the address that was asked for
 */
NODISCARD enum status api_start(const struct api_options *options, struct api **out,
                                struct err *err);
void api_stop(struct api *api); /* NULL is allowed */

/* Something in the store has changed: whoever listens is told. NULL is allowed. */
void api_wake(struct api *api);

/* What it offers, as an OpenAPI document; a new reference. */
NODISCARD json_t *api_describe(void);

/* Where it is reached; borrowed. */
const char *api_url(const struct api *api);
/* Where programs of this machine reach it; borrowed. */
const char *api_near_url(const struct api *api);
/* By which the first user signs in, once; borrowed. NULL: there are users. */
const char *api_link(const struct api *api);
