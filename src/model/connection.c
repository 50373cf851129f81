#include "model/connection.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "model/limits.h"

static const char WHOLE_EXTRA[] = "__extra__";

static void wipe_free(char *text)
{
    if (text != NULL)
        explicit_bzero(text, strlen(text));
    free(text);
}

void connection_fini(struct connection *connection)
{
    free(connection->type);
    free(connection->host);
    free(connection->login);
    wipe_free(connection->password);
    free(connection->schema);
    json_decref(connection->extra);
    *connection = (struct connection){0};
}

/* --- parts ----------------------------------------------------------------------------------- */

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A piece of a URI without its percent signs; NULL with an error when it cannot be meant. */
static char *decode(const char *from, const char *to, const char *what, struct err *err)
{
    char *text = mem_alloc((size_t)(to - from) + 1);
    char *out = text;
    while (from < to) {
        char c = *from++;
        if (c == '%') {
            int high = to - from >= 2 ? hex_value(from[0]) : -1;
            int low = high >= 0 ? hex_value(from[1]) : -1;
            c = (char)(high * 16 + low);
            if (low < 0 || c == '\0') {
                (void)err_set(err, STATUS_INVALID,
                              "%s: '%%' must be followed by two hexadecimal digits, not 00; a "
                              "percent sign itself is %%25",
                              what);
                explicit_bzero(text, (size_t)(out - text));
                free(text);
                return NULL;
            }
            from += 2;
        }
        *out++ = c;
    }
    *out = '\0';
    return text;
}

/* Into *out, which stays NULL when there is nothing. */
static bool decode_part(const char *from, const char *to, const char *what, char **out,
                        struct err *err)
{
    if (from == to)
        return true;
    *out = decode(from, to, what, err);
    return *out != NULL;
}

static enum status check(const struct connection *connection, struct err *err)
{
    static const char TYPE_CHARACTERS[] = "abcdefghijklmnopqrstuvwxyz0123456789+-._";
    const char *type = connection->type;
    if (type == NULL || type[0] == '\0')
        return err_set(err, STATUS_INVALID,
                       "type: missing; write TYPE://HOST, such as postgres://host/db");
    if (type[0] < 'a' || type[0] > 'z' || type[strspn(type, TYPE_CHARACTERS)] != '\0' ||
        strlen(type) > LIMIT_ID_BYTES)
        return err_set(err, STATUS_INVALID,
                       "type: must be a word of letters, digits and + - . _, such as postgres");
    if (connection->host != NULL && strpbrk(connection->host, " \t\r\n") != NULL)
        return err_set(err, STATUS_INVALID, "host: must not hold blanks or line ends");
    return STATUS_OK;
}

static char *lower(char *text)
{
    for (char *c = text; c != NULL && *c != '\0'; c++)
        *c = (char)tolower((unsigned char)*c);
    return text;
}

/* --- from a URI ------------------------------------------------------------------------------ */

static enum status parse_port(const char *from, const char *to, int64_t *out, struct err *err)
{
    CLEANUP(mem_freep) char *digits = mem_strndup(from, (size_t)(to - from));
    if (to > from && !str_parse_i64(digits, 1, 65535, out))
        return err_set(err, STATUS_INVALID,
                       "port: must be a number from 1 to 65535; is there an '@', ':' or '/' in a "
                       "password that is not percent-encoded?");
    return STATUS_OK;
}

/* Brackets keep the colons of an address apart from that of the port: "[::1]:5432" */
static enum status parse_host(const char *from, const char *to, struct connection *out,
                              struct err *err)
{
    const char *end = to;
    if (from < to && *from == '[') {
        const char *close = memchr(from, ']', (size_t)(to - from));
        if (close == NULL || (close + 1 < to && close[1] != ':'))
            return err_set(err, STATUS_INVALID, "host: '[' without its ']'");
        out->host = mem_strndup(from + 1, (size_t)(close - from - 1));
        end = close + 1;
    } else {
        const char *colon = memrchr(from, ':', (size_t)(to - from));
        end = colon != NULL ? colon : to;
        if (!decode_part(from, end, "host", &out->host, err))
            return err->code;
    }
    return end < to ? parse_port(end + 1, to, &out->port, err) : STATUS_OK;
}

