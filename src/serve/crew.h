#pragma once
/*
 * crew: workers that answer requests, each at its own desk.
 *
 * Workers are there once there is something to do: the first request makes the first, and another
 * one comes when all are at work, up to the bound. A worker without work for a while lets go of its
 * store's connection.
 *
 * Short changes are done together: while one worker waits for the disk, others' requests gather,
 * and then become durable at once.
 */
#include "serve/server.h"

struct crew;

/* A request to be answered; its maker keeps it until `done` was called, by the worker. */
struct crew_job {
    const struct http_request *request;
    struct http_response *response;
    void (*done)(struct crew_job *job);
    bool is_grouped; /* may share a transaction with others */
    /* Instead of all that: something else that needs a store. The job may be gone afterwards. */
    void (*work)(struct crew_job *job, struct service *service);
    /* Of the crew: */
    struct crew_job *next;
    int64_t due_us;
};

NODISCARD struct crew *crew_new(const struct server_options *options);
/* Does what was handed in, but nothing that is for later, and goes home. */
void crew_stop(struct crew *crew);
/* Stops it first. NULL is allowed. */
void crew_free(struct crew *crew);

/* Not to one that was stopped. */
void crew_hand(struct crew *crew, struct crew_job *job);
/* Not before that instant of the steady clock. False: the crew has stopped. */
NODISCARD bool crew_hand_at(struct crew *crew, struct crew_job *job, int64_t due_us);
/* True: nobody has begun it, and nobody will. */
NODISCARD bool crew_take_back(struct crew *crew, struct crew_job *job);
