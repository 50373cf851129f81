#include "os/http_client.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "os/transfer_priv.h"

enum { WHERE_MAX = 200, HEADER_BYTES_MAX = 16 << 10 };
#define RETRY_AFTER_S_MAX INT64_C(86400)

bool http_status_is_retryable(int status)
{
    return status == 408 || status == 425 || status == 429 || (status >= 500 && status <= 599);
}

struct http_session {
    CURL *curl; /* NULL before the first request */
};

struct http_session *http_session_new(void)
{
    return mem_zalloc(1, sizeof(struct http_session));
}

void http_session_free(struct http_session *session)
{
    if (session == NULL)
        return;
    curl_easy_cleanup(session->curl);
    free(session);
}

void http_answer_fini(struct http_answer *answer)
{
    free(answer->body);
    answer->body = NULL;
}

/* ---- what may be sent ---- */

static bool is_token(const char *text)
{
    for (const char *p = text; *p != '\0'; p++)
        if (!isalnum((unsigned char)*p) && strchr("!#$%&'*+-.^_`|~", *p) == NULL)
            return false;
    return text[0] != '\0';
}

static bool is_one_line(const char *text)
{
    for (const char *p = text; *p != '\0'; p++)
        if (((unsigned char)*p < 0x20 && *p != '\t') || *p == 0x7f)
            return false;
    return true;
}

static enum status check_request(const struct http_request *request, struct err *err)
{
    if (!str_starts_with(request->url, "http://") && !str_starts_with(request->url, "https://"))
        return err_set(err, STATUS_INVALID, "a URL begins with http:// or https://");
    if (!is_one_line(request->url))
        return err_set(err, STATUS_INVALID, "the URL has a line break or a control character");
    if (request->method != NULL && !is_token(request->method))
        return err_set(err, STATUS_INVALID, "'%.40s' is not a method", request->method);
    for (size_t i = 0; i < request->headers_count; i++) {
        const struct http_header *header = &request->headers[i];
        if (!is_token(header->name))
            return err_set(err, STATUS_INVALID, "'%.60s' is not the name of a header",
                           header->name);
        if (!is_one_line(header->value))
            return err_set(err, STATUS_INVALID,
                           "header '%.60s' has a line break or a control character", header->name);
    }
    return STATUS_OK;
}

/* "https://host:port": no user, no path. */
static const char *server_of(const char *url, char out[static WHERE_MAX])
{
    const char *start = strstr(url, "://");
    CHECK(start != NULL);
    size_t scheme = (size_t)(start - url) + 3;
    size_t length = strcspn(url + scheme, "/?#");
    const char *at = memrchr(url + scheme, '@', length);
    size_t skipped = at != NULL ? (size_t)(at - url) + 1 - scheme : 0;
    struct strbuf text;
    strbuf_init(&text, WHERE_MAX - 1);
    strbuf_add_bytes(&text, url, scheme);
    strbuf_add_bytes(&text, url + scheme + skipped, length - skipped);
    memcpy(out, text.text, text.length + 1);
    strbuf_fini(&text);
    return out;
}

/* ---- sending ---- */

static size_t keep_answer(char *bytes, size_t size, size_t count, void *context)
{
    struct strbuf *answer = context;
    strbuf_add_bytes(answer, bytes, size * count);
    return answer->overflow ? 0 : size * count; /* 0 ends the transfer */
}

static void set_headers(struct transfer *transfer, const struct http_request *request)
{
    struct strbuf line;
    strbuf_init(&line, HEADER_BYTES_MAX);
    for (size_t i = 0; i < request->headers_count; i++) {
        const struct http_header *header = &request->headers[i];
        strbuf_clear(&line);
        if (header->value[0] != '\0')
            strbuf_addf(&line, "%s: %s", header->name, header->value);
        else
            strbuf_addf(&line, "%s;", header->name); /* libcurl's way to send an empty one */
        transfer_add(transfer, line.text);
    }
    transfer_add(transfer, "Expect:"); /* no waiting for 100-continue */
    strbuf_fini(&line);
}

