#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "expect.h"
#include "model/alert.h"
#include "model/limits.h"

static const struct alert_event FAILURE = {
    .kind = HOOK_FAILURE,
    .dag = "sales",
    .run_id = "manual__1",
    .task = "load",
    .map_index = -1,
    .try_number = 2,
    .state = "failed",
    .reason = "exit",
    .has_exit_code = true,
    .exit_code = 3,
    .logical_at_us = 1736899200000000, /* 2025-01-15 */
    .started_at_us = 1736899260000000,
    .ended_at_us = 1736899261500000,
    .happened_at_us = 1736899261500000,
    .url = "http://eider.example/runs/1",
    .error = "table <stage> & \"more\" ``` is gone",
};

static struct alert_notice notice_of(const struct alert_event *event)
{
    return (struct alert_notice){
        .id = "n-1", .at_us = 1736899262000000, .events = event, .count = 1, .total = 1};
}

static json_t *parse(const char *text)
{
    json_t *tree = NULL;
    struct err err = {0};
    EXPECT_OK(json_parse(text, strlen(text), &tree, &err), &err);
    return tree;
}

static struct hook hook_of(struct arena *arena, const char *entry)
{
    CLEANUP(mem_freep) char *text = mem_format("{\"on_failure\":[%s]}", entry);
    CLEANUP(json_decrefp) json_t *rest = parse(text);
    struct hook_list list = hook_list_of(rest, HOOK_FAILURE, arena);
    cr_assert_eq(list.count, 1, "%s", entry);
    return list.items[0];
}

static struct alert_message render(struct arena *arena, const char *entry,
                                   const struct alert_notice *notice)
{
    struct err err = {0};
    struct hook hook = hook_of(arena, entry);
    struct alert_message message = {0};
    EXPECT_OK(alert_render(arena, &hook, notice, NULL, &message, &err), &err);
    return message;
}

static void expect_refused(const char *entry, const struct alert_event *event, const char *wanted)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct err err = {0};
    struct hook hook = hook_of(arena, entry);
    struct alert_notice notice = notice_of(event);
    struct alert_message message = {.id = "untouched"};
    EXPECT_STATUS(STATUS_INVALID, alert_render(arena, &hook, &notice, NULL, &message, &err), &err);
    EXPECT_CONTAINS(err.text, wanted);
    EXPECT_STR("untouched", message.id);
}

/* ---- documents ---- */

Test(alert, the_document_has_every_key_and_reads_back)
{
    CLEANUP(json_decrefp) json_t *document = alert_event_write(&FAILURE);
    CLEANUP(mem_freep) char *text = json_format(document);
    EXPECT_STR("{\"conf\":null,\"dag\":\"sales\",\"duration\":1.5,\"ended_at\":"
               "\"2025-01-15T00:01:01.500000Z\",\"error\":\"table <stage> & \\\"more\\\" ``` is "
               "gone\",\"exit_code\":3,\"failed_tasks\":null,\"failed_total\":0,"
               "\"happened_at\":\"2025-01-15T00:01:01.500000Z\",\"kind\":\"failure\","
               "\"logical_date\":\"2025-01-15T00:00:00Z\",\"map_index\":-1,\"note\":null,"
               "\"params\":null,\"reason\":\"exit\",\"run_id\":\"manual__1\",\"signal\":null,"
               "\"started_at\":\"2025-01-15T00:01:00Z\",\"state\":\"failed\",\"task\":\"load\","
               "\"try_number\":2,\"url\":\"http://eider.example/runs/1\"}",
               text);

    struct alert_event read = {0};
    struct err err = {0};
    EXPECT_OK(alert_event_read(document, &read, &err), &err);
    CLEANUP(json_decrefp) json_t *again = alert_event_write(&read);
    cr_expect(json_equal(document, again));
}

