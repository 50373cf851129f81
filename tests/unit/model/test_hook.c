#include <stdlib.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "expect.h"
#include "model/dag_read.h"
#include "model/hook.h"

static json_t *parse(const char *text)
{
    json_t *tree = NULL;
    struct err err = {0};
    EXPECT_OK(json_parse(text, strlen(text), &tree, &err), &err);
    return tree;
}

/* The hooks of on_failure, which has to be good. */
static struct hook_list failure_hooks(struct arena *arena, const char *rest)
{
    CLEANUP(json_decrefp) json_t *tree = parse(rest);
    return hook_list_of(tree, HOOK_FAILURE, arena);
}

static struct hook only_hook(struct arena *arena, const char *entry)
{
    CLEANUP(mem_freep) char *rest = mem_format("{\"on_failure\":[%s]}", entry);
    struct hook_list list = failure_hooks(arena, rest);
    cr_assert_eq(list.count, 1, "%s", entry);
    return list.items[0];
}

Test(hook, short_forms_mean_what_the_long_ones_say)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();

    struct hook slack = only_hook(arena, "{\"slack\":\"data-alerts\"}");
    cr_expect_eq(slack.target, HOOK_SLACK);
    EXPECT_STR("data-alerts", slack.connection);
    cr_expect_null(slack.channel);
    slack = only_hook(arena, "{\"slack\":\"#data\"}");
    EXPECT_STR("slack", slack.connection);
    EXPECT_STR("#data", slack.channel);

    struct hook pager = only_hook(arena, "{\"pagerduty\":\"night\"}");
    EXPECT_STR("night", pager.connection);
    cr_expect_eq(pager.severity, HOOK_SEVERITY_COUNT);

    struct hook mail = only_hook(arena, "{\"email\":\"a@b.c\"}");
    EXPECT_STR("email", mail.connection);
    cr_assert_eq(mail.to.count, 1);
    EXPECT_STR("a@b.c", mail.to.items[0]);
    mail = only_hook(arena, "{\"email\":[\"a@b.c\",\"D E <d@e.f>\"]}");
    EXPECT_STR("D E <d@e.f>", mail.to.items[1]);

    struct hook web = only_hook(arena, "{\"webhook\":\"https://x.example/h\"}");
    EXPECT_STR("https://x.example/h", web.url);
    cr_expect_null(web.connection);
    web = only_hook(arena, "{\"webhook\":\"portal\"}");
    EXPECT_STR("portal", web.connection);
    web = only_hook(arena, "{\"webhook\":\"{{ var.value.hook }}\"}");
    EXPECT_STR("{{ var.value.hook }}", web.url);

    struct hook command = only_hook(arena, "{\"command\":\"./page.sh\"}");
    EXPECT_STR("./page.sh", command.run);
    cr_expect_eq(command.timeout_ms, 60000);
}

Test(hook, long_forms_and_what_all_have)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();

    struct hook hook = only_hook(arena, "{\"pagerduty\":{\"connection\":\"p\",\"severity\":"
                                        "\"warning\",\"key\":\"{{ dag.id }}\"},\"rate\":\"10/1h\","
                                        "\"if\":\"{{ alert.try_number > 1 }}\"}");
    cr_expect_eq(hook.severity, HOOK_SEVERITY_WARNING);
    EXPECT_STR("{{ dag.id }}", hook.key);
    EXPECT_STR("{{ alert.try_number > 1 }}", hook.condition);
    cr_expect_eq(hook.rate.most, 10);
    cr_expect_eq(hook.rate.per_ms, 3600000);
    cr_expect(hook_is_resolvable(&hook));

    hook =
        only_hook(arena, "{\"webhook\":{\"connection\":\"w\",\"headers\":{\"X-Team\":\"{{ dag.id "
                         "}}\"},\"secret\":\"k\",\"body\":\"b\"},\"group\":\"5m\"}");
    cr_expect_eq(hook.group_ms, 300000);
    cr_assert_eq(hook.headers_count, 1);
    EXPECT_STR("X-Team", hook.headers[0].name);
    EXPECT_STR("k", hook.secret);
    cr_expect_not(hook_is_resolvable(&hook));

    hook = only_hook(arena, "{\"command\":{\"run\":\"x\",\"timeout\":\"5s\",\"env\":{\"A\":1}}}");
    cr_expect_eq(hook.timeout_ms, 5000);
    cr_assert_eq(hook.env_count, 1);
    EXPECT_STR("1", hook.env[0].value);
}

Test(hook, one_entry_needs_no_list_and_order_is_that_of_the_file)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();

    struct hook_list one = failure_hooks(arena, "{\"on_failure\":{\"slack\":\"x\"}}");
    struct hook_list two = failure_hooks(
        arena, "{\"email\":\"a@b.c\",\"on_failure\":[{\"slack\":\"x\"},{\"pagerduty\":\"y\"}]}");
    struct hook_list none = failure_hooks(arena, "{\"on_success\":{\"slack\":\"x\"}}");

    cr_expect_eq(one.count, 1);
    cr_assert_eq(two.count, 3);
    cr_expect_eq(two.items[0].target, HOOK_SLACK);
    cr_expect_eq(two.items[1].target, HOOK_PAGERDUTY);
    cr_expect_eq(two.items[2].target, HOOK_EMAIL);
    cr_expect_eq(none.count, 0);
    cr_expect_eq(hook_list_of(NULL, HOOK_RETRY, arena).count, 0);
}

