/*
 * A reader of events gets each once, whichever writer was slow.
 */
#include <stddef.h>

#include "store/audit.h"
#include "store/event_page.h"
#include "store/old_rows.h"
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
    enum event_gap gap;
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
    struct event_turn turn = {0};
    struct event_page into = *page;
    into.each = note_row;
    into.context = seen;
    EXPECT_OK(store_event_page(bench.store, &into, cursor, &turn, &err), &err);
    if (turn.gap != EVENT_GAP_NONE)
        seen->gap = turn.gap;
    return turn.is_more;
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
    struct event_cursor cursor = {true, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, INT64_MAX, 12};
    struct event_cursor back = {0};
    char text[EVENT_CURSOR_TEXT_MAX];
    cr_assert(event_cursor_parse(event_cursor_format(&cursor, text), &back));
    cr_assert(back.is_set);
    cr_assert_eq(
        memcmp(&cursor.store, &back.store, sizeof back - offsetof(struct event_cursor, store)), 0);
    static const char *const WRONG[] = {"",
                                        "1",
                                        "1.2.3.4.5.6",
                                        "1.2.3.4.5.6.7.8.9.10.11",
                                        "1.2.3.4.5.6.7.8.9.10.11.12.",
                                        "1.2.3.4.5.6.7.8.9.10.11.12.13",
                                        "a.2.3.4.5.6.7.8.9.10.11.12",
                                        "1..3.4.5.6.7.8.9.10.11.12",
                                        "-1.2.3.4.5.6.7.8.9.10.11.12",
                                        "9223372036854775808.2.3.4.5.6.7.8.9.10.11.12"};
    for (size_t i = 0; i < ARRAY_LEN(WRONG); i++)
        cr_assert(!event_cursor_parse(WRONG[i], &back), "%s", WRONG[i]);
}

/* Rows, and the cursor behind the one that is wanted. */
struct stop {
    struct seen seen;
    const char *at;
    struct event_cursor after;
};

static enum status note_stop(void *context, const struct event_row *row, struct err *err)
{
    struct stop *stop = context;
    if (row->data != NULL && strcmp(row->data, stop->at) == 0)
        stop->after = *row->after;
    return note_row(&stop->seen, row, err);
}

STORE_TEST(event_page, every_event_has_the_cursor_that_goes_on_behind_it)
{
    static const struct {
        const char *at;
        const char *rest;
    } ROWS[] = {{"1", "2 3 4 "}, {"2", "3 4 "}, {"3", "4 5 "}, {"5", ""}};
    struct err err = {0};
    struct event_turn turn = {0};
    const struct event_page all = {.limit = 100};
    struct event_cursor start = at_end(&all);
    for (int i = 1; i < 5; i++)
        tell(bench.store, (char[]){(char)('0' + i), '\0'});
    for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
        struct stop stop = {.at = ROWS[i].at};
        struct event_page page = {.limit = 2, .each = note_stop, .context = &stop};
        struct event_cursor cursor = start;
        if (i == 2)
            tell(bench.store, "5");
        for (int look = 0; look < LOOKS_MAX && stop.after.at == 0; look++)
            EXPECT_OK(store_event_page(bench.store, &page, &cursor, &turn, &err), &err);
        struct seen rest = {0};
        look_for(&all, &stop.after, strlen(ROWS[i].rest) / 2, &rest);
        EXPECT_STR(ROWS[i].rest, rest.text);
    }
}

STORE_TEST(event_page, one_reader_goes_on_where_another_is)
{
    const struct event_page all = {.limit = 100};
    struct event_cursor slow = at_end(&all);
    struct event_cursor quick = slow;
    struct seen seen = {0};
    tell(bench.store, "1");
    tell(bench.store, "2");
    tell(bench.store, "3");
    look_for(&all, &quick, 3, &seen);
    tell(bench.store, "4");
    /* Up to the other one and no further, whatever there is already. */
    struct event_page until = {.limit = 2, .until = &quick};
    struct seen missed = {0};
    int looks = 1;
    while (look(&until, &slow, &missed))
        cr_assert_lt(looks++, 10);
    EXPECT_STR("1 2 3 ", missed.text);
    cr_assert(!look(&until, &slow, &missed), "it is there already");
    EXPECT_STR("1 2 3 ", missed.text);
    /* From there both have the same to come. */
    struct seen of_slow = {0};
    struct seen of_quick = {0};
    look_for(&all, &slow, 1, &of_slow);
    look_for(&all, &quick, 1, &of_quick);
    EXPECT_STR("4 ", of_slow.text);
    EXPECT_STR("4 ", of_quick.text);
}

