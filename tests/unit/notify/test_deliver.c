/*
 * From a hook as it is written in a file to what a real receiver got.
 */
#include "base/arena.h"
#include "listener.h"
#include "model/alert.h"
#include "model/connection.h"
#include "notify/deliver.h"

static struct listener LISTENER;
static struct arena *ARENA;

static void start(void)
{
    LISTENER = listener_start();
    ARENA = arena_new();
}

static void stop(void)
{
    listener_stop(&LISTENER);
    arena_free(ARENA);
}

TestSuite(deliver, .init = start, .fini = stop, .timeout = 60);

enum { NOW_S = 1800000000 };

static const struct alert_event EVENT = {
    .kind = HOOK_FAILURE,
    .dag = "sales",
    .run_id = "manual__1",
    .task = "load",
    .map_index = -1,
    .try_number = 2,
    .state = "failed",
    .reason = "exit",
    .logical_at_us = 1736899200000000,
    .error = "no such table: <orders> \xE2\x82\xAC",
};

static json_t *parse(const char *text)
{
    json_t *tree = NULL;
    struct err err = {0};
    EXPECT_OK(json_parse(text, strlen(text), &tree, &err), &err);
    return tree;
}

static struct alert_message render(const char *entry, const struct alert_event *event)
{
    CLEANUP(mem_freep) char *text = mem_format("{\"on_failure\":[%s]}", entry);
    CLEANUP(json_decrefp) json_t *rest = parse(text);
    struct hook_list list = hook_list_of(rest, HOOK_FAILURE, ARENA);
    cr_assert_eq(list.count, 1, "%s", entry);
    struct alert_notice notice = {
        .id = "n-42", .at_us = 1736899262000000, .events = event, .count = 1, .total = 1};
    struct alert_message message = {0};
    struct err err = {0};
    EXPECT_OK(alert_render(ARENA, &list.items[0], &notice, NULL, &message, &err), &err);
    return message;
}

/* A connection with an `extra` of JSON; what it holds lives in the arena. */
static struct deliver_outcome send_message(const struct alert_message *message,
                                           const char *password, const char *extra)
{
    CLEANUP(json_decrefp) json_t *more = parse(extra);
    struct connection connection = {
        .type = arena_strdup(ARENA, "x"),
        .password = password != NULL ? arena_strdup(ARENA, password) : NULL,
        .extra = more,
    };
    struct deliver_request request = {.message = message,
                                      .connection = &connection,
                                      .now_us = (int64_t)NOW_S * 1000000,
                                      .timeout_ms = 10000,
                                      .ca_file = listener_ca_file(&LISTENER)};
    struct deliver_outcome outcome;
    deliver(&request, &outcome);
    return outcome;
}

/* A webhook without a connection, to a path of the listener. */
static struct deliver_outcome hook_to(const char *server, const char *path, int64_t timeout_ms)
{
    CLEANUP(mem_freep) char *url = listener_url(&LISTENER, server, path);
    CLEANUP(mem_freep)
    char *entry = mem_format("{\"webhook\":{\"url\":\"%s\",\"secret\":\"top "
                             "secret\",\"headers\":{\"X-Team\":\"data\"}}}",
                             url);
    struct alert_message message = render(entry, &EVENT);
    struct deliver_request request = {.message = &message,
                                      .now_us = (int64_t)NOW_S * 1000000,
                                      .timeout_ms = timeout_ms,
                                      .ca_file = listener_ca_file(&LISTENER)};
    struct deliver_outcome outcome;
    deliver(&request, &outcome);
    return outcome;
}

static void expect_verdict(const struct deliver_outcome *outcome, enum deliver_verdict wanted,
                           const char *text)
{
    cr_assert_eq(outcome->verdict, wanted, "%s: %s", deliver_verdict_name(outcome->verdict),
                 outcome->text);
    EXPECT_CONTAINS(outcome->text, text);
}

/* ---- webhook ---- */

