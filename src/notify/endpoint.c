#include "notify/endpoint.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/base64.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "model/connection.h"

static const char SLACK_API[] = "https://slack.com/api/chat.postMessage";
static const char PAGERDUTY_API[] = "https://events.pagerduty.com/v2/enqueue";

enum { CREDENTIALS_MAX = 4096 };

static bool is_given(const char *text)
{
    return text != NULL && text[0] != '\0';
}

static const char *extra_text(const struct connection *connection, const char *key)
{
    const char *text = json_get_string(connection->extra, key, NULL);
    return is_given(text) ? text : NULL;
}

/* Parameters of a URI are texts, so "false" is false too. */
static bool extra_is_false(const struct connection *connection, const char *key)
{
    const char *text = extra_text(connection, key);
    return json_is_false(json_object_get(connection->extra, key)) || str_equal(text, "false") ||
           str_equal(text, "no") || str_equal(text, "0");
}

static bool is_web_scheme(const char *text)
{
    return str_equal(text, "http") || str_equal(text, "https");
}

static bool is_web_url(const char *text)
{
    return text != NULL && (str_starts_with(text, "http://") || str_starts_with(text, "https://"));
}

/* The URL that the parts make, or NULL without a host. */
static const char *url_of(struct arena *arena, const struct connection *connection)
{
    const char *whole = extra_text(connection, "url");
    if (whole != NULL || is_web_url(connection->host))
        return whole != NULL ? whole : connection->host;
    if (!is_given(connection->host))
        return NULL;
    const char *scheme = "https";
    const char *path = extra_text(connection, "path");
    if (is_web_scheme(connection->schema))
        scheme = connection->schema; /* as Airflow has it */
    else if (is_web_scheme(connection->type))
        scheme = connection->type;
    if (path == NULL && is_given(connection->schema) && !is_web_scheme(connection->schema))
        path = connection->schema;
    path = path != NULL ? path : "";
    path += path[0] == '/';
    bool is_literal = strchr(connection->host, ':') != NULL;
    const char *host =
        is_literal ? arena_format(arena, "[%s]", connection->host) : connection->host;
    if (connection->port == 0)
        return arena_format(arena, "%s://%s/%s", scheme, host, path);
    return arena_format(arena, "%s://%s:%" PRId64 "/%s", scheme, host, connection->port, path);
}

static const char *basic_authorization(struct arena *arena, const struct connection *connection)
{
    struct strbuf text;
    strbuf_init(&text, CREDENTIALS_MAX);
    const char *pair = arena_format(arena, "%s:%s", connection->login,
                                    connection->password != NULL ? connection->password : "");
    strbuf_add(&text, "Basic ");
    base64_encode(&text, pair, strlen(pair));
    const char *value = arena_strdup(arena, text.text);
    strbuf_fini(&text);
    return value;
}

static enum status webhook_endpoint(struct arena *arena, const struct connection *connection,
                                    struct endpoint *out, struct err *err)
{
    if (connection == NULL)
        return STATUS_OK; /* the message has the URL */
    out->url = url_of(arena, connection);
    if (out->url == NULL)
        return err_set(err, STATUS_INVALID, "the connection of the webhook has no host");
    out->secret = extra_text(connection, "secret");
    if (is_given(connection->login))
        out->authorization = basic_authorization(arena, connection);
    else if (out->secret == NULL && is_given(connection->password))
        out->secret = connection->password;
    return STATUS_OK;
}

static enum status slack_endpoint(struct arena *arena, const struct connection *connection,
                                  struct endpoint *out, struct err *err)
{
    out->channel = extra_text(connection, "channel");
    if (is_web_url(connection->password)) {
        out->url = connection->password;
        return STATUS_OK;
    }
    const char *url = url_of(arena, connection);
    if (is_given(connection->password)) {
        out->url = url != NULL ? url : SLACK_API;
        out->authorization = arena_format(arena, "Bearer %s", connection->password);
        out->wants_channel = true;
        return STATUS_OK;
    }
    out->url = url;
    return url != NULL
               ? STATUS_OK
               : err_set(err, STATUS_INVALID, "the slack connection has neither a URL nor a token");
}

static enum status pagerduty_endpoint(const struct connection *connection, struct endpoint *out,
                                      struct err *err)
{
    const char *url = extra_text(connection, "url");
    out->url = url != NULL ? url : PAGERDUTY_API;
    out->routing_key = connection->password;
    return is_given(out->routing_key)
               ? STATUS_OK
               : err_set(err, STATUS_INVALID,
                         "the pagerduty connection has no password: it is the routing key");
}

static enum status read_security(const struct connection *connection, enum mail_security *out,
                                 struct err *err)
{
    const char *word = extra_text(connection, "security");
    bool is_tls_by_name = str_equal(connection->type, "smtps") || connection->port == 465;
    if (word == NULL)
        word = is_tls_by_name ? "tls" : "starttls";
    if (strcmp(word, "starttls") == 0)
        *out = MAIL_STARTTLS;
    else if (strcmp(word, "tls") == 0)
        *out = MAIL_TLS;
    else if (strcmp(word, "none") == 0)
        *out = MAIL_PLAIN;
    else
        return err_set(err, STATUS_INVALID,
                       "'security' of the mail connection is starttls, tls or none, not '%.20s'",
                       word);
    return STATUS_OK;
}

static enum status email_endpoint(const struct connection *connection, struct endpoint *out,
                                  struct err *err)
{
    const char *from = extra_text(connection, "from");
    out->host = connection->host;
    out->port = connection->port;
    out->login = is_given(connection->login) ? connection->login : NULL;
    out->password = connection->password;
    out->from = from != NULL ? from : out->login;
    if (!is_given(out->host))
        return err_set(err, STATUS_INVALID, "the mail connection has no host");
    if (out->from == NULL || !hook_address_is_valid(out->from))
        return err_set(err, STATUS_INVALID, "the mail connection has no sender: add 'from'");
    return read_security(connection, &out->security, err);
}

enum status endpoint_of(struct arena *arena, const struct alert_message *message,
                        const struct connection *connection, struct endpoint *out, struct err *err)
{
    struct endpoint endpoint = {0};
    enum status status = STATUS_OK;
    if (connection != NULL) {
        endpoint.ca_file = extra_text(connection, "ca_file");
        endpoint.trust_any = extra_is_false(connection, "verify");
    }
    if (connection == NULL && message->target != HOOK_WEBHOOK && message->target != HOOK_COMMAND)
        return err_set(err, STATUS_INVALID, "the %s hook has no connection",
                       hook_target_name(message->target));
    if (message->target == HOOK_WEBHOOK)
        status = webhook_endpoint(arena, connection, &endpoint, err);
    else if (message->target == HOOK_SLACK)
        status = slack_endpoint(arena, connection, &endpoint, err);
    else if (message->target == HOOK_PAGERDUTY)
        status = pagerduty_endpoint(connection, &endpoint, err);
    else if (message->target == HOOK_EMAIL)
        status = email_endpoint(connection, &endpoint, err);
    if (message->url != NULL)
        endpoint.url = message->url;
    if (status == STATUS_OK)
        *out = endpoint;
    return status;
}
