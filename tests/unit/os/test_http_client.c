#include "listener.h"
#include "os/http_client.h"

static struct listener LISTENER;

static void start(void)
{
    LISTENER = listener_start();
}

static void stop(void)
{
    listener_stop(&LISTENER);
}

TestSuite(http_client, .init = start, .fini = stop, .timeout = 60);

static enum status get(const char *server, const char *path, struct http_request request,
                       struct http_answer *answer, struct err *err)
{
    CLEANUP(mem_freep) char *url = listener_url(&LISTENER, server, path);
    request.url = url;
    if (request.answer_max == 0)
        request.answer_max = 1000;
    return http_perform(&request, answer, err);
}

Test(http_client, a_request_arrives_as_it_was_given_and_the_answer_comes_back)
{
    static const struct http_header HEADERS[] = {{"X-One", "1"}, {"X-None", ""}};
    struct http_answer answer;
    struct err err = {0};
    struct http_request request = {.method = "POST",
                                   .headers = HEADERS,
                                   .headers_count = 2,
                                   .body = "a\xff"
                                           "b",
                                   .body_length = 3};

    EXPECT_OK(get("http", "/p?a%20b", request, &answer, &err), &err);
    cr_expect_eq(answer.status, 200);
    EXPECT_STR("a b", answer.body);
    cr_expect_eq(answer.retry_after_ms, -1);
    http_answer_fini(&answer);
    CLEANUP(json_decrefp) json_t *received = listener_received(&LISTENER);
    EXPECT_STR("POST", json_get_string(received, "method", ""));
    const json_t *headers = json_object_get(received, "headers");
    EXPECT_STR("1", json_get_string(headers, "X-One", "(absent)"));
    EXPECT_STR("", json_get_string(headers, "X-None", "(absent)"));
    EXPECT_STR("3", json_get_string(headers, "Content-Length", ""));
    EXPECT_STR("a\xEF\xBF\xBD"
               "b",
               json_get_string(received, "body", ""));
    EXPECT_CONTAINS(json_get_string(headers, "User-Agent", ""), "eider/");
}

Test(http_client, what_the_server_asks_for_is_read_and_redirects_are_not_followed)
{
    struct http_answer answer;
    struct err err = {0};
    EXPECT_OK(get("http", "/status/429?after=7", (struct http_request){0}, &answer, &err), &err);
    cr_expect_eq(answer.status, 429);
    cr_expect_eq(answer.retry_after_ms, 7000);
    http_answer_fini(&answer);

    EXPECT_OK(get("http", "/status/302?to=/elsewhere", (struct http_request){0}, &answer, &err),
              &err);
    cr_expect_eq(answer.status, 302);
    http_answer_fini(&answer);
    EXPECT_OK(get("http", "/status/302?to=/elsewhere", (struct http_request){.redirects_max = 1},
                  &answer, &err),
              &err);
    cr_expect_eq(answer.status, 200);
    http_answer_fini(&answer);
    EXPECT_STATUS(STATUS_INVALID,
                  get("http", "/status/302?to=file:///etc/passwd",
                      (struct http_request){.redirects_max = 1}, &answer, &err),
                  &err);
}

Test(http_client, a_long_answer_is_cut)
{
    struct http_answer answer;
    struct err err = {0};
    EXPECT_OK(get("http", "/huge", (struct http_request){.answer_max = 100}, &answer, &err), &err);
    cr_expect_eq(answer.status, 200);
    cr_expect(answer.is_cut);
    cr_expect_eq(answer.length, 100);
    http_answer_fini(&answer);
}

Test(http_client, what_goes_wrong_on_the_way_has_its_status)
{
    struct http_answer answer;
    struct err err = {0};
    EXPECT_STATUS(STATUS_UNREACHABLE,
                  get("closed", "/secret-path", (struct http_request){0}, &answer, &err), &err);
    cr_expect_null(strstr(err.text, "secret-path"), "%s", err.text);
    EXPECT_STATUS(STATUS_TIMEOUT,
                  get("http", "/hang", (struct http_request){.way.timeout_ms = 200}, &answer, &err),
                  &err);
    EXPECT_STATUS(STATUS_IO, get("http", "/drop", (struct http_request){0}, &answer, &err), &err);
}