Test(deliver, a_webhook_is_signed_so_that_its_receiver_can_tell)
{
    struct deliver_outcome outcome = hook_to("https", "/hook", 10000);

    expect_verdict(&outcome, DELIVER_DONE, "HTTP 200: fine");
    CLEANUP(json_decrefp) json_t *received = listener_received(&LISTENER);
    const json_t *headers = json_object_get(received, "headers");
    cr_expect(json_is_true(json_object_get(received, "signed")));
    EXPECT_STR("n-42", json_get_string(headers, "X-Eider-Delivery", ""));
    EXPECT_STR("1800000000", json_get_string(headers, "X-Eider-Timestamp", ""));
    EXPECT_STR("application/json", json_get_string(headers, "Content-Type", ""));
    EXPECT_STR("data", json_get_string(headers, "X-Team", ""));
    CLEANUP(json_decrefp) json_t *body = parse(json_get_string(received, "body", ""));
    EXPECT_STR("load", json_get_string(body, "task", ""));
    EXPECT_STR(EVENT.error, json_get_string(body, "error", ""));
}

Test(deliver, what_the_receiver_answers_decides_what_happens_next)
{
    struct deliver_outcome outcome = hook_to("http", "/status/500", 10000);
    expect_verdict(&outcome, DELIVER_RETRY, "HTTP 500: as you wish");
    cr_expect_eq(outcome.retry_after_ms, -1);
    outcome = hook_to("http", "/status/429?after=9", 10000);
    expect_verdict(&outcome, DELIVER_RETRY, "HTTP 429");
    cr_expect_eq(outcome.retry_after_ms, 9000);
    outcome = hook_to("http", "/status/404", 10000);
    expect_verdict(&outcome, DELIVER_FAILED, "HTTP 404");
    outcome = hook_to("http", "/status/302?to=/x", 10000);
    expect_verdict(&outcome, DELIVER_FAILED, "HTTP 302, redirects are not followed");
    outcome = hook_to("http", "/huge", 10000);
    expect_verdict(&outcome, DELIVER_DONE, "HTTP 200: xxx");
}

Test(deliver, what_goes_wrong_on_the_way_is_tried_again)
{
    struct deliver_outcome outcome = hook_to("closed", "/", 10000);
    expect_verdict(&outcome, DELIVER_RETRY, "127.0.0.1");
    outcome = hook_to("http", "/hang", 200);
    expect_verdict(&outcome, DELIVER_RETRY, "timed out");
    outcome = hook_to("http", "/drop", 10000);
    expect_verdict(&outcome, DELIVER_RETRY, "");
    outcome = hook_to("stranger", "/", 10000);
    expect_verdict(&outcome, DELIVER_RETRY, "certificate");
}

Test(deliver, a_webhook_through_a_connection_uses_what_it_knows)
{
    struct alert_message message = render(
        "{\"webhook\":{\"connection\":\"portal\",\"body\":\"plain {{ task.id }}\"}}", &EVENT);
    CLEANUP(mem_freep) char *url = listener_url(&LISTENER, "http", "/portal");
    CLEANUP(mem_freep) char *extra = mem_format("{\"url\":\"%s\"}", url);

    struct deliver_outcome outcome = send_message(&message, "top secret", extra);

    expect_verdict(&outcome, DELIVER_DONE, "HTTP 200");
    CLEANUP(json_decrefp) json_t *received = listener_received(&LISTENER);
    cr_expect(json_is_true(json_object_get(received, "signed")));
    EXPECT_STR("/portal", json_get_string(received, "path", ""));
    EXPECT_STR("plain load", json_get_string(received, "body", ""));
    EXPECT_STR("text/plain; charset=utf-8",
               json_get_string(json_object_get(received, "headers"), "Content-Type", ""));
}

/* ---- slack and pagerduty ---- */

static struct deliver_outcome slack(const char *entry, const char *password, const char *path,
                                    const char *channel)
{
    struct alert_message message = render(entry, &EVENT);
    CLEANUP(mem_freep) char *url = listener_url(&LISTENER, "http", path);
    CLEANUP(mem_freep) char *extra = mem_format("{\"url\":\"%s\"%s}", url, channel);
    return send_message(&message, password, extra);
}

