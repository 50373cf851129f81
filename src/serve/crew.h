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
    bool is_grouped;       /* may share a transaction with others */
    struct crew_job *next; /* of the crew */
};

NODISCARD struct crew *crew_new(const struct server_options *options);
/* Answers what was handed in; nothing may be handed in meanwhile. */
void crew_free(struct crew *crew);

void crew_hand(struct crew *crew, struct crew_job *job);