Test(alert, a_run_that_failed_says_which_of_its_tasks_did)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *failed = json_array();
    static const struct alert_failed_task TASKS[] = {
        {.task = "load",
         .map_index = -1,
         .reason = "exit",
         .has_exit_code = true,
         .exit_code = 7,
         .error = "gone"},
        {.task = "part", .map_index = 4, .reason = "timeout"},
    };
    for (size_t i = 0; i < ARRAY_LEN(TASKS); i++)
        (void)json_array_append_new(failed, alert_failed_task_write(&TASKS[i]));
    struct alert_event event = FAILURE;
    event.task = NULL;
    event.has_exit_code = false;
    event.failed = failed;
    event.failed_total = 6;
    CLEANUP(json_decrefp) json_t *document = alert_event_write(&event);
    CLEANUP(mem_freep) char *list = json_format(json_object_get(document, "failed_tasks"));
    EXPECT_STR("[{\"error\":\"gone\",\"exit_code\":7,\"map_index\":-1,\"reason\":\"exit\","
               "\"task\":\"load\"},{\"error\":null,\"exit_code\":null,\"map_index\":4,"
               "\"reason\":\"timeout\",\"task\":\"part\"}]",
               list);

    struct alert_event read = {0};
    struct err err = {0};
    EXPECT_OK(alert_event_read(document, &read, &err), &err);
    struct alert_notice notice = notice_of(&read);
    struct alert_message message = render(arena, "{\"slack\":\"#data\"}", &notice);
    EXPECT_CONTAINS(message.body, "*Failed*\\nload, part[4] and 4 more");
}

Test(alert, what_is_no_document_is_refused)
{
    static const char *const BAD[] = {
        "{}", "[]", "{\"kind\":\"failure\"}", "{\"kind\":\"party\",\"dag\":\"x\"}",
        "{\"kind\":\"failure\",\"dag\":\"x\",\"started_at\":\"yesterday\"}"};
    for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
        CLEANUP(json_decrefp) json_t *document = parse(BAD[i]);
        struct alert_event event = {.dag = "untouched"};
        struct err err = {0};
        EXPECT_STATUS(STATUS_CORRUPT, alert_event_read(document, &event, &err), &err);
        EXPECT_STR("untouched", event.dag);
    }
}

Test(alert, of_a_long_error_the_end_is_kept)
{
    struct strbuf text;
    strbuf_init(&text, 1 << 20);
    for (int i = 0; i < 2000; i++)
        strbuf_add(&text, "\xC3\xA4\xC3\xB6x");
    strbuf_add(&text, "THE END");
    struct alert_event event = FAILURE;
    event.error = text.text;

    CLEANUP(json_decrefp) json_t *document = alert_event_write(&event);

    const char *kept = json_get_string(document, "error", "");
    cr_expect_leq(strlen(kept), LIMIT_ALERT_ERROR_BYTES);
    cr_expect_gt(strlen(kept), LIMIT_ALERT_ERROR_BYTES - 4);
    cr_expect_null(strstr(kept, "\xEF\xBF\xBD"));
    cr_expect(strcmp(kept + strlen(kept) - 7, "THE END") == 0);
    strbuf_fini(&text);
}

/* ---- keys of incidents ---- */

Test(alert, the_key_is_the_same_for_what_belongs_together)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct alert_event other = FAILURE;
    other.kind = HOOK_SUCCESS;
    other.try_number = 3;
    other.run_id = "manual__2";
    EXPECT_STR("eider:sales/load/2025-01-15T00:00:00Z", alert_subject_key(arena, &FAILURE));
    EXPECT_STR("eider:sales/load/2025-01-15T00:00:00Z", alert_subject_key(arena, &other));
    other.map_index = 4;
    EXPECT_STR("eider:sales/load[4]/2025-01-15T00:00:00Z", alert_subject_key(arena, &other));
    other.task = NULL;
    EXPECT_STR("eider:sales//2025-01-15T00:00:00Z", alert_subject_key(arena, &other));
    other.logical_at_us = 0;
    EXPECT_STR("eider:sales//manual__2", alert_subject_key(arena, &other));

    char name[251];
    memset(name, 'a', 250);
    name[250] = '\0';
    other.dag = name;
    cr_expect_eq(strlen(alert_subject_key(arena, &other)), strlen("eider:") + 64);
}

