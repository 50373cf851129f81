/*
 * connection_write: a connection as it is stored, and as it is shown.
 */
#include <ctype.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "model/connection.h"
#include "model/limits.h"

static const char HIDDEN[] = "***";

/* --- what is secret -------------------------------------------------------------------------- */

/* Whether one of the words of the name, as in "account-key" or "accountKey", is it. */
static bool has_word(const char *name, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = strcasestr(name, word); at != NULL; at = strcasestr(at + 1, word)) {
        bool begins = at == name || !isalnum((unsigned char)at[-1]) ||
                      (islower((unsigned char)at[-1]) && isupper((unsigned char)at[0]));
        bool ends = !islower((unsigned char)at[length]);
        if (begins && ends)
            return true;
    }
    return false;
}

bool connection_name_is_secret(const char *name)
{
    static const char *const PARTS[] = {"password", "passwd", "passphrase", "secret",
                                        "token",    "apikey", "private",    "credential",
                                        "keyfile",  "auth",   "webhook",    "bearer"};
    static const char *const WORDS[] = {"key", "pass", "pwd", "sas", "jwt", "dsn", "connstr"};
    for (size_t i = 0; i < ARRAY_LEN(PARTS); i++)
        if (strcasestr(name, PARTS[i]) != NULL)
            return true;
    for (size_t i = 0; i < ARRAY_LEN(WORDS); i++)
        if (has_word(name, WORDS[i]))
            return true;
    /* The URL of a webhook is all that is needed to use it. */
    return has_word(name, "connection_string") || has_word(name, "connectionstring") ||
           strcasecmp(name, "url") == 0;
}

/* "scheme://user:password@host" is, whatever it is called. */
static bool has_password(const json_t *value)
{
    const char *text = json_string_value(value);
    const char *user = text != NULL ? strstr(text, "://") : NULL;
    if (user == NULL)
        return false;
    user += strlen("://");
    size_t length = strcspn(user, "/?#");
    const char *at = memrchr(user, '@', length);
    return at != NULL && memchr(user, ':', (size_t)(at - user)) != NULL;
}

/* Below a secret name everything is. As deep as JSON_DEPTH_MAX at most. */
/* NOLINTBEGIN(misc-no-recursion) */
static void each_secret(const json_t *value, bool is_secret,
                        void (*each)(void *context, const char *secret), void *context)
{
    if (json_is_string(value) && (is_secret || has_password(value)))
        each(context, json_string_value(value));
    const char *key;
    json_t *member;
    json_object_foreach((json_t *)(uintptr_t)value, key, member)
        each_secret(member, is_secret || connection_name_is_secret(key), each, context);
    size_t i;
    json_array_foreach(value, i, member) each_secret(member, is_secret, each, context);
}
/* NOLINTEND(misc-no-recursion) */

static void note_found(void *context, const char *secret)
{
    (void)secret;
    *(bool *)context = true;
}

void connection_secrets(const struct connection *connection,
                        void (*each)(void *context, const char *secret), void *context)
{
    if (connection->password != NULL)
        each(context, connection->password);
    each_secret(connection->extra, false, each, context);
}

bool connection_extra_is_secret(const struct connection *connection, const char *name)
{
    bool found = false;
    const json_t *value =
        name != NULL ? json_object_get(connection->extra, name) : connection->extra;
    each_secret(value, name != NULL && connection_name_is_secret(name), note_found, &found);
    return found;
}

json_t *connection_open_extra(const struct connection *connection)
{
    json_t *open = json_object();
    const char *key;
    json_t *value;
    json_object_foreach(connection->extra, key,
                        value) if (!connection_extra_is_secret(connection, key))
        json_put(open, key, json_deep_copy(value));
    return open;
}