Test(hook, the_names_of_airflow_tell_of_failures_and_retries)
{
    static const struct {
        const char *rest;
        size_t counts[HOOK_EVENT_COUNT];
    } CASES[] = {
        {"{\"email\":[\"a@b.c\"]}", {[HOOK_FAILURE] = 1, [HOOK_RETRY] = 1}},
        {"{\"email\":\"a@b.c\",\"email_on_retry\":false}", {[HOOK_FAILURE] = 1}},
        {"{\"email\":\"a@b.c\",\"email_on_failure\":false}", {[HOOK_RETRY] = 1}},
        {"{\"email_on_failure\":true}", {0}},
        {"{\"email\":[]}", {0}},
    };
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        CLEANUP(json_decrefp) json_t *rest = parse(CASES[i].rest);
        for (enum hook_event event = 0; event < HOOK_EVENT_COUNT; event++)
            cr_expect_eq(hook_list_of(rest, event, arena).count, CASES[i].counts[event], "%s, %s",
                         CASES[i].rest, hook_event_name(event));
    }
}

/* The errors of a DAG with this entry, one per line. */
static void expect_problems(const char *entry, const char *wanted)
{
    CLEANUP(mem_freep)
    char *text = mem_format("{\"dag\":\"x\",\"params\":{\"p\":1},\"tasks\":{\"a\":{\"noop\":null,"
                            "\"on_failure\":[%s]}}}",
                            entry);
    CLEANUP(json_decrefp) json_t *tree = parse(text);
    struct diag_list diags = {0};
    struct strbuf out;
    strbuf_init(&out, 1 << 16);
    CLEANUP(dag_freep) struct dag *dag = dag_read(tree, &(struct dag_read_options){0}, &diags);
    for (size_t i = 0; i < diags.count; i++)
        if (diags.items[i].severity == DIAG_ERROR)
            strbuf_addf(&out, "%s\n", diags.items[i].text);
    cr_expect_str_eq(out.text, wanted, "%s gave\n%swanted\n%s", entry, out.text, wanted);
    cr_expect_eq(dag == NULL, wanted[0] != '\0');
    strbuf_fini(&out);
    diag_list_fini(&diags);
}