Test(alert, pagerduty_opens_and_a_success_closes_the_same_incident)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct alert_event success = FAILURE;
    success.kind = HOOK_SUCCESS;
    struct alert_notice failed = notice_of(&FAILURE);
    struct alert_notice succeeded = notice_of(&success);

    struct alert_message trigger = render(arena, "{\"pagerduty\":\"p\"}", &failed);
    struct alert_message resolve = render(arena, "{\"pagerduty\":\"p\"}", &succeeded);

    CLEANUP(json_decrefp) json_t *opened = parse(trigger.body);
    CLEANUP(json_decrefp) json_t *closed = parse(resolve.body);
    EXPECT_STR("trigger", json_get_string(opened, "event_action", ""));
    EXPECT_STR("resolve", json_get_string(closed, "event_action", ""));
    EXPECT_STR(json_get_string(opened, "dedup_key", "x"), json_get_string(closed, "dedup_key", ""));
    const json_t *payload = json_object_get(opened, "payload");
    EXPECT_STR("task 'load' of 'sales' failed", json_get_string(payload, "summary", ""));
    EXPECT_STR("error", json_get_string(payload, "severity", ""));
    EXPECT_STR("sales", json_get_string(payload, "source", ""));
    EXPECT_STR("exit", json_get_string(json_object_get(payload, "custom_details"), "reason", ""));
}

Test(alert, an_incident_may_have_a_key_and_severity_of_its_own)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct alert_notice notice = notice_of(&FAILURE);
    struct alert_message message = render(
        arena, "{\"pagerduty\":{\"key\":\"{{ dag.id }}-{{ ds_nodash }}\",\"severity\":\"info\"}}",
        &notice);
    CLEANUP(json_decrefp) json_t *body = parse(message.body);
    EXPECT_STR("sales-20250115", json_get_string(body, "dedup_key", ""));
    EXPECT_STR("info", json_get_string(json_object_get(body, "payload"), "severity", ""));
}

/* ---- slack ---- */

Test(alert, slack_gets_blocks_in_which_nothing_from_outside_has_a_meaning)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct alert_event event = FAILURE;
    event.error = "<!channel> & ```x```";
    struct alert_notice notice = notice_of(&event);

    struct alert_message message = render(arena, "{\"slack\":\"#data\"}", &notice);

    CLEANUP(json_decrefp) json_t *body = parse(message.body);
    EXPECT_STR("#data", json_get_string(body, "channel", ""));
    EXPECT_STR("task 'load' of 'sales' failed", json_get_string(body, "text", ""));
    EXPECT_CONTAINS(message.body, "```&lt;!channel&gt; &amp; '''x'''```");
    EXPECT_CONTAINS(message.body, "<http://eider.example/runs/1|Open>");
    EXPECT_CONTAINS(message.body, "*Task*\\nload");
    cr_expect_null(strstr(message.body, "<!channel>"));
}

Test(alert, no_part_is_longer_than_slack_takes)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct strbuf text;
    strbuf_init(&text, 1 << 20);
    strbuf_add_repeat(&text, '<', 9000);
    struct alert_event event = FAILURE;
    event.error = event.note = event.reason = text.text;
    struct alert_notice notice = notice_of(&event);

    struct alert_message message = render(arena, "{\"slack\":\"x\"}", &notice);

    CLEANUP(json_decrefp) json_t *body = parse(message.body);
    const json_t *blocks = json_object_get(body, "blocks");
    for (size_t i = 0; i < json_array_size(blocks); i++) {
        const json_t *block = json_array_get(blocks, i);
        const json_t *fields = json_object_get(block, "fields");
        const char *part = json_get_string(json_object_get(block, "text"), "text", "");
        cr_expect_leq(strlen(part), 3000);
        cr_expect_leq(json_array_size(fields), 10);
        for (size_t k = 0; k < json_array_size(fields); k++)
            cr_expect_leq(strlen(json_get_string(json_array_get(fields, k), "text", "")), 2000);
    }
    strbuf_fini(&text);
}

Test(alert, a_text_of_its_own_replaces_ours_and_one_that_fails_says_so)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct alert_notice notice = notice_of(&FAILURE);

    struct alert_message good = render(
        arena, "{\"slack\":{\"text\":\"{{ task.id }}, try {{ try_number }}: {{ ds }}\"}}", &notice);
    struct alert_message bad =
        render(arena, "{\"slack\":{\"text\":\"{{ alert.colour }}\"}}", &notice);

    CLEANUP(json_decrefp) json_t *body = parse(good.body);
    EXPECT_STR("load, try 2: 2025-01-15", json_get_string(body, "text", ""));
    EXPECT_CONTAINS(bad.body, "task 'load' of 'sales' failed (render 'text' of the slack hook");
}