/* A copy in which every secret is hidden. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static json_t *hide(const json_t *value, bool is_secret)
{
    if (json_is_object(value)) {
        json_t *copy = json_object();
        const char *key;
        json_t *member;
        json_object_foreach((json_t *)(uintptr_t)value, key, member)
            json_put(copy, key, hide(member, is_secret || connection_name_is_secret(key)));
        return copy;
    }
    if (json_is_array(value)) {
        json_t *copy = json_array();
        size_t i;
        json_t *member;
        json_array_foreach(value, i, member)
            CHECK(json_array_append_new(copy, hide(member, is_secret)) == 0);
        return copy;
    }
    return is_secret || has_password(value) ? json_string(HIDDEN) : json_deep_copy(value);
}

/* --- as a URI -------------------------------------------------------------------------------- */

static void put_encoded(struct strbuf *out, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (isalnum((unsigned char)*c) || strchr("-._~*", *c) != NULL)
            strbuf_add_char(out, *c);
        else
            strbuf_addf(out, "%%%02X", (unsigned char)*c);
    }
}

static bool is_plain(const json_t *extra)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)extra, key, value)
    {
        if (!json_is_string(value) || key[0] == '\0' || strcmp(key, "__extra__") == 0 ||
            strlen(json_string_value(value)) != json_string_length(value))
            return false;
    }
    return true;
}

/* Texts as parameters of their own; anything else needs all of them as JSON. */
static void put_extra(struct strbuf *out, const json_t *extra)
{
    if (json_object_size(extra) == 0)
        return;
    if (!is_plain(extra)) {
        CLEANUP(mem_freep) char *text = json_format(extra);
        strbuf_add(out, "?__extra__=");
        put_encoded(out, text);
        return;
    }
    const char *separator = "?";
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)extra, key, value)
    {
        strbuf_add(out, separator);
        put_encoded(out, key);
        strbuf_add_char(out, '=');
        put_encoded(out, json_string_value(value));
        separator = "&";
    }
}

static char *format(const struct connection *connection, const char *password, const json_t *extra)
{
    struct strbuf out;
    strbuf_init(&out, (size_t)16 * LIMIT_SECRET_BYTES);
    strbuf_addf(&out, "%s://", connection->type);
    if (connection->login != NULL)
        put_encoded(&out, connection->login);
    if (password != NULL) {
        strbuf_add_char(&out, ':');
        put_encoded(&out, password);
    }
    if (connection->login != NULL || password != NULL)
        strbuf_add_char(&out, '@');
    bool is_address = connection->host != NULL && strchr(connection->host, ':') != NULL &&
                      strpbrk(connection->host, "]/?@") == NULL;
    if (is_address)
        strbuf_addf(&out, "[%s]", connection->host);
    else if (connection->host != NULL)
        put_encoded(&out, connection->host);
    if (connection->port != 0)
        strbuf_addf(&out, ":%lld", (long long)connection->port);
    if (connection->schema != NULL) {
        strbuf_add_char(&out, '/');
        put_encoded(&out, connection->schema);
    }
    put_extra(&out, extra);
    return strbuf_take(&out);
}

char *connection_format(const struct connection *connection)
{
    return format(connection, connection->password, connection->extra);
}

char *connection_shown(const struct connection *connection)
{
    CLEANUP(json_decrefp) json_t *extra = hide(connection->extra, false);
    return format(connection, connection->password == NULL ? NULL : HIDDEN, extra);
}

json_t *connection_to_json(const struct connection *connection)
{
    const struct {
        const char *key;
        const char *text;
    } texts[] = {
        {"type", connection->type},     {"host", connection->host},
        {"login", connection->login},   {"password", connection->password},
        {"schema", connection->schema},
    };
    json_t *object = json_object();
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (texts[i].text != NULL)
            json_put(object, texts[i].key, json_text(texts[i].text, strlen(texts[i].text)));
    if (connection->port != 0)
        json_put_int(object, "port", connection->port);
    if (json_object_size(connection->extra) > 0)
        json_put(object, "extra", json_deep_copy(connection->extra));
    return object;
}

json_t *connection_shown_json(const struct connection *connection)
{
    json_t *object = connection_to_json(connection);
    if (connection->password != NULL)
        json_put_string(object, "password", HIDDEN);
    if (json_object_size(connection->extra) > 0)
        json_put(object, "extra", hide(connection->extra, false));
    return object;
}