Test(deliver, slack_with_a_token_needs_a_channel_and_is_judged_by_its_answer)
{
    static const char ENTRY[] = "{\"slack\":\"ops\"}";
    struct deliver_outcome outcome = slack(ENTRY, "xoxb-1", "/say", "");
    expect_verdict(&outcome, DELIVER_RETRY, "add 'channel'");
    cr_expect_null(listener_received(&LISTENER));

    outcome = slack(ENTRY, "xoxb-1", "/say?{\\\"ok\\\":true}", ",\"channel\":\"#data\"");
    expect_verdict(&outcome, DELIVER_DONE, "HTTP 200");
    CLEANUP(json_decrefp) json_t *received = listener_received(&LISTENER);
    EXPECT_STR("Bearer xoxb-1",
               json_get_string(json_object_get(received, "headers"), "Authorization", ""));
    CLEANUP(json_decrefp) json_t *body = parse(json_get_string(received, "body", ""));
    EXPECT_STR("#data", json_get_string(body, "channel", ""));
    EXPECT_STR("task 'load' of 'sales' failed", json_get_string(body, "text", ""));

    outcome = slack("{\"slack\":\"#x\"}", "xoxb-1",
                    "/say?{\\\"ok\\\":false,\\\"error\\\":\\\"channel_not_found\\\"}", "");
    expect_verdict(&outcome, DELIVER_FAILED, "slack says no: channel_not_found");
    outcome = slack("{\"slack\":\"#x\"}", "xoxb-1",
                    "/say?{\\\"ok\\\":false,\\\"error\\\":\\\"ratelimited\\\"}", "");
    expect_verdict(&outcome, DELIVER_RETRY, "slack says no: ratelimited");
}

Test(deliver, slack_without_a_token_is_an_incoming_webhook)
{
    struct deliver_outcome outcome = slack("{\"slack\":\"ops\"}", NULL, "/say?ok", "");
    expect_verdict(&outcome, DELIVER_DONE, "HTTP 200: ok");
    CLEANUP(json_decrefp) json_t *received = listener_received(&LISTENER);
    cr_expect_null(json_object_get(json_object_get(received, "headers"), "Authorization"));
}

Test(deliver, pagerduty_gets_its_routing_key_and_the_same_key_for_open_and_close)
{
    CLEANUP(mem_freep) char *url = listener_url(&LISTENER, "http", "/status/202");
    CLEANUP(mem_freep) char *extra = mem_format("{\"url\":\"%s\"}", url);
    struct alert_event later = EVENT;
    later.kind = HOOK_SUCCESS;
    later.try_number = 3;
    struct alert_message open = render("{\"pagerduty\":\"p\"}", &EVENT);
    struct alert_message close_ = render("{\"pagerduty\":\"p\"}", &later);

    struct deliver_outcome first = send_message(&open, "R0UT", extra);
    CLEANUP(json_decrefp) json_t *opened = listener_received(&LISTENER);
    struct deliver_outcome second = send_message(&close_, "R0UT", extra);
    CLEANUP(json_decrefp) json_t *closed = listener_received(&LISTENER);

    expect_verdict(&first, DELIVER_DONE, "HTTP 202");
    expect_verdict(&second, DELIVER_DONE, "HTTP 202");
    CLEANUP(json_decrefp) json_t *one = parse(json_get_string(opened, "body", ""));
    CLEANUP(json_decrefp) json_t *two = parse(json_get_string(closed, "body", ""));
    EXPECT_STR("R0UT", json_get_string(one, "routing_key", ""));
    EXPECT_STR("trigger", json_get_string(one, "event_action", ""));
    EXPECT_STR("resolve", json_get_string(two, "event_action", ""));
    EXPECT_STR(json_get_string(one, "dedup_key", "?"), json_get_string(two, "dedup_key", ""));
    cr_expect_null(strstr(open.body, "R0UT"));
}

