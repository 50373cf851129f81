/*
 * A reader of events gets each once, whichever writer was slow.
 */
#include "store/audit.h"
#include "store/event_page.h"
#include "store/store_priv.h"
#include "store_bench.h"

static struct bench_store bench;

static void setup(void)
{
    bench = (struct bench_store){0};
    bench_open(&bench);
}

static void teardown(void)
{
    bench_close(&bench);
}

TestSuite(event_page, .init = setup, .fini = teardown);

/* Other databases of the server may hold a transaction back for an instant. */
enum { LOOKS_MAX = 20000 };

struct seen {
    char text[4096]; /* the data of each row and a blank */
    size_t count;
};

static enum status note_row(void *context, const struct event_row *row, struct err *err)
{
    (void)err;
    struct seen *seen = context;
    size_t length = strlen(seen->text);
    (void)snprintf(seen->text + length, sizeof seen->text - length, "%s ",
                   row->data != NULL ? row->data : event_kind_name(row->kind));
    seen->count++;
    return STATUS_OK;
}

static bool look(const struct event_page *page, struct event_cursor *cursor, struct seen *seen)
{
    struct err err = {0};
    bool more = false;
    struct event_page into = *page;
    into.each = note_row;
    into.context = seen;
    EXPECT_OK(store_event_page(bench.store, &into, cursor, &more, &err), &err);
    return more;
}

/* Until so many have come; what comes too often is seen by the text. */
static void look_for(const struct event_page *page, struct event_cursor *cursor, size_t count,
                     struct seen *seen)
{
    for (int i = 0; i < LOOKS_MAX && seen->count < count; i++)
        (void)look(page, cursor, seen);
    (void)look(page, cursor, seen);
}

static void tell(struct store *store, const char *data)
{
    struct err err = {0};
    EXPECT_OK(store_audit_add(store, EVENT_POOL_SET, "ann", data, &err), &err);
}

/* A cursor that has seen everything there is. */
static struct event_cursor at_end(const struct event_page *page)
{
    struct event_cursor cursor = {0};
    struct seen ignored = {0};
    (void)look(page, &cursor, &ignored);
    return cursor;
}

STORE_TEST(event_page, the_newest_come_first_and_then_what_follows)
{
    const struct event_page page = {.limit = 2};
    struct event_cursor cursor = {0};
    struct seen seen = {0};
    tell(bench.store, "1");
    tell(bench.store, "2");
    tell(bench.store, "3");
    for (int i = 0; i < LOOKS_MAX && strcmp(seen.text, "2 3 ") != 0; i++) {
        cursor = (struct event_cursor){0};
        seen = (struct seen){0};
        cr_assert(!look(&page, &cursor, &seen), "older ones are no more to come");
    }
    EXPECT_STR("2 3 ", seen.text);
    for (int i = 4; i < 9; i++)
        tell(bench.store, (char[]){(char)('0' + i), '\0'});
    seen = (struct seen){0};
    look_for(&page, &cursor, 5, &seen);
    EXPECT_STR("4 5 6 7 8 ", seen.text);
    (void)look(&page, &cursor, &seen);
    cr_assert_eq(seen.count, 5);
}

STORE_TEST(event_page, a_cursor_goes_through_a_text)
{
    struct event_cursor cursor = {true, 1, INT64_MAX, 3, 4, 5, 6};
    struct event_cursor back = {0};
    char text[EVENT_CURSOR_TEXT_MAX];
    cr_assert(event_cursor_parse(event_cursor_format(&cursor, text), &back));
    cr_assert_eq(memcmp(&cursor, &back, sizeof back), 0);
    static const char *const WRONG[] = {"",
                                        "1",
                                        "1.2.3.4.5",
                                        "1.2.3.4.5.6.",
                                        "1.2.3.4.5.6.7",
                                        "a.2.3.4.5.6",
                                        "1..3.4.5.6",
                                        "-1.2.3.4.5.6",
                                        "9223372036854775808.2.3.4.5.6"};
    for (size_t i = 0; i < ARRAY_LEN(WRONG); i++)
        cr_assert(!event_cursor_parse(WRONG[i], &back), "%s", WRONG[i]);
}

STORE_TEST(event_page, those_of_a_dag_and_of_a_run)
{
    bench_start(&bench, "{\"dag\":\"d\",\"tasks\":{\"a\":{\"run\":\"x\"}}}");
    tell(bench.store, "{\"dag_id\":\"d\"}");
    tell(bench.store, "{\"dag_id\":\"other\"}");
    struct event_page page = {.dag_id = "d", .limit = 100};
    struct seen seen = {0};
    struct event_cursor cursor = {0};
    for (int i = 0; i < LOOKS_MAX && strstr(seen.text, "\"d\"} ") == NULL; i++) {
        cursor = (struct event_cursor){0};
        seen = (struct seen){0};
        (void)look(&page, &cursor, &seen);
    }
    EXPECT_CONTAINS(seen.text, "run_created ");
    EXPECT_CONTAINS(seen.text, "{\"dag_id\":\"d\"} ");
    cr_assert_null(strstr(seen.text, "other"));
    page = (struct event_page){.run = bench.run.id, .limit = 100};
    cursor = (struct event_cursor){0};
    seen = (struct seen){0};
    (void)look(&page, &cursor, &seen);
    EXPECT_STR("run_created ", seen.text);
}

STORE_TEST(event_page, who_took_an_id_early_and_commits_late_is_not_lost)
{
    const struct event_page page = {.limit = 100};
    struct err err = {0};
    struct store *slow = NULL;
    const struct store_options options = {
        .url = bench.url, .mode = DB_READ_WRITE, .now_us = bench_clock};
    if (db_dialect(bench.store->db) == DB_SQLITE)
        return; /* one writer at a time */
    EXPECT_OK(store_open(&options, &slow, &err), &err);
    struct event_cursor cursor = at_end(&page);
    struct seen seen = {0};
    for (int round = 0; round < 3; round++) {
        seen = (struct seen){0};
        EXPECT_OK(db_begin(slow->db, &err), &err);
        EXPECT_OK(db_do(slow->db, &err,
                        "INSERT INTO event (at_us, kind, data) VALUES (1, $1, 'slow')", "i",
                        (int64_t)EVENT_POOL_SET),
                  &err);
        tell(bench.store, "quick");
        for (int i = 0; i < 5; i++)
            (void)look(&page, &cursor, &seen);
        EXPECT_OK(db_commit(slow->db, &err), &err);
        look_for(&page, &cursor, 2, &seen);
        EXPECT_STR("slow quick ", seen.text);
    }
    store_close(slow);
}