/* ---- webhook and command ---- */

Test(alert, a_webhook_sends_the_document_or_a_body_of_its_own)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct alert_notice notice = notice_of(&FAILURE);

    struct alert_message ours = render(arena, "{\"webhook\":\"http://x/y\"}", &notice);
    struct alert_message own =
        render(arena,
               "{\"webhook\":{\"url\":\"http://x/{{ dag.id }}\",\"headers\":{\"X-Day\":\"{{ ds "
               "}}\"},\"body\":\"{{ alert.kind }}\",\"secret\":\"s\"}}",
               &notice);

    CLEANUP(json_decrefp) json_t *body = parse(ours.body);
    EXPECT_STR("n-1", json_get_string(body, "delivery", ""));
    cr_expect_eq(json_get_int(body, "total", 0), 1);
    cr_expect_null(json_object_get(body, "events"));
    EXPECT_STR("http://x/sales", own.url);
    EXPECT_STR("failure", own.body);
    cr_expect_eq(own.body_length, 7);
    EXPECT_STR("2025-01-15", own.headers[0].value);
    EXPECT_STR("s", own.secret);
}

Test(alert, what_would_end_a_header_or_leave_http_is_refused)
{
    struct alert_event event = FAILURE;
    event.error = "x\r\nX-Admin: yes";
    expect_refused("{\"webhook\":{\"url\":\"http://x\",\"headers\":{\"A\":\"{{ alert.error }}\"}}}",
                   &event, "render 'A' of the webhook hook: it has a line break");
    expect_refused("{\"webhook\":{\"url\":\"http://x/{{ alert.error }}\"}}", &event,
                   "render 'url' of the webhook hook: it has a line break");
    expect_refused("{\"webhook\":{\"url\":\"{{ dag.id }}://x\"}}", &event, "does not begin with");
    expect_refused("{\"email\":{\"to\":\"a@b{{ alert.error }}\"}}", &event, "is not an address");
    expect_refused("{\"command\":\"{{ alert.nothing }}\"}", &event,
                   "render 'run' of the command hook");
}

/* ---- what others are asked for ---- */

static enum status ask(void *context, const char *const *path, size_t count, size_t *out_used,
                       json_t **out, struct err *err)
{
    (void)context;
    *out_used = count;
    if (strcmp(path[0], "secrets") == 0 && strcmp(path[count - 1], "token") == 0)
        *out = json_string("t0ken-nobody-sees\n");
    else if (strcmp(path[0], "var") == 0 && strcmp(path[count - 1], "word") == 0)
        *out = json_string("word");
    else
        return err_set(err, STATUS_DENIED, "'%s' cannot be had now", path[count - 1]);
    return STATUS_OK;
}

static const struct template_scope ASKED = {.lookup = ask};

static struct err fail(const char *entry)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct err err = {0};
    struct hook hook = hook_of(arena, entry);
    struct alert_notice notice = notice_of(&FAILURE);
    struct alert_message message = {0};
    bool is_wanted = false;
    if (alert_is_wanted(&hook, &FAILURE, &ASKED, &is_wanted, &err) == STATUS_OK)
        cr_expect_neq(alert_render(arena, &hook, &notice, &ASKED, &message, &err), STATUS_OK, "%s",
                      entry);
    return err;
}

#define OF_HEADER(text) "{\"webhook\":{\"url\":\"http://x\",\"headers\":{\"A\":\"" text "\"}}}"
#define OF_IF(text)     "{\"webhook\":\"http://x\",\"if\":\"" text "\"}"