/* ---- email ---- */

static struct deliver_outcome mail(const char *entry, const char *server, const char *extra)
{
    struct alert_message message = render(entry, &EVENT);
    CLEANUP(json_decrefp) json_t *more = parse(extra);
    char host[] = "127.0.0.1";
    char type[] = "smtp";
    char login[] = "eider";
    char password[] = "pass word";
    bool logs_in = strcmp(server, "starttls") == 0;
    struct connection connection = {.type = type,
                                    .host = host,
                                    .port = listener_port(&LISTENER, server),
                                    .login = logs_in ? login : NULL,
                                    .password = logs_in ? password : NULL,
                                    .extra = more};
    struct deliver_request request = {
        .message = &message, .connection = &connection, .ca_file = listener_ca_file(&LISTENER)};
    struct deliver_outcome outcome;
    deliver(&request, &outcome);
    return outcome;
}

Test(deliver, a_mail_reads_as_it_was_meant)
{
    struct deliver_outcome outcome = mail(
        "{\"email\":{\"to\":[\"a@b.c\",\"J\xC3\xB6rg <j@b.c>\"],\"cc\":\"boss@b.c\",\"subject\":"
        "\"\xE2\x82\xAC \xC3\xA4rger mit {{ task.id }} \xE2\x80\x94 ein langer Betreff, der "
        "\xC3\xBC"
        "ber eine Zeile geht und umbrochen wird\"}}",
        "starttls", "{\"from\":\"Eider <eider@x.example>\"}");

    expect_verdict(&outcome, DELIVER_DONE, "taken by the mail server");
    CLEANUP(json_decrefp) json_t *received = listener_received(&LISTENER);
    const json_t *headers = json_object_get(received, "headers");
    const json_t *parts = json_object_get(received, "parts");
    EXPECT_STR("eider@x.example", json_get_string(received, "sender", ""));
    cr_expect_eq(json_array_size(json_object_get(received, "recipients")), 3);
    EXPECT_STR("\xE2\x82\xAC \xC3\xA4rger mit load \xE2\x80\x94 ein langer Betreff, der \xC3\xBC"
               "ber eine Zeile geht und umbrochen wird",
               json_get_string(headers, "Subject", ""));
    EXPECT_STR("a@b.c, J\xC3\xB6rg <j@b.c>", json_get_string(headers, "To", ""));
    EXPECT_STR("boss@b.c", json_get_string(headers, "Cc", ""));
    EXPECT_STR("<n-42@x.example>", json_get_string(headers, "Message-ID", ""));
    EXPECT_STR("Wed, 15 Jan 2025 00:01:02 +0000", json_get_string(headers, "Date", ""));
    EXPECT_CONTAINS(json_get_string(parts, "text/plain", ""), EVENT.error);
    EXPECT_CONTAINS(json_get_string(parts, "text/html", ""),
                    "<pre>no such table: &lt;orders&gt; \xE2\x82\xAC</pre>");
    cr_expect_eq(json_array_size(json_object_get(received, "defects")), 0);
    cr_expect(json_is_true(json_object_get(received, "tls")));
}

Test(deliver, a_mail_that_is_sent_again_has_the_same_id)
{
    static const char ENTRY[] = "{\"email\":\"a@b.c\"}";
    static const char EXTRA[] = "{\"from\":\"e@x.example\",\"security\":\"none\"}";
    (void)mail(ENTRY, "smtp", EXTRA);
    CLEANUP(json_decrefp) json_t *first = listener_received(&LISTENER);
    (void)mail(ENTRY, "smtp", EXTRA);
    CLEANUP(json_decrefp) json_t *second = listener_received(&LISTENER);
    cr_expect_eq(json_get_int(second, "count", 0), 2);
    EXPECT_STR(json_get_string(first, "raw", "?"), json_get_string(second, "raw", ""));
}