Test(http_client, certificates_are_checked_unless_told_not_to)
{
    struct http_answer answer;
    struct err err = {0};
    const char *ca_file = listener_ca_file(&LISTENER);
    EXPECT_STATUS(STATUS_IO, get("https", "/", (struct http_request){0}, &answer, &err), &err);
    EXPECT_CONTAINS(err.text, "certificate");
    EXPECT_STATUS(
        STATUS_IO,
        get("stranger", "/", (struct http_request){.way.ca_file = ca_file}, &answer, &err), &err);
    /* Trusted, but made out to another name. */
    const char *foreign = json_get_string(LISTENER.about, "foreign_ca", NULL);
    EXPECT_STATUS(
        STATUS_IO,
        get("stranger", "/", (struct http_request){.way.ca_file = foreign}, &answer, &err), &err);
    cr_expect_null(listener_received(&LISTENER));

    EXPECT_OK(get("https", "/", (struct http_request){.way.ca_file = ca_file}, &answer, &err),
              &err);
    cr_expect_eq(answer.status, 200);
    http_answer_fini(&answer);
    EXPECT_OK(get("stranger", "/", (struct http_request){.way.trust_any = true}, &answer, &err),
              &err);
    http_answer_fini(&answer);
    EXPECT_STATUS(
        STATUS_INVALID,
        get("https", "/", (struct http_request){.way.ca_file = "/nowhere"}, &answer, &err), &err);
}

Test(http_client, addresses_inside_can_be_refused)
{
    struct http_answer answer;
    struct err err = {0};
    EXPECT_STATUS(STATUS_DENIED,
                  get("http", "/", (struct http_request){.way.public_only = true}, &answer, &err),
                  &err);
    EXPECT_CONTAINS(err.text, "its address is not public");
    cr_expect_null(listener_received(&LISTENER));
}

Test(http_client, what_is_no_request_is_refused_before_anything_is_sent)
{
    static const struct {
        struct http_request request;
        struct http_header header;
        const char *wanted;
    } CASES[] = {
        {{.url = "ftp://x"}, {"A", "b"}, "http:// or https://"},
        {{.url = "file:///etc/passwd"}, {"A", "b"}, "http:// or https://"},
        {{.url = "http://x/\r\nY: z"}, {"A", "b"}, "the URL has a line break"},
        {{.url = "http://x", .method = "GET /"}, {"A", "b"}, "is not a method"},
        {{.url = "http://x"}, {"A: b", "c"}, "is not the name of a header"},
        {{.url = "http://x"}, {"A", "b\r\nX-Admin: 1"}, "header 'A' has a line break"},
        {{.url = "http://x"}, {"A", "b\nX-Admin: 1"}, "header 'A' has a line break"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct http_request request = CASES[i].request;
        struct http_answer answer;
        struct err err = {0};
        request.headers = &CASES[i].header;
        request.headers_count = 1;
        EXPECT_STATUS(STATUS_INVALID, http_perform(&request, &answer, &err), &err);
        EXPECT_CONTAINS(err.text, CASES[i].wanted);
    }
}

Test(http_client, a_proxy_of_the_environment_is_used)
{
    struct http_answer answer;
    struct err err = {0};
    CLEANUP(mem_freep) char *proxy = listener_url(&LISTENER, "http", "");
    cr_assert_eq(setenv("http_proxy", proxy, 1), 0);
    struct http_request request = {.url = "http://inside.example/x", .answer_max = 100};
    EXPECT_OK(http_perform(&request, &answer, &err), &err);
    http_answer_fini(&answer);
    CLEANUP(json_decrefp) json_t *received = listener_received(&LISTENER);
    EXPECT_STR("http://inside.example/x", json_get_string(received, "path", ""));
}

Test(http_status, only_what_may_pass_is_tried_again)
{
    static const int LATER[] = {408, 425, 429, 500, 502, 503, 504, 599};
    static const int NEVER[] = {100, 200, 301, 400, 401, 403, 404, 410, 422, 600};
    for (size_t i = 0; i < ARRAY_LEN(LATER); i++)
        cr_expect(http_status_is_retryable(LATER[i]), "%d", LATER[i]);
    for (size_t i = 0; i < ARRAY_LEN(NEVER); i++)
        cr_expect_not(http_status_is_retryable(NEVER[i]), "%d", NEVER[i]);
}