Test(hook, every_mistake_is_named)
{
    static const struct {
        const char *entry;
        const char *problems;
    } CASES[] = {
        {"{\"slack\":\"x\"}", ""},
        {"{\"slack\":{\"text\":\"{{ alert.error }} {{ params.p }} {{ ds }}\"}}", ""},
        {"5", "'on_failure': expected an entry such as { slack: data-alerts }, found an integer\n"},
        {"{\"group\":\"5m\"}",
         "a hook needs a target: command, webhook, slack, pagerduty or email\n"},
        {"{\"slack\":\"x\",\"email\":\"a@b.c\"}",
         "a hook has one target, this one has 'slack' and 'email': make two entries\n"},
        {"{\"slak\":\"x\"}", "unknown key 'slak' of a hook; did you mean 'slack'?\n"},
        {"{\"slack\":{\"chanel\":\"x\"}}",
         "unknown key 'chanel' of a slack hook; did you mean 'channel'?\n"},
        {"{\"slack\":[]}",
         "'slack': expected the name of a connection, a #channel, or a map, found a list\n"},
        {"{\"slack\":\"a b\"}", "'connection': 'a b' is not a name: " DAG_NAME_RULE "\n"},
        {"{\"pagerduty\":{\"severity\":\"eror\"}}",
         "'severity': there is no 'eror'; did you mean 'error'?\n"},
        {"{\"pagerduty\":\"x\",\"group\":\"5m\"}",
         "'group' is not for pagerduty: events of one key are one incident there\n"},
        {"{\"email\":{\"subject\":\"x\"}}", "'email': say whom to tell, with 'to'\n"},
        {"{\"email\":[\"a@b.c\",\"nobody\",\"x@y\\r\\nBcc: z@z\"]}",
         "'to': 'nobody' is not an address such as ops@example.com\n"
         "'to': 'x@y\r\nBcc: z@z' is not an address such as ops@example.com\n"},
        {"{\"webhook\":{}}", "'webhook': give either 'url' or 'connection'\n"},
        {"{\"webhook\":{\"url\":\"ftp://x\"}}",
         "'url': 'ftp://x' does not begin with http:// or https://\n"},
        {"{\"webhook\":{\"url\":\"http://x/a b\"}}",
         "'url': 'http://x/a b' has a space or a line break\n"},
        {"{\"webhook\":{\"url\":\"http://"
         "x\",\"headers\":{\"Host\":\"y\",\"X-Eider-Delivery\":\"1\","
         "\"A B\":\"c\",\"C\":\"d\\nE: f\",\"D\":5}}}",
         "'Host' is not a header that a hook can set\n"
         "'X-Eider-Delivery' is not a header that a hook can set\n"
         "'A B' is not a header that a hook can set\n'C': a header is one line\n"
         "'D': expected a string, found an integer\n"},
        {"{\"command\":\" \"}", "'command': say what to run\n"},
        {"{\"command\":{\"run\":\"x\",\"timeout\":\"soon\",\"env\":{\"1A\":\"\"}}}",
         "'timeout': expected a duration such as 500ms, 30s, 5m, 2h or 1d, found the string "
         "'soon'\n"
         "'1A' is not the name of a variable: letters, digits and _, not starting with a digit\n"},
        {"{\"slack\":\"x\",\"rate\":\"often\"}",
         "'rate': expected a number of messages and a time, such as 10/1h, found the string "
         "'often'\n"},
        {"{\"slack\":\"x\",\"rate\":\"0/1h\"}",
         "'rate': expected a number of messages and a time, such as 10/1h, found the string "
         "'0/1h'\n"},
        {"{\"slack\":\"x\",\"if\":\"yes\"}",
         "'if': 'yes' is not a template, so it is always the same: write \"{{ .. }}\", true or "
         "false\n"},
        /* Templates: names of hooks, not of tasks. */
        {"{\"slack\":{\"text\":\"{{ alrt.error }}\"}}",
         "template: unknown name 'alrt'; did you mean 'alert'?\n"},
        {"{\"slack\":{\"text\":\"{{ tasks.a.rows }}\"}}",
         "template: 'tasks' is not known in hooks, which are rendered when it is over\n"},
        {"{\"slack\":{\"text\":\"{{ params.q }}\"}}",
         "template: there is no param 'q'; did you mean 'p'?\n"},
        {"{\"webhook\":{\"url\":\"http://x\",\"headers\":{\"A\":\"{{ oops\"}}}",
         "template: the text ends inside of {{ ..: }} is missing\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
        expect_problems(CASES[i].entry, CASES[i].problems);
}

Test(hook, names_of_hooks_are_for_hooks)
{
    CLEANUP(json_decrefp)
    json_t *tree = parse("{\"dag\":\"x\",\"tasks\":{\"a\":{\"run\":\"{{ alert.kind }}\"}}}");
    struct diag_list diags = {0};
    cr_assert_null(dag_read(tree, &(struct dag_read_options){0}, &diags));
    EXPECT_CONTAINS(diags.items[0].text, "template: unknown name 'alert'");
    diag_list_fini(&diags);
}

Test(hook, addresses_and_headers_cannot_smuggle_lines)
{
    static const char *const GOOD[] = {"a@b", "a.b+c@d-e.f", "Ops Team <ops@example.com>",
                                       "J\xC3\xB6rg <j@b.c>"};
    static const char *const BAD[] = {
        "",      "a",         "@b",    "a@",      "a@b@c",      "a b@c",   "<a@b",        "a <b>",
        "a@b\n", "x\r <a@b>", "a,b@c", "<a@b> c", "\xC3\xB6@b", "<a@b,c>", "\"x\" <a@b>", "a@b>"};
    for (size_t i = 0; i < ARRAY_LEN(GOOD); i++)
        cr_expect(hook_address_is_valid(GOOD[i]), "%s", GOOD[i]);
    for (size_t i = 0; i < ARRAY_LEN(BAD); i++)
        cr_expect_not(hook_address_is_valid(BAD[i]), "%s", BAD[i]);
    cr_expect(hook_header_is_valid("Authorization"));
    cr_expect_not(hook_header_is_valid("content-length"));
    cr_expect_not(hook_header_is_valid("A:"));
}

Test(hook, names_read_back)
{
    for (enum hook_event event = 0; event < HOOK_EVENT_COUNT; event++) {
        enum hook_event read = HOOK_EVENT_COUNT;
        cr_assert(hook_event_parse(hook_event_name(event), &read));
        cr_expect_eq(read, event);
        CLEANUP(mem_freep) char *key = mem_format("on_%s", hook_event_name(event));
        cr_assert(hook_event_of_key(key, &read));
        cr_expect_eq(read, event);
    }
    enum hook_event untouched = HOOK_SKIP;
    cr_expect_not(hook_event_of_key("on_lost_lease", &untouched));
    cr_expect_not(hook_event_of_key("failure", &untouched));
    cr_expect_eq(untouched, HOOK_SKIP);
    for (size_t i = 0; i < HOOK_ROOTS_COUNT; i++) {
        cr_expect_eq(hook_root_find(hook_root_name(NULL, i)), &HOOK_ROOTS[i]);
        cr_expect(i == 0 || strcmp(HOOK_ROOTS[i - 1].name, HOOK_ROOTS[i].name) < 0);
    }
}
