#pragma once
/*
 * connection: how to reach another system, as people write it. Pure.
 *
 * As a URI, which is what Airflow takes too,
 *     postgres://user:pass@host:5432/db?sslmode=require
 * each part percent-encoded where it has to be; or as a JSON object with the members of struct
 * connection, of which "conn_type" is another name for type. Members of `extra` are the parameters
 * of the URI; Airflow's `__extra__` holds them all as JSON.
 *
 * Ownership  Texts and `extra` belong to the connection; connection_fini frees them and wipes the
 *            password.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"
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

/*
 * From text of either kind. Errors never show a part of the text that may hold a secret.
 *
 *   STATUS_INVALID  and where it is wrong.
 *   STATUS_LIMIT    longer than LIMIT_SECRET_BYTES.
 */
NODISCARD enum status connection_parse(const char *text, struct connection *out, struct err *err);
/* From a JSON object, as in connections.yaml. */
NODISCARD enum status connection_read(const json_t *object, struct connection *out,
                                      struct err *err);
void connection_fini(struct connection *connection); /* twice is fine */

/* As a URI that reads back as the same connection; heap. With the password, so a secret. */
NODISCARD char *connection_format(const struct connection *connection);
/* The same to be shown: the password and what looks like one in `extra` are "***"; heap. */
NODISCARD char *connection_shown(const struct connection *connection);
/* Everything as JSON, secrets included: what is sealed, and what templates see. */
NODISCARD json_t *connection_to_json(const struct connection *connection);

/* The same to be shown: what must not be seen is "***". */
NODISCARD json_t *connection_shown_json(const struct connection *connection);

/* Whether it is secret by its name, as people call such things: "api_key", "db_password". */
bool connection_name_is_secret(const char *name);
/* Whether a member of extra is, or anything below it; NULL: any. */
bool connection_extra_is_secret(const struct connection *connection, const char *name);
/* The members of extra that are not; a new reference. */
NODISCARD json_t *connection_open_extra(const struct connection *connection);
/* Calls `each` for every text of it that must not be seen. */
void connection_secrets(const struct connection *connection,
                        void (*each)(void *context, const char *secret), void *context);
