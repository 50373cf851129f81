#include "listener.h"
#include "os/mail_client.h"

static struct listener LISTENER;

static void start(void)
{
    LISTENER = listener_start();
}

static void stop(void)
{
    listener_stop(&LISTENER);
}

TestSuite(mail_client, .init = start, .fini = stop, .timeout = 60);

static const char MAIL[] = "Subject: x\r\n\r\n.dot\r\nend\r\n";

static enum status send_to(const char *server, struct mail_request request,
                           const char *recipients[], struct err *err)
{
    request.host = "127.0.0.1";
    request.port = listener_port(&LISTENER, server);
    request.recipients = recipients;
    while (recipients[request.recipients_count] != NULL)
        request.recipients_count++;
    request.from = request.from != NULL ? request.from : "eider@x.example";
    request.mail = MAIL;
    request.mail_length = strlen(MAIL);
    return mail_send(&request, err);
}

static const char *GOOD[] = {"a@b.c", "d@e.f", NULL};

Test(mail_client, a_mail_arrives_with_its_sender_recipients_and_lines)
{
    struct err err = {0};
    EXPECT_OK(send_to("smtp", (struct mail_request){.security = MAIL_PLAIN}, GOOD, &err), &err);
    CLEANUP(json_decrefp) json_t *received = listener_received(&LISTENER);
    CLEANUP(mem_freep) char *text = json_format(received);
    EXPECT_CONTAINS(text, "\"recipients\":[\"a@b.c\",\"d@e.f\"]");
    EXPECT_CONTAINS(text, "\"sender\":\"eider@x.example\"");
    EXPECT_CONTAINS(text, "\".dot\\r\\nend\\r\\n\"");
    cr_expect(json_is_false(json_object_get(received, "tls")));
}

Test(mail_client, encryption_and_login_are_as_told)
{
    struct err err = {0};
    const char *ca_file = listener_ca_file(&LISTENER);
    struct mail_request request = {
        .way.ca_file = ca_file, .login = "eider", .password = "pass word"};
    EXPECT_OK(send_to("starttls", request, GOOD, &err), &err);
    CLEANUP(json_decrefp) json_t *received = listener_received(&LISTENER);
    cr_expect(json_is_true(json_object_get(received, "tls")));
    cr_expect(json_is_true(json_object_get(received, "login")));

    struct mail_request direct = {.security = MAIL_TLS, .way.ca_file = ca_file};
    EXPECT_OK(send_to("smtps", direct, GOOD, &err), &err);
    CLEANUP(json_decrefp) json_t *second = listener_received(&LISTENER);
    cr_expect_eq(json_get_int(second, "count", 0), 2);
}

Test(mail_client, a_password_goes_only_where_the_certificate_is_trusted)
{
    struct err err = {0};
    struct mail_request request = {.login = "eider", .password = "pass word"};
    EXPECT_STATUS(STATUS_IO, send_to("starttls", request, GOOD, &err), &err);
    EXPECT_CONTAINS(err.text, "certificate");
    /* A server that offers no STARTTLS gets neither password nor mail. */
    EXPECT_STATUS(STATUS_IO, send_to("smtp", request, GOOD, &err), &err);
    cr_expect_null(listener_received(&LISTENER));
}

Test(mail_client, the_verdict_of_the_server_decides_whether_it_is_tried_again)
{
    const char *gone[] = {"gone@b.c", NULL};
    const char *later[] = {"later@b.c", NULL};
    const char *some[] = {"gone@b.c", "a@b.c", NULL};
    struct err err = {0};
    struct mail_request plain = {.security = MAIL_PLAIN};
    EXPECT_STATUS(STATUS_DENIED, send_to("smtp", plain, gone, &err), &err);
    EXPECT_STATUS(STATUS_BUSY, send_to("smtp", plain, later, &err), &err);
    struct mail_request full = {.security = MAIL_PLAIN, .from = "full@b.c"};
    EXPECT_STATUS(STATUS_BUSY, send_to("smtp", full, GOOD, &err), &err);
    struct mail_request wrong = {
        .way.ca_file = listener_ca_file(&LISTENER), .login = "eider", .password = "wrong"};
    EXPECT_STATUS(STATUS_DENIED, send_to("starttls", wrong, GOOD, &err), &err);
    EXPECT_STATUS(STATUS_UNREACHABLE, send_to("closed", plain, GOOD, &err), &err);
    cr_expect_null(listener_received(&LISTENER));

    EXPECT_OK(send_to("smtp", plain, some, &err), &err);
    CLEANUP(json_decrefp) json_t *received = listener_received(&LISTENER);
    cr_expect_eq(json_array_size(json_object_get(received, "recipients")), 1);
}

Test(mail_client, a_server_that_says_nothing_is_not_waited_for)
{
    struct err err = {0};
    /* The HTTP server waits for us to speak first, and so does the client. */
    struct mail_request request = {.security = MAIL_PLAIN, .way.timeout_ms = 200};
    EXPECT_STATUS(STATUS_TIMEOUT, send_to("http", request, GOOD, &err), &err);
}

Test(mail_words, what_would_end_a_command_is_refused)
{
    const char *bad[] = {"a@b>\r\nDATA", NULL};
    const char *good[] = {"a@b", NULL};
    struct err err = {0};
    struct mail_request request = {
        .host = "x", .from = "e@x", .recipients = bad, .recipients_count = 1, .mail = ""};
    EXPECT_STATUS(STATUS_INVALID, mail_send(&request, &err), &err);
    request.recipients = good;
    request.from = "e@x\r\n";
    EXPECT_STATUS(STATUS_INVALID, mail_send(&request, &err), &err);
    request.from = "e@x";
    request.host = "x/y@z";
    EXPECT_STATUS(STATUS_INVALID, mail_send(&request, &err), &err);
    request.host = "x";
    request.recipients_count = 0;
    EXPECT_STATUS(STATUS_INVALID, mail_send(&request, &err), &err);
}