Test(deliver, a_mail_server_that_says_no_is_believed)
{
    static const char EXTRA[] = "{\"from\":\"e@x.example\",\"security\":\"none\"}";
    struct deliver_outcome outcome = mail("{\"email\":\"gone@b.c\"}", "smtp", EXTRA);
    expect_verdict(&outcome, DELIVER_FAILED, "550");
    outcome = mail("{\"email\":\"later@b.c\"}", "smtp", EXTRA);
    expect_verdict(&outcome, DELIVER_RETRY, "451");
    outcome = mail("{\"email\":\"a@b.c\"}", "closed", EXTRA);
    expect_verdict(&outcome, DELIVER_RETRY, "127.0.0.1");
    outcome = mail("{\"email\":\"a@b.c\"}", "smtp", "{\"from\":\"e@x\\r\\nBcc: b@b\"}");
    expect_verdict(&outcome, DELIVER_RETRY, "no sender");
    cr_expect_null(listener_received(&LISTENER));
}

Test(deliver, recipients_that_are_refused_are_named)
{
    static const char EXTRA[] = "{\"from\":\"e@x.example\",\"security\":\"none\"}";
    struct deliver_outcome outcome =
        mail("{\"email\":[\"a@b.c\",\"gone@b.c\",\"x@b.c\",\"later@b.c\"]}", "smtp", EXTRA);
    expect_verdict(&outcome, DELIVER_DONE, "which refuses gone@b.c, later@b.c");
    CLEANUP(json_decrefp) json_t *some = listener_received(&LISTENER);
    cr_expect_eq(json_array_size(json_object_get(some, "recipients")), 2);
    outcome = mail("{\"email\":[\"a@b.c\"]}", "smtp", EXTRA);
    cr_expect_null(strstr(outcome.text, "refuses"), "%s", outcome.text);
}

/* ---- command ---- */

static void start_alone(void)
{
    ARENA = arena_new();
}

static void stop_alone(void)
{
    arena_free(ARENA);
}

TestSuite(deliver_command, .init = start_alone, .fini = stop_alone, .timeout = 60);

static struct deliver_outcome command(const char *run)
{
    CLEANUP(mem_freep)
    char *entry = mem_format(
        "{\"command\":{\"run\":\"%s\",\"timeout\":\"500ms\",\"env\":{\"A\":\"b\"}}}", run);
    struct alert_message message = render(entry, &EVENT);
    struct deliver_request request = {.message = &message};
    struct deliver_outcome outcome;
    deliver(&request, &outcome);
    return outcome;
}

Test(deliver_command, a_command_gets_the_context_and_nothing_else)
{
    cr_assert_eq(setenv("EIDER_STORE", "postgresql://secret", 1), 0);
    struct deliver_outcome outcome = command(
        "grep -o .kind.:.failure.; echo $EIDER_TASK_ID $EIDER_EVENT $A; env | sort | cut -d= "
        "-f1 | tr '\\\\n' ' '");
    expect_verdict(&outcome, DELIVER_DONE,
                   "exit code 0: \"kind\":\"failure\" load failure b A EIDER_DAG_ID EIDER_DELIVERY "
                   "EIDER_EVENT EIDER_EVENT_COUNT EIDER_EXIT_CODE EIDER_LOGICAL_DATE "
                   "EIDER_MAP_INDEX EIDER_REASON "
                   "EIDER_RUN_ID EIDER_STATE EIDER_TASK_ID EIDER_TRY_NUMBER EIDER_URL PATH PWD");
}

Test(deliver_command, its_end_decides)
{
    struct deliver_outcome outcome = command("echo broken; exit 3");
    expect_verdict(&outcome, DELIVER_FAILED, "exit code 3: broken");
    outcome = command("exit 75");
    expect_verdict(&outcome, DELIVER_RETRY, "exit code 75");
    outcome = command("echo begun; sleep 999");
    expect_verdict(&outcome, DELIVER_FAILED, "killed after 500 ms: begun");
    outcome = command("printf '\\\\377\\\\033[31m'");
    expect_verdict(&outcome, DELIVER_DONE, "exit code 0: \xEF\xBF\xBD [31m");
}