Test(alert, what_others_may_answer_better_later_is_not_given_up)
{
    static const struct {
        const char *entry;
        enum status status;
    } CASES[] = {
        {OF_HEADER("{{ secrets.later }}"), STATUS_CONFLICT},
        {OF_HEADER("{{ secrets.token }}"), STATUS_CONFLICT}, /* it has a line break today */
        {OF_HEADER("{{ var.value.word + 1 }}"), STATUS_CONFLICT},
        {OF_HEADER("{{ alert.nothing }}"), STATUS_INVALID},
        {OF_HEADER("{{ alert.kind + 1 }}"), STATUS_INVALID},
        {OF_IF("{{ secrets.later == 'x' }}"), STATUS_CONFLICT},
        {OF_IF("{{ alert.nothing == 'x' }}"), STATUS_INVALID},
        {"{\"webhook\":{\"url\":\"{{ var.value.word }}\"}}", STATUS_CONFLICT},
        {"{\"email\":{\"to\":\"{{ var.value.word }}\"}}", STATUS_CONFLICT},
        {"{\"email\":{\"to\":[\"{{ dag.id }}\"]}}", STATUS_INVALID},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct err err = fail(CASES[i].entry);
        cr_expect_eq(err.code, CASES[i].status, "%s: %s", CASES[i].entry, err.text);
    }
}

Test(alert, errors_show_what_is_missing_and_no_secret)
{
    static const char *const QUOTING[] = {
        "{\"email\":{\"to\":[\"{{ secrets.token }}\"]}}",
        "{\"email\":{\"to\":[\"{{ secrets.token | upper }}\"]}}",
        OF_HEADER("{{ {}[secrets.token] }}"),
        OF_HEADER("{{ secrets[secrets.token] }}"),
        OF_HEADER("{{ ts | tz(secrets.token) }}"),
        OF_IF("{{ {}[secrets.token] }}"),
    };
    EXPECT_CONTAINS(fail(OF_HEADER("{{ secrets.later }}")).text, "'later' cannot be had now");
    for (size_t i = 0; i < ARRAY_LEN(QUOTING); i++) {
        struct err err = fail(QUOTING[i]);
        EXPECT_CONTAINS(err.text, "why is not shown");
        cr_expect_null(strcasestr(err.text, "t0ken"), "%s: %s", QUOTING[i], err.text);
    }
}

Test(alert, a_text_that_fails_on_a_secret_does_not_tell_it_to_people)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct err err = {0};
    struct hook hook = hook_of(arena, "{\"slack\":{\"text\":\"{{ ts | tz(secrets.token) }}\"}}");
    struct alert_notice notice = notice_of(&FAILURE);
    struct alert_message message = {0};
    EXPECT_OK(alert_render(arena, &hook, &notice, &ASKED, &message, &err), &err);
    EXPECT_CONTAINS(message.body, "task 'load' of 'sales' failed (render 'text'");
    cr_expect_null(strstr(message.body, "t0ken"), "%s", message.body);
}

static const char *variable(const struct alert_message *message, const char *name)
{
    for (size_t i = 0; i < message->env_count; i++)
        if (strcmp(message->env[i].name, name) == 0)
            return message->env[i].value;
    return "(none)";
}

Test(alert, a_command_gets_variables_and_cannot_lose_ours)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct alert_notice notice = notice_of(&FAILURE);
    struct alert_message message =
        render(arena,
               "{\"command\":{\"run\":\"./x {{ task.id }}\",\"env\":{\"A\":\"{{ ds }}\","
               "\"EIDER_DAG_ID\":\"liar\"}}}",
               &notice);
    EXPECT_STR("./x load", message.run);
    EXPECT_STR("2025-01-15", variable(&message, "A"));
    EXPECT_STR("sales", variable(&message, "EIDER_DAG_ID"));
    EXPECT_STR("failure", variable(&message, "EIDER_EVENT"));
    EXPECT_STR("2025-01-15T00:00:00+00:00", variable(&message, "EIDER_LOGICAL_DATE"));
    EXPECT_STR("n-1", variable(&message, "EIDER_DELIVERY"));
    for (size_t i = 1; i < message.env_count; i++)
        cr_expect_lt(strcmp(message.env[i - 1].name, message.env[i].name), 0);
    EXPECT_CONTAINS(message.body, "\"kind\":\"failure\"");
}

/* ---- folding ---- */

