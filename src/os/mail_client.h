#pragma once
/*
 * mail_client: handing one mail to an SMTP server, blocking.
 *
 * Threads  Any thread may call it; the call blocks for `timeout_ms` at most.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"
#include "os/transfer_options.h"

enum mail_security {
    MAIL_STARTTLS, /* plain at first, then encrypted or not at all */
    MAIL_TLS,      /* encrypted from the first byte */
    MAIL_PLAIN,
};

struct mail_request {
    const char *host;
    int64_t port; /* 0: 587, 465 or 25, by security */
    enum mail_security security;
    const char *login; /* NULL: nobody logs in */
    const char *password;
    const char *from; /* bare addresses: a@b */
    const char *const *recipients;
    size_t recipients_count;
    const char *mail; /* RFC 5322, lines end with CR LF */
    size_t mail_length;
    struct transfer_options way;
    bool *refused; /* one per recipient: set where the server would not have it; NULL: not asked */
};

/*
 * STATUS_OK: the server took it, for one of the recipients at least.
 *
 *   STATUS_INVALID      host or an address is not one.
 *   STATUS_BUSY         the server says not now (4xx).
 *   STATUS_DENIED       the server says no (5xx), to the login too; or its address is not public.
 *   STATUS_UNREACHABLE, STATUS_TIMEOUT, STATUS_IO  as in http_client.h; no STARTTLS is STATUS_IO.
 */
NODISCARD enum status mail_send(const struct mail_request *request, struct err *err);