STORE_TEST(event_page, who_comes_back_in_the_middle_goes_on_up_to_another)
{
    struct err err = {0};
    struct event_turn turn = {0};
    const struct event_page all = {.limit = 100};
    struct event_cursor start = at_end(&all);
    for (int i = 1; i < 6; i++)
        tell(bench.store, (char[]){(char)('0' + i), '\0'});
    struct stop stop = {.at = "2"};
    struct event_page page = {.limit = 3, .each = note_stop, .context = &stop};
    struct event_cursor cursor = start;
    for (int look = 0; look < LOOKS_MAX && stop.after.at == 0; look++)
        EXPECT_OK(store_event_page(bench.store, &page, &cursor, &turn, &err), &err);
    tell(bench.store, "6");
    struct event_cursor quick = start;
    struct seen seen = {0};
    look_for(&all, &quick, 6, &seen);
    tell(bench.store, "7");
    struct event_page until = {.limit = 2, .until = &quick};
    struct seen missed = {0};
    int looks = 1;
    while (look(&until, &stop.after, &missed))
        cr_assert_lt(looks++, 10);
    EXPECT_STR("3 4 5 6 ", missed.text);
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

/* --- gaps ------------------------------------------------------------------------------------ */

static const int64_t DAY_US = INT64_C(86400000000);

/* Told, and seen by the cursor. */
static struct event_cursor cursor_after(const struct event_page *page, const char *data)
{
    struct event_cursor cursor = {0};
    struct seen seen = {0};
    tell(bench.store, data);
    for (int i = 0; i < LOOKS_MAX && strstr(seen.text, data) == NULL; i++) {
        cursor = (struct event_cursor){0};
        seen = (struct seen){0};
        (void)look(page, &cursor, &seen);
    }
    EXPECT_CONTAINS(seen.text, data);
    return cursor;
}

/* The gap is told with the newest events, and once. */
static void expect_new_beginning(const struct event_page *page, struct event_cursor *cursor,
                                 const char *text)
{
    struct event_cursor old = *cursor;
    struct seen seen = {0};
    for (int i = 0; i < LOOKS_MAX && strcmp(seen.text, text) != 0; i++) {
        *cursor = old;
        seen = (struct seen){0};
        (void)look(page, cursor, &seen);
        cr_assert_eq(seen.gap, EVENT_GAP_HISTORY);
    }
    EXPECT_STR(text, seen.text);
    seen = (struct seen){0};
    tell(bench.store, "next");
    look_for(page, cursor, 1, &seen);
    EXPECT_STR("next ", seen.text);
    cr_assert_eq(seen.gap, EVENT_GAP_NONE);
}

STORE_TEST(event_page, a_cursor_of_before_a_restore_is_told_so)
{
    const struct event_page page = {.limit = 2};
    struct event_cursor cursor = cursor_after(&page, "1");
    tell(bench.store, "2");
    bench_sql(&bench, "UPDATE store SET epoch = epoch + 1 WHERE id = 1");
    expect_new_beginning(&page, &cursor, "1 2 ");
}

STORE_TEST(event_page, a_cursor_of_another_store_is_told_so)
{
    const struct event_page page = {.limit = 1};
    struct event_cursor cursor = cursor_after(&page, "1");
    cursor.store++;
    expect_new_beginning(&page, &cursor, "1 ");
}

/* A copy of the file, or of the server, from before the last event. */
STORE_TEST(event_page, a_store_that_was_put_back_by_hand_is_known_by_its_events)
{
    const struct event_page page = {.limit = 2};
    tell(bench.store, "1");
    struct event_cursor cursor = cursor_after(&page, "lost");
    bench_sql(&bench, "DELETE FROM event WHERE data = 'lost'");
    bench_now_us++;
    tell(bench.store, "other");
    expect_new_beginning(&page, &cursor, "1 other ");
}

STORE_TEST(event_page, a_store_that_was_put_back_and_has_not_caught_up_is_known_too)
{
    const struct event_page page = {.limit = 1};
    tell(bench.store, "1");
    struct event_cursor cursor = cursor_after(&page, "lost");
    bench_sql(&bench, "DELETE FROM event WHERE data = 'lost'");
    expect_new_beginning(&page, &cursor, "1 ");
}

/* Its last events are there, but not what other transactions did after them. */
STORE_TEST(event_page, a_server_that_counts_transactions_from_before_is_read_on)
{
    const struct event_page page = {.limit = 100};
    struct event_cursor cursor = cursor_after(&page, "1");
    struct seen seen = {0};
    if (db_dialect(bench.store->db) == DB_SQLITE)
        return; /* it counts none */
    cursor.from += 1000000;
    tell(bench.store, "2");
    tell(bench.store, "3");
    look_for(&page, &cursor, 2, &seen);
    EXPECT_STR("2 3 ", seen.text);
    tell(bench.store, "4");
    look_for(&page, &cursor, 3, &seen);
    EXPECT_STR("2 3 4 ", seen.text);
    cr_assert_eq(seen.gap, EVENT_GAP_NONE);
}

static int64_t remove_old(void)
{
    struct err err = {0};
    int64_t gone = 0;
    EXPECT_OK(
        store_old_rows_remove(bench.store, OLD_EVENTS, bench_now_us - DAY_US, 100, &gone, &err),
        &err);
    return gone;
}

STORE_TEST(event_page, who_comes_too_late_is_told_that_events_were_removed)
{
    const struct event_page page = {.limit = 100};
    struct event_cursor cursor = cursor_after(&page, "1");
    struct seen seen = {0};
    tell(bench.store, "2");
    tell(bench.store, "3");
    bench_now_us += 2 * DAY_US;
    tell(bench.store, "4");
    cr_assert_gt(remove_old(), 0);
    look_for(&page, &cursor, 1, &seen);
    EXPECT_STR("4 ", seen.text);
    cr_assert_eq(seen.gap, EVENT_GAP_REMOVED);
    seen = (struct seen){0};
    tell(bench.store, "5");
    look_for(&page, &cursor, 1, &seen);
    EXPECT_STR("5 ", seen.text);
    cr_assert_eq(seen.gap, EVENT_GAP_NONE);
}

STORE_TEST(event_page, who_has_read_what_is_removed_misses_nothing)
{
    const struct event_page page = {.limit = 100};
    struct event_cursor cursor = cursor_after(&page, "1");
    struct seen seen = {0};
    bench_now_us += 2 * DAY_US;
    (void)remove_old();
    cr_expect_eq(bench_number(&bench, "SELECT count(*) FROM event WHERE data = '1' AND $1 = 0", 0),
                 1, "the newest stays, so that its number is not given again");
    tell(bench.store, "2");
    cr_expect_gt(remove_old(), 0);
    look_for(&page, &cursor, 1, &seen);
    EXPECT_STR("2 ", seen.text);
    cr_assert_eq(seen.gap, EVENT_GAP_NONE);
}

STORE_TEST(event_page, a_run_that_is_deleted_at_once_hides_nothing)
{
    const struct event_page page = {.limit = 100};
    struct err err = {0};
    struct seen seen = {0};
    bench_start(&bench, "{\"dag\":\"d\",\"tasks\":{\"a\":{\"run\":\"x\"}}}");
    cr_assert_eq(bench_drain(&bench, NULL, 1), RUN_SUCCESS);
    struct event_cursor cursor = {0};
    for (int i = 0; i < LOOKS_MAX && strstr(seen.text, "run_ended") == NULL; i++) {
        seen = (struct seen){0};
        cursor = (struct event_cursor){0};
        (void)look(&page, &cursor, &seen);
    }
    seen = (struct seen){0};
    EXPECT_OK(store_run_delete(bench.store, bench.run.id, "ann", &err), &err);
    look_for(&page, &cursor, 1, &seen);
    EXPECT_CONTAINS(seen.text, "\"run_id\"");
    cr_assert_eq(seen.count, 1);
    cr_assert_eq(seen.gap, EVENT_GAP_NONE);

    /* One that was made and deleted between two looks was never seen. */
    bench_start(&bench, "{\"dag\":\"d\",\"tasks\":{\"a\":{\"run\":\"x\"}}}");
    cr_assert_eq(bench_drain(&bench, NULL, 1), RUN_SUCCESS);
    EXPECT_OK(store_run_delete(bench.store, bench.run.id, "ann", &err), &err);
    seen = (struct seen){0};
    look_for(&page, &cursor, 1, &seen);
    cr_assert_eq(seen.count, 1);
    cr_assert_eq(seen.gap, EVENT_GAP_REMOVED);
}

STORE_TEST(event_page, the_newest_of_a_dag_are_found_among_many_others)
{
    static const char DAG[] = "{\"dag\":\"rare\",\"tasks\":{\"a\":{\"run\":\"x\"}}}";
    const struct event_page page = {.dag_id = "rare", .limit = 6};
    struct seen seen = {0};
    tell(bench.store, "{\"dag_id\":\"rare\"}");
    bench_start(&bench, DAG);
    cr_assert_eq(bench_drain(&bench, NULL, 1), RUN_SUCCESS);
    bench_start(&bench, DAG);
    for (int i = 0; i < 30; i++)
        tell(bench.store, i % 2 == 0 ? "{\"dag_id\":\"other\"}" : "no JSON");
    for (int i = 0; i < LOOKS_MAX && seen.count < 6; i++) {
        struct event_cursor cursor = {0};
        seen = (struct seen){0};
        (void)look(&page, &cursor, &seen);
    }
    EXPECT_CONTAINS(seen.text, "{\"dag_id\":\"rare\"} {\"dag_id\":\"rare\",\"version\"");
    EXPECT_CONTAINS(seen.text, "} run_created task_ended run_ended run_created ");
    cr_assert_eq(seen.count, 6);
}

/* What others on the server began before may hold back the newest. */
static void wait_until_newest(size_t count)
{
    size_t seen_count = 0;
    for (int i = 0; i < LOOKS_MAX && seen_count < count; i++) {
        struct event_cursor cursor = {0};
        struct seen seen = {0};
        (void)look(&(struct event_page){.limit = (int64_t)count}, &cursor, &seen);
        seen_count = seen.count;
    }
    cr_assert_eq(seen_count, count);
}

STORE_TEST(event_page, kinds_and_a_word_are_picked_among_the_newest)
{
    struct err err = {0};
    char kinds[EVENT_KIND_COUNT + 1];
    memset(kinds, '0', EVENT_KIND_COUNT);
    kinds[EVENT_KIND_COUNT] = '\0';
    kinds[EVENT_HOST_DRAINED] = '1';
    for (int i = 0; i < 9; i++) {
        char data[] = "{\"host\":\"north-?\"}";
        data[sizeof data - 4] = (char)('0' + i);
        EXPECT_OK(store_audit_add(bench.store, i % 3 == 0 ? EVENT_HOST_DRAINED : EVENT_HOST_RESUMED,
                                  "ann", data, &err),
                  &err);
    }
    EXPECT_OK(store_audit_add(bench.store, EVENT_POOL_SET, "ann", "{}", &err), &err);
    wait_until_newest(10);
    static const struct {
        bool has_kinds;
        const char *word;
        int64_t limit;
        const char *wanted;
    } CASES[] = {
        {true, NULL, 20, "{\"host\":\"north-0\"} {\"host\":\"north-3\"} {\"host\":\"north-6\"} "},
        {true, NULL, 5, "{\"host\":\"north-6\"} "},
        {true, NULL, 3, ""},
        {false, "north-5", 20, "{\"host\":\"north-5\"} "},
        {true, "north-3", 20, "{\"host\":\"north-3\"} "},
        {true, "north-4", 20, ""},
        {false, "south", 20, ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct event_page all = {.limit = CASES[i].limit};
        struct event_page some = all;
        struct event_cursor all_cursor = {0};
        struct event_cursor cursor = {0};
        struct seen ignored = {0};
        struct seen seen = {0};
        char texts[2][EVENT_CURSOR_TEXT_MAX];
        some.kinds = CASES[i].has_kinds ? kinds : NULL;
        some.word = CASES[i].word;
        (void)look(&all, &all_cursor, &ignored);
        cr_assert_not(look(&some, &cursor, &seen));
        EXPECT_STR(CASES[i].wanted, seen.text);
        /* Whoever goes on begins in the same place. */
        cursor.from = all_cursor.from;
        cursor.mark_from = all_cursor.mark_from;
        EXPECT_STR(event_cursor_format(&all_cursor, texts[0]),
                   event_cursor_format(&cursor, texts[1]));
    }
}