Test(alert, many_events_fold_into_one_message_that_counts_them)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct alert_event events[12];
    for (size_t i = 0; i < ARRAY_LEN(events); i++) {
        events[i] = FAILURE;
        events[i].map_index = (int64_t)i;
    }
    struct alert_notice notice = {.id = "n-2", .events = events, .count = 12, .total = 40};

    struct alert_message slack = render(arena, "{\"slack\":\"x\"}", &notice);
    struct alert_message mail = render(arena, "{\"email\":\"a@b.c\"}", &notice);
    struct alert_message web = render(arena, "{\"webhook\":\"http://x\"}", &notice);

    EXPECT_CONTAINS(slack.body, "task 'load[0]' of 'sales' failed, and 39 more");
    EXPECT_CONTAINS(slack.body, "task 'load[9]' of 'sales' failed (manual__1)");
    cr_expect_null(strstr(slack.body, "load[10]"));
    EXPECT_CONTAINS(slack.body, "and 30 more");
    EXPECT_STR("[Eider] task 'load[0]' of 'sales' failed, and 39 more", mail.subject);
    EXPECT_CONTAINS(mail.text, "- and 30 more\n");
    CLEANUP(json_decrefp) json_t *body = parse(web.body);
    cr_expect_eq(json_get_int(body, "total", 0), 40);
    cr_expect_eq(json_array_size(json_object_get(body, "events")), 10);
}

/* ---- conditions and the scope ---- */

Test(alert, a_condition_decides_who_hears)
{
    static const struct {
        const char *condition;
        bool wanted;
    } CASES[] = {
        {"{{ alert.try_number > 1 }}", true},
        {"{{ alert.reason == 'timeout' }}", false},
        {"{{ params.loud }}", true},
        {"{{ task.id == 'load' and alert.duration < 60 }}", true},
    };
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *params = parse("{\"loud\":true}");
    struct alert_event event = FAILURE;
    event.params = params;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct hook hook = {.target = HOOK_SLACK, .condition = CASES[i].condition};
        bool wanted = !CASES[i].wanted;
        struct err err = {0};
        EXPECT_OK(alert_is_wanted(&hook, &event, NULL, &wanted, &err), &err);
        cr_expect_eq(wanted, CASES[i].wanted, "%s", CASES[i].condition);
    }
    struct hook bad = {.target = HOOK_SLACK, .condition = "{{ params.none }}"};
    bool untouched = true;
    struct err err = {0};
    EXPECT_STATUS(STATUS_INVALID, alert_is_wanted(&bad, &event, NULL, &untouched, &err), &err);
    EXPECT_CONTAINS(err.text, "render 'if' of the slack hook");
}

static enum status look_up_secret(void *context, const char *const *path, size_t count,
                                  size_t *out_used, json_t **out, struct err *err)
{
    (void)context;
    if (count < 2 || strcmp(path[0], "secrets") != 0)
        return err_set(err, STATUS_NOT_FOUND, "nothing");
    *out_used = 2;
    *out = json_string("hidden");
    return STATUS_OK;
}

Test(alert, names_beyond_the_event_come_from_the_scope_given)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct hook hook =
        hook_of(arena, "{\"webhook\":{\"url\":\"http://x\",\"secret\":\"{{ secrets.k }}\"}}");
    struct template_scope more = {.lookup = look_up_secret};
    struct alert_notice notice = notice_of(&FAILURE);
    struct alert_message message = {0};
    struct err err = {0};
    EXPECT_OK(alert_render(arena, &hook, &notice, &more, &message, &err), &err);
    EXPECT_STR("hidden", message.secret);
    cr_expect_null(strstr(message.body, "hidden"));
}

Test(alert, a_signature_covers_time_and_body)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct alert_message message = {.body = "{}", .body_length = 2};
    /* printf '1700000000.{}' | openssl dgst -sha256 -hmac key */
    const char *first = alert_signature(arena, "key", "1700000000", &message);
    EXPECT_STR("sha256=9d713ed406bb7076d4123f0dc2c39d2df5c654ed4b0cd56b52c8b4c940bd63ae", first);
    cr_expect_str_neq(first, alert_signature(arena, "key", "1700000001", &message));
    cr_expect_str_neq(first, alert_signature(arena, "kez", "1700000000", &message));
    message.body = "[]";
    cr_expect_str_neq(first, alert_signature(arena, "key", "1700000000", &message));
}