static void set_request(struct transfer *transfer, const struct http_request *request,
                        struct strbuf *answer)
{
    CURL *curl = transfer->curl;
    set_headers(transfer, request);
    const char *method = request->method != NULL ? request->method : "GET";
    CURLcode code = curl_easy_setopt(curl, CURLOPT_URL, request->url);
    code |= curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    code |= curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    code |= curl_easy_setopt(curl, CURLOPT_USERAGENT, "eider/" EIDER_VERSION);
    code |= curl_easy_setopt(curl, CURLOPT_HTTPHEADER, transfer->list);
    code |= curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, request->redirects_max > 0 ? 1L : 0L);
    code |= curl_easy_setopt(curl, CURLOPT_MAXREDIRS, (long)request->redirects_max);
    if (request->body != NULL) {
        code |=
            curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_length);
        code |= curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->body);
    }
    if (strcmp(method, "HEAD") == 0)
        code |= curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
    else
        code |= curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
    code |= curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, keep_answer);
    code |= curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
    CHECK(code == CURLE_OK);
}

static int64_t retry_after_of(CURL *curl)
{
    curl_off_t seconds = 0;
    if (curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &seconds) != CURLE_OK || seconds <= 0)
        return -1;
    return MIN((int64_t)seconds, RETRY_AFTER_S_MAX) * 1000;
}

static void take_type(CURL *curl, char out[static 64])
{
    char *text = NULL;
    if (curl_easy_getinfo(curl, CURLINFO_CONTENT_TYPE, &text) != CURLE_OK || text == NULL)
        return;
    size_t length = MIN(strcspn(text, "; \t"), (size_t)63);
    memcpy(out, text, length);
    out[length] = '\0';
}

static bool was_sent(CURL *curl)
{
    long bytes = 0;
    return curl_easy_getinfo(curl, CURLINFO_REQUEST_SIZE, &bytes) == CURLE_OK && bytes > 0;
}

static enum status perform(struct transfer *transfer, const struct http_request *request,
                           struct strbuf *answer, struct http_answer *out, struct err *err)
{
    char where[WHERE_MAX];
    set_request(transfer, request, answer);
    CURLcode code = curl_easy_perform(transfer->curl);
    if (request->was_sent != NULL)
        *request->was_sent = was_sent(transfer->curl);
    bool is_cut = code == CURLE_WRITE_ERROR && answer->overflow;
    if (code != CURLE_OK && !is_cut)
        return transfer_failed(transfer, code, request->method != NULL ? request->method : "GET",
                               server_of(request->url, where), err);
    long status = 0;
    CHECK(curl_easy_getinfo(transfer->curl, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK);
    *out = (struct http_answer){
        .status = (int)status,
        .length = answer->length,
        .is_cut = is_cut,
        .retry_after_ms = retry_after_of(transfer->curl),
    };
    take_type(transfer->curl, out->content_type);
    out->body = strbuf_take(answer);
    return STATUS_OK;
}

enum status http_perform(const struct http_request *request, struct http_answer *out,
                         struct err *err)
{
    struct transfer transfer;
    struct http_session *session = request->session;
    if (request->was_sent != NULL)
        *request->was_sent = false;
    if (check_request(request, err) != STATUS_OK ||
        transfer_init(&transfer, session != NULL ? TAKE(session->curl) : NULL, &request->way,
                      err) != STATUS_OK)
        return err->code;
    struct strbuf answer;
    strbuf_init(&answer, request->answer_max);
    enum status status = perform(&transfer, request, &answer, out, err);
    strbuf_fini(&answer);
    if (session != NULL) {
        session->curl = TAKE(transfer.curl);
        curl_easy_reset(session->curl); /* what it was told is gone with this call */
    }
    transfer_fini(&transfer);
    return status;
}
