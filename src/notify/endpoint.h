#pragma once
/*
 * endpoint: what a connection means to each target. The only place that looks into connections.
 *
 *   webhook    http or https: URL from host, port and schema or extra.path; login and password are
 *              sent, a password alone (or extra.secret) signs
 *   slack      a URL as above, or one in extra.url or in the password: an incoming webhook; else
 *              the password is a token for chat.postMessage, extra.channel where to
 *   pagerduty  password: routing key; extra.url: another service that speaks the same
 *   email      host, port, login, password; extra.security: starttls, tls or none; extra.from
 *
 * For all: extra.ca_file, and extra.verify (false: certificates are not checked).
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"
#include "model/alert.h"
#include "os/mail_client.h"

struct arena;
struct connection;

/* Texts are NULL where they do not apply. */
struct endpoint {
    const char *url;
    const char *authorization; /* value of the header */
    const char *secret;        /* signs a webhook */
    const char *channel;       /* slack, when the message names none */
    bool wants_channel;        /* slack with a token */
    const char *routing_key;
    const char *host; /* mail */
    int64_t port;
    enum mail_security security;
    const char *login;
    const char *password;
    const char *from;
    const char *ca_file;
    bool trust_any;
};

/*
 * Where a message goes. In the arena; parts may be borrowed from the connection, which is NULL
 * when the hook names none. STATUS_INVALID: something is missing, and what.
 */
NODISCARD enum status endpoint_of(struct arena *arena, const struct alert_message *message,
                                  const struct connection *connection, struct endpoint *out,
                                  struct err *err);
