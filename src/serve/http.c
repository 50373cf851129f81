#include "serve/http.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"

static const struct {
    const char *text;
    bool changes;
} METHODS[] = {
#define X(name, text, changes) [HTTP_##name] = {(text), (changes)},
    HTTP_METHOD_MAP(X)
#undef X
};

enum http_method http_method_parse(const char *text)
{
    for (size_t i = 0; i < HTTP_OTHER; i++)
        if (strcmp(METHODS[i].text, text) == 0)
            return (enum http_method)i;
    return HTTP_OTHER;
}

const char *http_method_name(enum http_method method)
{
    CHECK(method < HTTP_METHOD_COUNT);
    return METHODS[method].text;
}

bool http_method_changes(enum http_method method)
{
    CHECK(method < HTTP_METHOD_COUNT);
    return METHODS[method].changes;
}

const char *http_header(const struct http_request *request, const char *name)
{
    for (size_t i = 0; i < request->headers.count; i++)
        if (strcasecmp(request->headers.items[i].name, name) == 0)
            return request->headers.items[i].value;
    return NULL;
}

const char *http_query(const struct http_request *request, const char *name)
{
    for (size_t i = 0; i < request->query.count; i++)
        if (strcmp(request->query.items[i].name, name) == 0)
            return request->query.items[i].value;
    return NULL;
}

bool http_cookie(const struct http_request *request, const char *name, char *out, size_t size)
{
    const char *at = http_header(request, "Cookie");
    size_t name_length = strlen(name);
    while (at != NULL && *at != '\0') {
        at += strspn(at, "; ");
        size_t length = strcspn(at, ";");
        bool is_it =
            length > name_length && strncmp(at, name, name_length) == 0 && at[name_length] == '=';
        if (is_it && length - name_length - 1 < size) {
            (void)memcpy(out, at + name_length + 1, length - name_length - 1);
            out[length - name_length - 1] = '\0';
            return true;
        }
        at += length;
    }
    return false;
}

static bool is_loopback(const char *peer)
{
    return str_starts_with(peer, "127.") || str_equal(peer, "::1") ||
           str_starts_with(peer, "::ffff:127.");
}

/* "127.0.0.1:4337", "[::1]", "localhost"; programs that send none are no browsers. */
static bool names_address(const char *host)
{
    char name[INET_ADDRSTRLEN];
    struct in_addr ignored;
    if (host == NULL || host[0] == '[')
        return true;
    size_t length = strcspn(host, ":");
    if (length >= sizeof name)
        return false;
    (void)memcpy(name, host, length);
    name[length] = '\0';
    return strcasecmp(name, "localhost") == 0 || inet_pton(AF_INET, name, &ignored) == 1;
}

bool http_is_local(const struct http_request *request)
{
    static const char *const PASSED_ON[] = {"Forwarded",        "X-Forwarded-For",
                                            "X-Forwarded-Host", "X-Forwarded-Proto",
                                            "X-Real-IP",        "Via"};
    for (size_t i = 0; i < ARRAY_LEN(PASSED_ON); i++)
        if (http_header(request, PASSED_ON[i]) != NULL)
            return false;
    return is_loopback(request->peer) && names_address(http_header(request, "Host"));
}

void http_response_init(struct http_response *response)
{
    *response = (struct http_response){.status = 200};
    strbuf_init(&response->body, HTTP_BODY_MAX);
}

void http_response_fini(struct http_response *response)
{
    for (size_t i = 0; i < response->headers_count; i++)
        free(response->headers[i].value);
    response->headers_count = 0;
    strbuf_fini(&response->body);
}

void http_response_add_header(struct http_response *response, const char *name, const char *value)
{
    CHECK(response->headers_count < HTTP_HEADERS_MAX);
    response->headers[response->headers_count].name = name;
    response->headers[response->headers_count++].value = mem_strdup(value);
}
