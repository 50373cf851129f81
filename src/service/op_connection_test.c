/*
 * Whether what a connection names can be reached from here.
 */
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "os/http_client.h"
#include "os/reach.h"
#include "service/json_build.h"
#include "service/op_handlers.h"
#include "service/service.h"
#include "store/vault.h"

enum { TIMEOUT_MS = 10000, ANSWER_BYTES_MAX = 1024 };

/* Where systems listen when nobody says otherwise. */
static const struct {
    const char *type;
    int64_t port;
} PORTS[] = {
    {"postgres", 5432}, {"postgresql", 5432}, {"mysql", 3306}, {"http", 80},
    {"https", 443},     {"redis", 6379},      {"ssh", 22},     {"sftp", 22},
    {"ftp", 21},        {"smtp", 25},         {"smtps", 465},  {"mongo", 27017},
    {"mssql", 1433},    {"oracle", 1521},     {"kafka", 9092}, {"amqp", 5672},
};

static int64_t port_of(const struct connection *connection)
{
    if (connection->port != 0)
        return connection->port;
    for (size_t i = 0; i < ARRAY_LEN(PORTS); i++)
        if (str_equal(PORTS[i].type, connection->type))
            return PORTS[i].port;
    return 0;
}

static bool is_web(const struct connection *connection)
{
    return str_equal(connection->type, "http") || str_equal(connection->type, "https");
}

/* Any answer will do: that it wants a password is not held against it. */
static enum status ask_web(const struct connection *connection, int64_t port, char **out_detail,
                           struct err *err)
{
    bool is_address = strchr(connection->host, ':') != NULL;
    CLEANUP(mem_freep)
    char *url = mem_format("%s://%s%s%s:%lld/", connection->type, is_address ? "[" : "",
                           connection->host, is_address ? "]" : "", (long long)port);
    struct http_request request = {
        .method = "HEAD", .url = url, .way.timeout_ms = TIMEOUT_MS, .answer_max = ANSWER_BYTES_MAX};
    struct http_answer got = {0};
    if (http_perform(&request, &got, err) != STATUS_OK)
        return err->code;
    *out_detail = mem_format("the server answers with status %d", got.status);
    http_answer_fini(&got);
    return STATUS_OK;
}

static enum status try_it(const struct connection *connection, json_t *response, struct err *err)
{
    int64_t port = port_of(connection);
    CLEANUP(mem_freep) char *detail = NULL;
    if (connection->host == NULL || port == 0)
        return err_set(err, STATUS_INVALID,
                       "it has no %s, so there is nothing to reach; only what listens on the "
                       "network can be tested",
                       connection->host == NULL ? "host" : "port");
    enum status status = is_web(connection) ? ask_web(connection, port, &detail, err)
                                            : reach_tcp(connection->host, port, TIMEOUT_MS, err);
    if (status != STATUS_OK)
        return status;
    json_put_string(response, "host", connection->host);
    json_put_int(response, "port", port);
    json_put_string(response, "detail",
                    detail != NULL ? detail
                                   : "somebody listens there; login and password were not tried");
    return STATUS_OK;
}

enum status op_connection_test(struct service *service, const json_t *request, json_t **out,
                               struct err *err)
{
    CLEANUP(vault_freep) struct vault *vault = NULL;
    struct connection connection = {0};
    const char *name = json_get_string(request, "name", "");
    const char *space = json_get_string(request, "namespace", VAULT_DEFAULT_SPACE);
    int64_t began_us = clock_mono_us();
    if (service_vault(service, &vault, err) != STATUS_OK ||
        vault_connection(vault, space, name, &connection, err) != STATUS_OK)
        return err->code;
    CLEANUP(json_decrefp) json_t *response = json_build_object();
    json_put_string(response, "name", name);
    enum status status = try_it(&connection, response, err);
    connection_fini(&connection);
    if (status != STATUS_OK)
        return err_wrap(err, "connection '%s'", name);
    json_put(response, "duration", json_real((double)(clock_mono_us() - began_us) / 1e6));
    *out = TAKE(response);
    return STATUS_OK;
}
