#include "service_fixture.h"

static const char DAG[] = "tasks:\n"
                          "  a: { run: 'true', retries: 1, retry_delay: 1s }\n"
                          "  b: { run: 'true', needs: [a] }\n";
static const char MAPPED[] = "tasks:\n"
                             "  each: { run: 'true', foreach: [1, 2, 3] }\n";

static void write_log(struct world *world, const struct claim *claim, const char *bytes,
                      size_t length)
{
    struct err err = {0};
    struct blob *blob = NULL;
    struct blob_handle *handle = NULL;
    struct blob_key key = {
        .kind = BLOB_LOG, .ids = {claim->run, claim->task, claim->attempt}, .id_count = 3};
    char folder[128];
    (void)snprintf(folder, sizeof folder, "%s/blob", world->home);
    (void)mkdir(folder, 0700);
    EXPECT_OK(blob_open_directory(folder, &blob, &err), &err);
    EXPECT_OK(blob_open(blob, &key, BLOB_APPEND, &handle, &err), &err);
    EXPECT_OK(blob_append(handle, bytes, length, &err), &err);
    blob_handle_close(handle);
    blob_close(blob);
}

static void say(struct world *world, const struct claim *claim, const char *text)
{
    write_log(world, claim, text, strlen(text));
}

/* One part; the cursor is kept for the next. */
struct follower {
    const char *rest; /* of the request */
    char *cursor;
    char text[4096]; /* of the part, all entries */
    size_t entries;
    bool more;
    bool live;
};

static void read_part(struct world *world, struct follower *follower)
{
    char *cursor = follower->cursor != NULL ? mem_format(",\"cursor\":\"%s\"", follower->cursor)
                                            : mem_strdup("");
    char *request = mem_format("{\"run\":\"dag\"%s%s}", follower->rest, cursor);
    json_t *response = call_ok(world, "log.read", request);
    size_t i;
    json_t *entry;
    follower->text[0] = '\0';
    size_t length = 0;
    json_array_foreach(json_object_get(response, "entries"), i, entry)
    {
        int n = snprintf(follower->text + length, sizeof follower->text - length, "%s",
                         json_get_string(entry, "text", ""));
        length = MIN(length + (size_t)n, sizeof follower->text - 1);
    }
    follower->entries = list_size(response, "entries");
    follower->more = json_get_bool(response, "more", true);
    follower->live = json_get_bool(response, "live", true);
    free(follower->cursor);
    follower->cursor = mem_strdup(json_get_string(response, "cursor", ""));
    json_decref(response);
    free(request);
    free(cursor);
}

static void expect_read(struct world *world, const char *rest, const char *wanted)
{
    struct follower reader = {.rest = rest};
    read_part(world, &reader);
    EXPECT_STR(wanted, reader.text);
    cr_assert_not(reader.more, "%s", rest);
    free(reader.cursor);
}

