#pragma once
/*
 * deliver: one try to bring one message to its receiver.
 *
 * Blocks until there is an answer or the time is over. A message whose answer was lost is told to
 * be tried again, so a receiver may get it twice; its id is the same then.
 *
 * Threads  Any thread may call it.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/attrs.h"
#include "model/alert.h"

struct connection;

enum deliver_verdict {
    DELIVER_DONE,   /* the receiver has it */
    DELIVER_RETRY,  /* not now; see alert_retry_next for when */
    DELIVER_FAILED, /* it would fail again in the same way */
};

struct deliver_request {
    const struct alert_message *message;
    const struct connection *connection; /* of the hook; NULL: it names none */
    int64_t now_us;                      /* what the receiver is told as the time of sending */
    int64_t connect_timeout_ms;          /* 0: 10 s */
    int64_t timeout_ms;                  /* 0: 30 s; a command has its own */
    const char *ca_file;                 /* when the connection names none */
    bool public_only;                    /* refuse addresses inside */
    const char *workdir;                 /* of commands; NULL: as ours */
};

enum { DELIVER_TEXT_MAX = 1024 };

struct deliver_outcome {
    enum deliver_verdict verdict;
    int64_t retry_after_ms;      /* what the receiver asked to wait; -1: nothing */
    char text[DELIVER_TEXT_MAX]; /* for the record: what was answered, or what went wrong */
};

void deliver(const struct deliver_request *request, struct deliver_outcome *out);
const char *deliver_verdict_name(enum deliver_verdict verdict);
