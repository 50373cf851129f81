#include "base/arena.h"
#include "base/json.h"
#include "expect.h"
#include "model/connection.h"
#include "notify/endpoint.h"

struct sample {
    const char *type, *host, *login, *password, *schema, *extra;
    int64_t port;
};

static char *copy(struct arena *arena, const char *text)
{
    return text != NULL ? arena_strdup(arena, text) : NULL;
}

/* The endpoint of a sample for a target; its strings live in the arena. */
static enum status find(struct arena *arena, enum hook_target target, const struct sample *sample,
                        struct endpoint *out, struct err *err)
{
    const char *text = sample->extra != NULL ? sample->extra : "{}";
    json_t *extra = NULL;
    EXPECT_OK(json_parse(text, strlen(text), &extra, err), err);
    struct connection connection = {
        .type = copy(arena, sample->type != NULL ? sample->type : "http"),
        .host = copy(arena, sample->host),
        .login = copy(arena, sample->login),
        .password = copy(arena, sample->password),
        .schema = copy(arena, sample->schema),
        .port = sample->port,
        .extra = extra,
    };
    struct alert_message message = {.target = target, .id = "n"};
    enum status status = endpoint_of(arena, &message, &connection, out, err);
    if (status == STATUS_OK && out->url != NULL)
        out->url = arena_strdup(arena, out->url);
    if (status == STATUS_OK && out->from != NULL)
        out->from = arena_strdup(arena, out->from);
    if (status == STATUS_OK && out->secret != NULL)
        out->secret = arena_strdup(arena, out->secret);
    json_decref(extra);
    return status;
}

Test(endpoint, a_web_connection_makes_a_url)
{
    static const struct {
        struct sample sample;
        const char *url;
    } CASES[] = {
        {{.type = "https", .host = "x"}, "https://x/"},
        {{.type = "http", .host = "x", .port = 81, .schema = "a/b"}, "http://x:81/a/b"},
        {{.type = "webhook", .host = "x", .schema = "http"}, "http://x/"},
        {{.type = "webhook", .host = "x", .extra = "{\"path\":\"/p?q=1\"}"}, "https://x/p?q=1"},
        {{.type = "http", .host = "::1", .port = 5}, "http://[::1]:5/"},
        {{.type = "http", .host = "https://y/z"}, "https://y/z"},
        {{.type = "http", .extra = "{\"url\":\"http://u\"}"}, "http://u"},
    };
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct endpoint endpoint;
        struct err err = {0};
        EXPECT_OK(find(arena, HOOK_WEBHOOK, &CASES[i].sample, &endpoint, &err), &err);
        EXPECT_STR(CASES[i].url, endpoint.url);
    }
}

Test(endpoint, a_password_signs_or_logs_in)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct endpoint endpoint;
    struct err err = {0};
    struct sample sample = {.host = "x", .password = "k"};
    EXPECT_OK(find(arena, HOOK_WEBHOOK, &sample, &endpoint, &err), &err);
    EXPECT_STR("k", endpoint.secret);
    cr_expect_null(endpoint.authorization);
    sample.login = "u";
    EXPECT_OK(find(arena, HOOK_WEBHOOK, &sample, &endpoint, &err), &err);
    cr_expect_null(endpoint.secret);
    EXPECT_STR("Basic dTpr", endpoint.authorization);
}

Test(endpoint, slack_is_a_url_or_a_token)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct endpoint endpoint;
    struct err err = {0};
    struct sample url = {.type = "slack", .password = "https://hooks.example/T/B"};
    EXPECT_OK(find(arena, HOOK_SLACK, &url, &endpoint, &err), &err);
    EXPECT_STR("https://hooks.example/T/B", endpoint.url);
    cr_expect_null(endpoint.authorization);
    cr_expect_not(endpoint.wants_channel);
    struct sample token = {.type = "slack", .password = "xoxb-1"};
    EXPECT_OK(find(arena, HOOK_SLACK, &token, &endpoint, &err), &err);
    EXPECT_STR("https://slack.com/api/chat.postMessage", endpoint.url);
    EXPECT_STR("Bearer xoxb-1", endpoint.authorization);
    cr_expect(endpoint.wants_channel);
}

Test(endpoint, mail_is_encrypted_unless_told_not_to_be)
{
    static const struct {
        struct sample sample;
        enum mail_security security;
    } CASES[] = {
        {{.type = "smtp", .host = "m"}, MAIL_STARTTLS},
        {{.type = "smtps", .host = "m"}, MAIL_TLS},
        {{.type = "smtp", .host = "m", .port = 465}, MAIL_TLS},
        {{.type = "smtp", .host = "m", .extra = "{\"security\":\"none\"}"}, MAIL_PLAIN},
        {{.type = "smtps", .host = "m", .extra = "{\"security\":\"starttls\"}"}, MAIL_STARTTLS},
    };
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct sample sample = CASES[i].sample;
        sample.login = "eider@x.example";
        struct endpoint endpoint;
        struct err err = {0};
        EXPECT_OK(find(arena, HOOK_EMAIL, &sample, &endpoint, &err), &err);
        cr_expect_eq(endpoint.security, CASES[i].security);
        EXPECT_STR("eider@x.example", endpoint.from);
    }
}

Test(endpoint, what_is_missing_is_named)
{
    static const struct {
        enum hook_target target;
        struct sample sample;
        const char *wanted;
    } CASES[] = {
        {HOOK_WEBHOOK, {.type = "http"}, "has no host"},
        {HOOK_SLACK, {.type = "slack"}, "neither a URL nor a token"},
        {HOOK_PAGERDUTY, {.type = "pagerduty"}, "it is the routing key"},
        {HOOK_EMAIL, {.type = "smtp", .login = "a@b"}, "has no host"},
        {HOOK_EMAIL, {.type = "smtp", .host = "m", .login = "eider"}, "has no sender: add 'from'"},
        {HOOK_EMAIL,
         {.type = "smtp", .host = "m", .login = "a@b", .extra = "{\"security\":\"ssl\"}"},
         "starttls, tls or none, not 'ssl'"},
    };
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct endpoint endpoint;
        struct err err = {0};
        EXPECT_STATUS(STATUS_INVALID,
                      find(arena, CASES[i].target, &CASES[i].sample, &endpoint, &err), &err);
        EXPECT_CONTAINS(err.text, CASES[i].wanted);
    }
    struct alert_message message = {.target = HOOK_SLACK};
    struct endpoint endpoint;
    struct err err = {0};
    EXPECT_STATUS(STATUS_INVALID, endpoint_of(arena, &message, NULL, &endpoint, &err), &err);
    EXPECT_CONTAINS(err.text, "the slack hook has no connection");
}

Test(endpoint, checking_of_certificates_is_turned_off_by_name_only)
{
    static const struct {
        const char *extra;
        bool trust_any;
    } CASES[] = {
        {"{}", false},
        {"{\"verify\":true}", false},
        {"{\"verify\":false}", true},
        {"{\"verify\":\"false\"}", true},
        {"{\"verify\":null}", false},
    };
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct sample sample = {.host = "x", .extra = CASES[i].extra};
        struct endpoint endpoint;
        struct err err = {0};
        EXPECT_OK(find(arena, HOOK_WEBHOOK, &sample, &endpoint, &err), &err);
        cr_expect_eq(endpoint.trust_any, CASES[i].trust_any, "%s", CASES[i].extra);
    }
}