Test(op_log, a_finished_attempt_is_read_whole_by_tail_and_by_pattern)
{
    struct world world;
    world_init(&world);
    int64_t id = start_run(&world, "dag.yaml", DAG);
    advance(&world, id, NULL, 8);
    struct claim claim = take_claim(&world, id, "a", -1);
    say(&world, &claim, "one\ntwo\nthree\nfour");
    struct outcome outcome = outcome_of(&claim, REASON_EXIT, 0);
    advance(&world, id, &outcome, 0);

    static const struct {
        const char *rest;
        const char *text;
    } CASES[] = {
        {",\"task\":\"a\"", "one\ntwo\nthree\nfour"},
        {",\"task\":\"a\",\"tail\":2", "three\nfour"},
        {",\"task\":\"a\",\"tail\":0", ""},
        {",\"task\":\"a\",\"tail\":1000000000", "one\ntwo\nthree\nfour"},
        {",\"task\":\"a\",\"grep\":\"^t\"", "two\nthree\n"},
        {",\"task\":\"a\",\"grep\":\"o\",\"tail\":1", "four\n"},
        {",\"task\":\"a\",\"grep\":\"o\",\"tail\":0", ""},
        {",\"task\":\"a\",\"grep\":\"nothing\"", ""},
        {",\"task\":\"a\",\"try_number\":1", "one\ntwo\nthree\nfour"},
        {",\"task\":\"b\"", ""},
        {"", "one\ntwo\nthree\nfour"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
        expect_read(&world, CASES[i].rest, CASES[i].text);

    static const struct {
        const char *request;
        enum status status;
        const char *part;
    } WRONG[] = {
        {"{\"run\":\"dag\",\"task\":\"a\",\"try_number\":2}", STATUS_NOT_FOUND, "1 attempt,"},
        {"{\"run\":\"dag\",\"task\":\"a\",\"try_number\":0}", STATUS_INVALID, "from 1"},
        {"{\"run\":\"dag\",\"task\":\"aa\"}", STATUS_NOT_FOUND, "'a'"},
        {"{\"run\":\"dag\",\"task\":\"a\",\"grep\":\"[\"}", STATUS_INVALID, "log of 'a'"},
        {"{\"run\":\"dag\",\"task\":\"a\",\"map_index\":0}", STATUS_INVALID, "not mapped"},
        {"{\"run\":\"dag\",\"map_index\":0}", STATUS_INVALID, "needs a task"},
        {"{\"run\":\"dag\",\"cursor\":\"\"}", STATUS_INVALID, "cursor"},
        {"{\"run\":\"dag\",\"cursor\":\"0;1:2\"}", STATUS_INVALID, "cursor"},
        {"{\"run\":\"dag\",\"cursor\":\"0;1:2:3:4\"}", STATUS_INVALID, "cursor"},
        {"{\"run\":\"dag\",\"cursor\":\"-1\"}", STATUS_INVALID, "cursor"},
        {"{\"run\":\"dag\",\"cursor\":\"0;99999999999999999999:1:1\"}", STATUS_INVALID, "cursor"},
    };
    for (size_t i = 0; i < ARRAY_LEN(WRONG); i++)
        call_fails(&world, "log.read", WRONG[i].request, WRONG[i].status, WRONG[i].part);
    world_fini(&world);
}

Test(op_log, a_live_log_is_followed_through_retries_to_its_end)
{
    struct world world;
    world_init(&world);
    int64_t id = start_run(&world, "dag.yaml", DAG);
    struct follower reader = {.rest = ",\"task\":\"a\""};
    read_part(&world, &reader);
    cr_assert_eq(reader.entries, 0);
    cr_assert(reader.live && !reader.more, "it has not started");

    advance(&world, id, NULL, 8);
    struct claim claim = take_claim(&world, id, "a", -1);
    say(&world, &claim, "early \xC3");
    read_part(&world, &reader);
    EXPECT_STR("early ", reader.text);
    read_part(&world, &reader);
    EXPECT_STR("", reader.text);
    say(&world, &claim, "\xA9 late\n");
    struct outcome outcome = outcome_of(&claim, REASON_EXIT, 1);
    advance(&world, id, &outcome, 0);
    read_part(&world, &reader);
    EXPECT_STR("\xC3\xA9 late\n", reader.text);
    cr_assert(reader.live, "it will be retried");

    fixture_now_us += 60000000;
    advance(&world, id, NULL, 8);
    claim = take_claim(&world, id, "a", -1);
    say(&world, &claim, "again\n");
    read_part(&world, &reader);
    EXPECT_STR("again\n", reader.text);
    world.host_is_dead = true;
    read_part(&world, &reader);
    cr_assert_not(reader.live, "nobody is left who could write");
    world.host_is_dead = false;
    outcome = outcome_of(&claim, REASON_EXIT, 0);
    advance(&world, id, &outcome, 0);
    read_part(&world, &reader);
    cr_assert(!reader.live && !reader.more);
    free(reader.cursor);
    world_fini(&world);
}

Test(op_log, a_pattern_waits_for_the_end_of_a_line)
{
    struct world world;
    world_init(&world);
    int64_t id = start_run(&world, "dag.yaml", DAG);
    struct follower reader = {.rest = ",\"task\":\"a\",\"grep\":\"x\""};
    advance(&world, id, NULL, 8);
    struct claim claim = take_claim(&world, id, "a", -1);

    say(&world, &claim, "x1\nno\nx");
    read_part(&world, &reader);
    EXPECT_STR("x1\n", reader.text);
    say(&world, &claim, "2\nyes\n");
    read_part(&world, &reader);
    EXPECT_STR("x2\n", reader.text);
    read_part(&world, &reader);
    EXPECT_STR("", reader.text);
    free(reader.cursor);
    world_fini(&world);
}

Test(op_log, bytes_that_are_no_text_are_given_as_base64_too)
{
    struct world world;
    world_init(&world);
    int64_t id = start_run(&world, "dag.yaml", DAG);
    advance(&world, id, NULL, 8);
    struct claim claim = take_claim(&world, id, "a", -1);
    write_log(&world, &claim, "a\0\xFF\n", 4);
    struct outcome outcome = outcome_of(&claim, REASON_EXIT, 0);
    advance(&world, id, &outcome, 0);

    json_t *response = call_ok(&world, "log.read", "{\"run\":\"dag\",\"task\":\"a\"}");
    const json_t *entry = json_array_get(json_object_get(response, "entries"), 0);
    EXPECT_STR("a\xEF\xBF\xBD\xEF\xBF\xBD\n", json_get_string(entry, "text", ""));
    EXPECT_STR("YQD/Cg==", json_get_string(entry, "base64", ""));
    json_decref(response);
    world_fini(&world);
}

Test(op_log, a_long_log_comes_in_parts_that_add_up)
{
    struct world world;
    world_init(&world);
    int64_t id = start_run(&world, "dag.yaml", DAG);
    advance(&world, id, NULL, 8);
    struct claim claim = take_claim(&world, id, "a", -1);
    enum { BYTES = 2500001 };
    char *bytes = mem_alloc(BYTES);
    for (size_t i = 0; i < BYTES; i++)
        bytes[i] = i % 100 == 99 ? '\n' : (char)('a' + i % 26);
    write_log(&world, &claim, bytes, BYTES);
    struct outcome outcome = outcome_of(&claim, REASON_EXIT, 0);
    advance(&world, id, &outcome, 0);

    size_t total = 0;
    int parts = 0;
    char *request = mem_strdup("{\"run\":\"dag\"}");
    for (bool more = true; more; parts++) {
        json_t *response = call_ok(&world, "log.read", request);
        const json_t *entry = json_array_get(json_object_get(response, "entries"), 0);
        const json_t *text = json_object_get(entry, "text");
        size_t length = json_string_length(text);
        cr_assert_leq(total + length, BYTES);
        cr_assert_eq(memcmp(json_string_value(text), bytes + total, length), 0);
        total += length;
        more = json_get_bool(response, "more", false);
        free(request);
        request = mem_format("{\"run\":\"dag\",\"cursor\":\"%s\"}",
                             json_get_string(response, "cursor", ""));
        json_decref(response);
    }
    cr_assert_eq(total, BYTES);
    cr_assert_gt(parts, 1);
    free(request);
    free(bytes);
    world_fini(&world);
}

Test(op_log, instances_follow_each_other_and_new_ones_are_found)
{
    struct world world;
    world_init(&world);
    int64_t id = start_run(&world, "dag.yaml", MAPPED);
    struct follower reader = {.rest = ""};
    advance(&world, id, NULL, 8);
    read_part(&world, &reader);
    cr_assert(reader.live);
    struct claim expander = take_claim(&world, id, "each", -1);
    struct outcome outcome = outcome_of(&expander, REASON_NONE, 0);
    outcome.kind = OUTCOME_EXPAND;
    outcome.instances = 3;
    advance(&world, id, &outcome, 8);
    advance(&world, id, NULL, 8);
    struct claim claims[3];
    for (int64_t i = 0; i < 3; i++) {
        claims[i] = take_claim(&world, id, "each", i);
        char text[32];
        (void)snprintf(text, sizeof text, "item %lld\n", (long long)i);
        say(&world, &claims[i], text);
    }

    read_part(&world, &reader);
    EXPECT_STR("item 0\nitem 1\nitem 2\n", reader.text);
    say(&world, &claims[1], "more\n");
    read_part(&world, &reader);
    EXPECT_STR("more\n", reader.text);
    expect_read(&world, ",\"task\":\"each\",\"map_index\":2", "item 2\n");
    expect_read(&world, ",\"task\":\"each\",\"tail\":1", "item 0\nmore\nitem 2\n");
    call_fails(&world, "log.read", "{\"run\":\"dag\",\"task\":\"each\",\"map_index\":3}",
               STATUS_NOT_FOUND, "they go to 2");
    for (int64_t i = 0; i < 3; i++) {
        outcome = outcome_of(&claims[i], REASON_EXIT, 0);
        advance(&world, id, &outcome, 0);
    }
    read_part(&world, &reader);
    cr_assert(!reader.live && !reader.more);
    char *foreign =
        mem_format("{\"run\":\"dag\",\"cursor\":\"0;%lld:1:0\"}", (long long)claims[0].task);
    (void)start_run(&world, "dag.yaml", MAPPED);
    call_fails(&world, "log.read", foreign, STATUS_INVALID, "another run");
    free(foreign);
    free(reader.cursor);
    world_fini(&world);
}
