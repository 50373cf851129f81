#pragma once
/*
 * deliver_priv: what the parts of deliver share.
 *
 * deliver.c chooses; deliver_http.c has webhook, slack and pagerduty, deliver_local.c email and
 * command.
 */
#include <stddef.h>

#include "base/err.h"
#include "notify/deliver.h"
#include "notify/endpoint.h"

struct delivery {
    const struct deliver_request *request;
    const struct alert_message *message;
    struct endpoint endpoint;
    struct arena *arena;
};

/* Fill the outcome with "prefix: said" on one line. */
void deliver_say(struct deliver_outcome *out, enum deliver_verdict verdict, const char *prefix,
                 const char *said, size_t length);
/* The outcome of an error of ours: a retry when its status says that one may help. */
void deliver_say_err(struct deliver_outcome *out, const struct err *err);
struct transfer_options deliver_way(const struct delivery *delivery);

typedef void deliver_target(const struct delivery *delivery, struct deliver_outcome *out);
deliver_target deliver_webhook;
deliver_target deliver_slack;
deliver_target deliver_pagerduty;
deliver_target deliver_email;
deliver_target deliver_command;
