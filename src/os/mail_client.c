#include "os/mail_client.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "os/transfer_priv.h"

enum { URL_MAX = 400, ADDRESS_MAX = 320 };

static bool is_plain_word(const char *text, const char *refused)
{
    for (const char *p = text; *p != '\0'; p++)
        if (*p <= ' ' || *p > '~' || strchr(refused, *p) != NULL)
            return false;
    return text[0] != '\0' && strlen(text) < ADDRESS_MAX;
}

static enum status check_request(const struct mail_request *request, struct err *err)
{
    if (request->host == NULL || !is_plain_word(request->host, "/@?#[]%\\"))
        return err_set(err, STATUS_INVALID, "the mail server has no usable name");
    if (!is_plain_word(request->from, "<>"))
        return err_set(err, STATUS_INVALID, "'%.60s' is not an address", request->from);
    if (request->recipients_count == 0)
        return err_set(err, STATUS_INVALID, "the mail has no recipients");
    for (size_t i = 0; i < request->recipients_count; i++)
        if (!is_plain_word(request->recipients[i], "<>"))
            return err_set(err, STATUS_INVALID, "'%.60s' is not an address",
                           request->recipients[i]);
    return STATUS_OK;
}

static void format_url(const struct mail_request *request, char out[static URL_MAX])
{
    static const int64_t PORTS[] = {[MAIL_STARTTLS] = 587, [MAIL_TLS] = 465, [MAIL_PLAIN] = 25};
    bool is_literal = strchr(request->host, ':') != NULL;
    int64_t port = request->port != 0 ? request->port : PORTS[request->security];
    int length = snprintf(out, URL_MAX, "%s://%s%s%s:%" PRId64,
                          request->security == MAIL_TLS ? "smtps" : "smtp", is_literal ? "[" : "",
                          request->host, is_literal ? "]" : "", port);
    CHECK(length > 0);
    CHECK(length < URL_MAX);
}

struct reading {
    const struct mail_request *request;
    size_t done;
};

static size_t read_mail(char *out, size_t size, size_t count, void *context)
{
    struct reading *reading = context;
    size_t part = MIN(size * count, reading->request->mail_length - reading->done);
    memcpy(out, reading->request->mail + reading->done, part);
    reading->done += part;
    return part;
}

/* Which of the recipients the server's replies are about. */
struct listening {
    const struct mail_request *request;
    size_t asked; /* recipients named to the server so far */
    bool awaits;  /* its word on the last of them */
};

/* libcurl tells of the conversation only here: one line of it, ours or the server's. */
static int note_talk(CURL *curl, curl_infotype type, char *line, size_t length, void *context)
{
    static const char RCPT[] = "RCPT TO:";
    struct listening *listening = context;
    (void)curl;
    if (type == CURLINFO_HEADER_OUT) {
        listening->awaits = length >= strlen(RCPT) && memcmp(line, RCPT, strlen(RCPT)) == 0;
        listening->asked += listening->awaits;
    } else if (type == CURLINFO_HEADER_IN && listening->awaits && length > 0 &&
               listening->asked <= listening->request->recipients_count) {
        listening->awaits = false;
        listening->request->refused[listening->asked - 1] = line[0] == '4' || line[0] == '5';
    }
    return 0;
}

static void listen_for_refusals(struct transfer *transfer, struct listening *listening)
{
    CURLcode code = curl_easy_setopt(transfer->curl, CURLOPT_DEBUGFUNCTION, note_talk);
    code |= curl_easy_setopt(transfer->curl, CURLOPT_DEBUGDATA, listening);
    code |= curl_easy_setopt(transfer->curl, CURLOPT_VERBOSE, 1L);
    CHECK(code == CURLE_OK);
}

static void set_request(struct transfer *transfer, const struct mail_request *request,
                        const char *url, struct reading *reading)
{
    CURL *curl = transfer->curl;
    char address[ADDRESS_MAX + 3];
    for (size_t i = 0; i < request->recipients_count; i++) {
        (void)snprintf(address, sizeof address, "<%s>", request->recipients[i]);
        transfer_add(transfer, address);
    }
    (void)snprintf(address, sizeof address, "<%s>", request->from);
    CURLcode code = curl_easy_setopt(curl, CURLOPT_URL, url);
    code |= curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    code |= curl_easy_setopt(curl, CURLOPT_MAIL_FROM, address);
    code |= curl_easy_setopt(curl, CURLOPT_MAIL_RCPT, transfer->list);
    /* One address that is gone must not keep the mail from the others. */
    code |= curl_easy_setopt(curl, CURLOPT_MAIL_RCPT_ALLLOWFAILS, 1L);
    code |= curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
    code |= curl_easy_setopt(curl, CURLOPT_READFUNCTION, read_mail);
    code |= curl_easy_setopt(curl, CURLOPT_READDATA, reading);
    if (request->security == MAIL_STARTTLS)
        code |= curl_easy_setopt(curl, CURLOPT_USE_SSL, (long)CURLUSESSL_ALL);
    if (request->login != NULL && request->login[0] != '\0') {
        code |= curl_easy_setopt(curl, CURLOPT_USERNAME, request->login);
        code |= curl_easy_setopt(curl, CURLOPT_PASSWORD,
                                 request->password != NULL ? request->password : "");
    }
    CHECK(code == CURLE_OK);
}

/* The server's own verdict comes before libcurl's words for it. */
static enum status mail_failed(const struct transfer *transfer, CURLcode code, const char *url,
                               struct err *err)
{
    long reply = 0;
    CHECK(curl_easy_getinfo(transfer->curl, CURLINFO_RESPONSE_CODE, &reply) == CURLE_OK);
    enum status status = transfer_failed(transfer, code, "send mail through", url, err);
    if (reply >= 400 && reply < 500)
        status = STATUS_BUSY;
    else if (reply >= 500 && reply < 600)
        status = STATUS_DENIED;
    err->code = status;
    return status;
}

enum status mail_send(const struct mail_request *request, struct err *err)
{
    struct transfer transfer;
    if (check_request(request, err) != STATUS_OK ||
        transfer_init(&transfer, NULL, &request->way, err) != STATUS_OK)
        return err->code;
    char url[URL_MAX];
    struct reading reading = {.request = request};
    format_url(request, url);
    set_request(&transfer, request, url, &reading);
    struct listening listening = {.request = request};
    if (request->refused != NULL)
        listen_for_refusals(&transfer, &listening);
    CURLcode code = curl_easy_perform(transfer.curl);
    enum status status = code == CURLE_OK ? STATUS_OK : mail_failed(&transfer, code, url, err);
    transfer_fini(&transfer);
    return status;
}