static enum status parse_authority(const char *from, const char *to, struct connection *out,
                                   struct err *err)
{
    /* The last one: who forgets to encode that of a password means it so. */
    const char *at = memrchr(from, '@', (size_t)(to - from));
    if (at == NULL)
        return parse_host(from, to, out, err);
    const char *colon = memchr(from, ':', (size_t)(at - from));
    if (!decode_part(from, colon != NULL ? colon : at, "login", &out->login, err) ||
        (colon != NULL && !decode_part(colon + 1, at, "password", &out->password, err)))
        return err->code;
    return parse_host(at + 1, to, out, err);
}

/* Blanks are '+' in parameters. */
static char *decode_parameter(const char *from, const char *to, struct err *err)
{
    CLEANUP(mem_freep) char *copy = mem_strndup(from, (size_t)(to - from));
    for (char *c = copy; *c != '\0'; c++)
        if (*c == '+')
            *c = ' ';
    return decode(copy, copy + strlen(copy), "parameters", err);
}

static enum status put_parameter(json_t *extra, const char *key, const char *value, struct err *err)
{
    if (strcmp(key, WHOLE_EXTRA) == 0) {
        CLEANUP(json_decrefp) json_t *all = NULL;
        struct err not_json = {0};
        if (json_parse(value, strlen(value), &all, &not_json) != STATUS_OK || !json_is_object(all))
            return err_set(err, STATUS_INVALID, "__extra__: must be a JSON object");
        CHECK(json_object_update(extra, all) == 0);
        return STATUS_OK;
    }
    if (key[0] == '\0')
        return err_set(err, STATUS_INVALID, "parameters: one has no name");
    if (json_object_get(extra, key) != NULL)
        return err_set(err, STATUS_INVALID, "parameters: '%s' is there twice", key);
    json_t *text = json_string(value);
    if (text == NULL || json_object_set_new(extra, key, text) != 0)
        return err_set(err, STATUS_INVALID, "parameters: not UTF-8");
    return STATUS_OK;
}

static enum status parse_query(const char *query, json_t *extra, struct err *err)
{
    for (const char *at = query; *at != '\0';) {
        const char *end = at + strcspn(at, "&");
        const char *equals = memchr(at, '=', (size_t)(end - at));
        CLEANUP(mem_freep)
        char *key = decode_parameter(at, equals != NULL ? equals : end, err);
        CLEANUP(mem_freep)
        char *value =
            key == NULL ? NULL : decode_parameter(equals != NULL ? equals + 1 : end, end, err);
        if (value == NULL)
            return err->code;
        if (end > at && put_parameter(extra, key, value, err) != STATUS_OK)
            return err->code;
        at = end + (*end == '&');
    }
    return STATUS_OK;
}

static enum status parse_uri(const char *uri, struct connection *out, struct err *err)
{
    const char *colon = strstr(uri, "://");
    if (colon == NULL)
        return err_set(err, STATUS_INVALID,
                       "neither a URI (TYPE://LOGIN:PASSWORD@HOST:PORT/SCHEMA) nor a JSON object");
    const char *authority = colon + 3;
    const char *path = authority + strcspn(authority, "/?");
    const char *query = path + strcspn(path, "?");
    out->extra = json_object();
    out->type = lower(mem_strndup(uri, (size_t)(colon - uri)));
    if (parse_authority(authority, path, out, err) != STATUS_OK)
        return err->code;
    if (*path == '/' && !decode_part(path + 1, query, "schema", &out->schema, err))
        return err->code;
    if (*query == '?' && parse_query(query + 1, out->extra, err) != STATUS_OK)
        return err->code;
    return check(out, err);
}

/* --- from JSON ------------------------------------------------------------------------------- */

