#pragma once
/*
 * transfer_priv: what http_client and mail_client share of libcurl.
 */
#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"
#include "os/transfer_options.h"

struct transfer {
    CURL *curl;
    struct curl_slist *list; /* headers or recipients */
    bool public_only;
    bool is_refused; /* an address was not public */
    char error[CURL_ERROR_SIZE];
};

/*
 * Ready for what the caller sets beyond; must stay where it is. `taken` is a handle of an earlier
 * transfer, whose connections are used again, or NULL.
 */
NODISCARD enum status transfer_init(struct transfer *transfer, CURL *taken,
                                    const struct transfer_options *options, struct err *err);
void transfer_fini(struct transfer *transfer);
void transfer_add(struct transfer *transfer, const char *text); /* to its list */
/* A failure in our words; `what` and `where` say what was tried. */
enum status transfer_failed(const struct transfer *transfer, CURLcode code, const char *what,
                            const char *where, struct err *err);
