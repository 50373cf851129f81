#pragma once
/*
 * parcel: one message, made and addressed, so that sending it needs nothing else.
 *
 * Made by the thread that has the store, sent by any.
 *
 * Ownership  A parcel owns what it was made of, secrets included, except the hook, which must
 * outlive it.
 */
#include "model/alert.h"
#include "notify/deliver.h"
#include "store/vault.h"

struct parcel;

struct parcel_request {
    struct vault *vault; /* connections, and what templates may ask for */
    const char *space;   /* the namespace that asks */
    bool public_only;    /* refuse receivers inside */
    const struct hook *hook;
    const char *delivery;
    int64_t at_us;
    const char *const *documents; /* JSON of the events, at least one */
    size_t count;
    size_t total;        /* how many there were */
    const char *workdir; /* of commands; NULL: as ours */
};

/*
 * NULL with STATUS_OK: the hook's `if` wants none of the events. Secrets are hidden in errors.
 *
 *   STATUS_INVALID, STATUS_CORRUPT  it can never be sent.
 *   any other                       not now: something is missing or cannot be read that may be
 *                                   there another time, or on another host.
 */
NODISCARD enum status parcel_new(const struct parcel_request *request, struct parcel **out,
                                 struct err *err);
/* Blocks. Secrets of the message are hidden in what was answered. */
void parcel_send(const struct parcel *parcel, struct deliver_outcome *out);
void parcel_free(struct parcel *parcel); /* NULL is allowed */
