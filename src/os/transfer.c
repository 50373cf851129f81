#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "os/net_address.h"
#include "os/transfer_priv.h"

enum { CONNECT_TIMEOUT_MS = 10 * 1000, TIMEOUT_MS = 30 * 1000 };

static pthread_once_t STARTED = PTHREAD_ONCE_INIT;

static void start_library(void)
{
    CHECK(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK);
}

/* The address is the one that will be connected to, so no second lookup can say otherwise. */
static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct transfer *transfer = context;
    (void)purpose;
    if (transfer->public_only && !net_address_is_public(&address->addr)) {
        transfer->is_refused = true;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

enum status transfer_init(struct transfer *transfer, CURL *taken,
                          const struct transfer_options *options, struct err *err)
{
    CHECK(pthread_once(&STARTED, start_library) == 0);
    *transfer = (struct transfer){
        .curl = taken != NULL ? taken : curl_easy_init(),
        .public_only = options->public_only,
    };
    CURL *curl = transfer->curl;
    if (curl == NULL)
        return err_set(err, STATUS_BUSY, "libcurl has no memory");
    int64_t connect_ms =
        options->connect_timeout_ms > 0 ? options->connect_timeout_ms : CONNECT_TIMEOUT_MS;
    int64_t total_ms = options->timeout_ms > 0 ? options->timeout_ms : TIMEOUT_MS;
    CURLcode code = curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, transfer->error);
    code |= curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    code |= curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)connect_ms);
    code |= curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)total_ms);
    code |= curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, options->trust_any ? 0L : 1L);
    code |= curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, options->trust_any ? 0L : 2L);
    if (options->ca_file != NULL)
        code |= curl_easy_setopt(curl, CURLOPT_CAINFO, options->ca_file);
    if (options->direct)
        code |= curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    code |= curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    code |= curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, transfer);
    CHECK(code == CURLE_OK);
    return STATUS_OK;
}

void transfer_fini(struct transfer *transfer)
{
    curl_easy_cleanup(transfer->curl);
    curl_slist_free_all(transfer->list);
    transfer->curl = NULL;
    transfer->list = NULL;
}

void transfer_add(struct transfer *transfer, const char *text)
{
    struct curl_slist *list = curl_slist_append(transfer->list, text);
    CHECK(list != NULL);
    transfer->list = list;
}

static enum status status_of(CURLcode code)
{
    static const struct {
        CURLcode code;
        enum status status;
    } ROWS[] = {
        {CURLE_UNSUPPORTED_PROTOCOL, STATUS_INVALID},
        {CURLE_URL_MALFORMAT, STATUS_INVALID},
        {CURLE_SSL_CACERT_BADFILE, STATUS_INVALID},
        {CURLE_COULDNT_RESOLVE_HOST, STATUS_UNREACHABLE},
        {CURLE_COULDNT_CONNECT, STATUS_UNREACHABLE},
        {CURLE_COULDNT_RESOLVE_PROXY, STATUS_UNREACHABLE},
        {CURLE_OPERATION_TIMEDOUT, STATUS_TIMEOUT},
        {CURLE_LOGIN_DENIED, STATUS_DENIED},
        {CURLE_TOO_MANY_REDIRECTS, STATUS_DENIED},
    };
    for (size_t i = 0; i < ARRAY_LEN(ROWS); i++)
        if (ROWS[i].code == code)
            return ROWS[i].status;
    return STATUS_IO;
}

enum status transfer_failed(const struct transfer *transfer, CURLcode code, const char *what,
                            const char *where, struct err *err)
{
    if (transfer->is_refused)
        return err_set(err, STATUS_DENIED, "%s %s: its address is not public", what, where);
    const char *text = transfer->error[0] != '\0' ? transfer->error : curl_easy_strerror(code);
    return err_set(err, status_of(code), "%s %s: %s", what, where, text);
}
