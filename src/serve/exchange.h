#pragma once
/*
 * exchange: one request and its answer between the library's thread and a worker. Private to the
 * server.
 *
 * The library reads a request piece by piece; when it is whole, its connection sleeps until a
 * worker has answered. A stream sleeps whenever it has nothing to say.
 */
#include <microhttpd.h>

#include "serve/crew.h"

/* The memory that the library has for the head of a request, and the parameters of a query. */
enum { EXCHANGE_CONNECTION_BYTES = 24 * 1024, EXCHANGE_PARAMETERS_MAX = 256 };

struct exchange_hall;

NODISCARD struct exchange_hall *exchange_hall_new(const struct server_options *options,
                                                  struct crew *crew);
/* Streams end; nobody is watched any more. */
void exchange_hall_close(struct exchange_hall *hall);
/* Until what was answered is sent, but not for long: some do not read. */
void exchange_hall_settle(struct exchange_hall *hall);
void exchange_hall_free(struct exchange_hall *hall);

/* For the library; the context is the hall. The line comes first, as soon as it is there. */
void *exchange_line(void *context, const char *line, struct MHD_Connection *connection);
enum MHD_Result exchange_access(void *context, struct MHD_Connection *connection, const char *url,
                                const char *method, const char *version, const char *upload,
                                size_t *upload_size, void **slot);
void exchange_completed(void *context, struct MHD_Connection *connection, void **slot,
                        enum MHD_RequestTerminationCode how);
void exchange_connection(void *context, struct MHD_Connection *connection, void **slot,
                         enum MHD_ConnectionNotificationCode what);