static char **text_member(struct connection *connection, const char *key)
{
    const struct {
        const char *key;
        char **place;
    } members[] = {
        {"type", &connection->type},         {"conn_type", &connection->type},
        {"host", &connection->host},         {"login", &connection->login},
        {"password", &connection->password}, {"schema", &connection->schema},
    };
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        if (strcmp(members[i].key, key) == 0)
            return members[i].place;
    return NULL;
}

static enum status read_extra(const json_t *value, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *extra = NULL;
    struct err not_json = {0};
    if (json_is_string(value)) {
        const char *text = json_string_value(value);
        if (text[0] != '\0' && json_parse(text, strlen(text), &extra, &not_json) != STATUS_OK)
            return err_set(err, STATUS_INVALID, "extra: must be a map, or one as JSON text");
    } else if (!json_is_null(value)) {
        extra = json_deep_copy(value);
    }
    if (extra != NULL && !json_is_object(extra))
        return err_set(err, STATUS_INVALID, "extra: must be a map");
    if (extra != NULL) {
        json_decref(*out);
        *out = TAKE(extra);
    }
    return STATUS_OK;
}

static enum status read_port(const json_t *value, int64_t *out, struct err *err)
{
    int64_t port = json_is_integer(value) ? json_integer_value(value) : 0;
    const char *text = json_string_value(value);
    bool is_none = json_is_null(value) || (text != NULL && text[0] == '\0');
    if (!is_none && !(port >= 1 && port <= 65535) &&
        !(text != NULL && str_parse_i64(text, 1, 65535, &port)))
        return err_set(err, STATUS_INVALID, "port: must be a number from 1 to 65535");
    *out = port;
    return STATUS_OK;
}

static enum status read_member(struct connection *out, const char *key, const json_t *value,
                               struct err *err)
{
    char **place = text_member(out, key);
    if (strcmp(key, "extra") == 0)
        return read_extra(value, &out->extra, err);
    if (strcmp(key, "port") == 0)
        return read_port(value, &out->port, err);
    if (strcmp(key, "description") == 0 || strcmp(key, "conn_id") == 0)
        return STATUS_OK;
    if (place == NULL)
        return err_set(err, STATUS_INVALID,
                       "'%s' is none of: type, host, port, login, password, schema, extra", key);
    if (json_is_null(value))
        return STATUS_OK;
    if (!json_is_string(value))
        return err_set(err, STATUS_INVALID, "%s: must be a text; put it in quotes", key);
    if (*place != NULL)
        return err_set(err, STATUS_INVALID, "type: is there twice, as conn_type too");
    if (json_string_length(value) > 0)
        *place = mem_strdup(json_string_value(value));
    return STATUS_OK;
}

static enum status read_members(const json_t *object, struct connection *out, struct err *err)
{
    const char *key;
    json_t *value;
    out->extra = json_object();
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        if (read_member(out, key, value, err) != STATUS_OK)
            return err->code;
    }
    (void)lower(out->type);
    return check(out, err);
}

enum status connection_read(const json_t *object, struct connection *out, struct err *err)
{
    CLEANUP(connection_fini) struct connection connection = {0};
    if (!json_is_object(object))
        return err_set(err, STATUS_INVALID, "must be a map of type, host and so on, or a URI");
    if (read_members(object, &connection, err) != STATUS_OK)
        return err->code;
    *out = connection;
    connection = (struct connection){0};
    return STATUS_OK;
}

enum status connection_parse(const char *text, struct connection *out, struct err *err)
{
    CLEANUP(connection_fini) struct connection connection = {0};
    CLEANUP(json_decrefp) json_t *object = NULL;
    if (strlen(text) > LIMIT_SECRET_BYTES)
        return err_set(err, STATUS_LIMIT, "longer than %d bytes", LIMIT_SECRET_BYTES);
    if (text[strspn(text, " \t\r\n")] == '{') {
        if (json_parse(text, strlen(text), &object, err) != STATUS_OK)
            return err_wrap(err, "not JSON");
        return connection_read(object, out, err);
    }
    if (parse_uri(text, &connection, err) != STATUS_OK)
        return err->code;
    *out = connection;
    connection = (struct connection){0};
    return STATUS_OK;
}
