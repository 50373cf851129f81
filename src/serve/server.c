#include "serve/server.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "serve/crew.h"
#include "serve/doorway.h"
#include "serve/exchange.h"

enum { PENDING = 511 };

struct server {
    struct MHD_Daemon *http;
    struct crew *crew;
    struct exchange_hall *hall;
    char *url;
    char *near_url;
};

/* --- what the library calls ------------------------------------------------------------------ */

/* Paths and queries are decoded by us, where it is known what they mean. */
static size_t leave_escaped(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context;
    (void)connection;
    return strlen(text);
}

static void complain(void *context, const char *format, va_list args) PRINTF(2, 0);
static void complain(void *context, const char *format, va_list args)
{
    (void)context;
    CLEANUP(strbuf_fini) struct strbuf text;
    strbuf_init(&text, 512);
    strbuf_addv(&text, format, args);
    while (text.length > 0 && text.text[text.length - 1] == '\n')
        strbuf_truncate(&text, text.length - 1);
    log_debug("http", LOG_STR("what", text.text));
}

/* --- start and stop -------------------------------------------------------------------------- */

static struct MHD_Daemon *start(struct server *server, const struct server_options *options, int fd)
{
    bool has_tls = options->tls_certificate != NULL;
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ERROR_LOG | MHD_ALLOW_SUSPEND_RESUME |
                     MHD_USE_ITC | (has_tls ? MHD_USE_TLS : 0);
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)options->tls_certificate},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)options->tls_key},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t) "NORMAL:-VERS-TLS1.0:-VERS-TLS1.1"},
        {MHD_OPTION_END, 0, NULL},
    };
    struct MHD_OptionItem nothing[] = {{MHD_OPTION_END, 0, NULL}};
    return MHD_start_daemon(
        flags, 0, NULL, NULL, exchange_access, server->hall, MHD_OPTION_EXTERNAL_LOGGER, complain,
        NULL, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)options->connections, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
        (unsigned)options->connections_peer, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)MAX(options->idle_ms / 1000, (int64_t)1), MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)EXCHANGE_CONNECTION_BYTES, MHD_OPTION_UNESCAPE_CALLBACK, leave_escaped, NULL,
        MHD_OPTION_URI_LOG_CALLBACK, exchange_line, server->hall, MHD_OPTION_NOTIFY_COMPLETED,
        exchange_completed, server->hall, MHD_OPTION_NOTIFY_CONNECTION, exchange_connection,
        server->hall, MHD_OPTION_ARRAY, has_tls ? tls : nothing, MHD_OPTION_END);
}

enum status server_start(const struct server_options *options, struct server **out, struct err *err)
{
    struct server *server = mem_zalloc(1, sizeof *server);
    struct doorway doorway;
    if (doorway_open(options->address, PENDING, &doorway, err) != STATUS_OK) {
        free(server);
        return err->code;
    }
    const char *scheme = options->tls_certificate != NULL ? "https" : "http";
    server->url = mem_format("%s://%s", scheme, doorway.name);
    server->near_url = mem_format("%s://%s", scheme, doorway.near);
    server->crew = crew_new(options);
    server->hall = exchange_hall_new(options, server->crew);
    server->http = start(server, options, doorway.fd);
    if (server->http == NULL) {
        (void)close(doorway.fd);
        server_stop(server);
        return err_set(err, STATUS_INVALID, "cannot serve %s%s", options->address,
                       options->tls_certificate != NULL ? ": is the certificate one, and its key?"
                                                        : "");
    }
    *out = server;
    return STATUS_OK;
}

/*
 * First no new connections, then streams end and what was asked is answered (a suspended connection
 * would keep the library from stopping), then that is sent, since the library cuts off whatever it
 * has not sent yet, and then all is closed.
 */
void server_stop(struct server *server)
{
    if (server == NULL)
        return;
    int fd = server->http != NULL ? MHD_quiesce_daemon(server->http) : -1;
    exchange_hall_close(server->hall);
    crew_stop(server->crew);
    exchange_hall_settle(server->hall);
    if (server->http != NULL)
        MHD_stop_daemon(server->http);
    crew_free(server->crew);
    if (fd >= 0)
        (void)close(fd);
    exchange_hall_free(server->hall);
    free(server->url);
    free(server->near_url);
    free(server);
}

const char *server_url(const struct server *server)
{
    return server->url;
}

const char *server_near_url(const struct server *server)
{
    return server->near_url;
}
