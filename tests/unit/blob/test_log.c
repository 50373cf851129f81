#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "blob/log_find.h"
#include "blob/log_pattern.h"
#include "blob/log_reader.h"
#include "blob/log_writer.h"
#include "expect.h"
#include "os/file.h"
#include "os/file_tree.h"

static char dir[64];
static struct blob *blob;
static const struct blob_key KEY = {.kind = BLOB_LOG, .ids = {1}, .id_count = 1};

static void set_up(void)
{
    struct err err = {0};
    (void)snprintf(dir, sizeof dir, "/tmp/eider-log-XXXXXX");
    cr_assert_not_null(mkdtemp(dir));
    EXPECT_OK(blob_open_directory(dir, &blob, &err), &err);
}

static void tear_down(void)
{
    struct err err = {0};
    blob_close(blob);
    int tmp = -1;
    EXPECT_OK(file_open_directory("/tmp", &tmp, &err), &err);
    EXPECT_OK(file_tree_remove(tmp, dir + 5, &err), &err);
    file_closep(&tmp);
}

TestSuite(log, .init = set_up, .fini = tear_down);

static void write_text(const char *text)
{
    struct log_writer writer;
    log_writer_init(&writer, blob, &KEY, 1 << 30, NULL);
    log_writer_write(&writer, text, strlen(text));
    log_writer_finish(&writer);
    cr_assert_str_empty(writer.result.error);
}

/* "number:text" of each piece, up to `most`. */
struct collected {
    struct strbuf text;
    int count;
    int most;
};

static bool collect(void *context, const struct log_line *line)
{
    struct collected *collected = context;
    strbuf_addf(&collected->text, "%s%d:%.*s%s\n", line->continues ? "+" : "", (int)line->number,
                (int)MIN(line->length, (size_t)20), line->bytes, line->ends ? "" : "~");
    return ++collected->count != collected->most;
}

#define EXPECT_LINES(wanted, call_with)                                                            \
    do {                                                                                           \
        struct err err_ = {0};                                                                     \
        struct collected seen = {.most = 100};                                                     \
        strbuf_init(&seen.text, 1 << 20);                                                          \
        struct log_reader *reader = NULL;                                                          \
        EXPECT_OK(log_reader_open(blob, &KEY, &reader, &err_), &err_);                             \
        EXPECT_OK(call_with, &err_);                                                               \
        EXPECT_STR(wanted, seen.text.text);                                                        \
        strbuf_fini(&seen.text);                                                                   \
        log_reader_close(reader);                                                                  \
    } while (0)

Test(log, nothing_exists_before_the_first_byte)
{
    struct log_writer writer;
    log_writer_init(&writer, blob, &KEY, 100, NULL);
    log_writer_write(&writer, "", 0);
    log_writer_finish(&writer);
    struct log_reader *reader = NULL;
    struct err err = {0};
    EXPECT_STATUS(STATUS_NOT_FOUND, log_reader_open(blob, &KEY, &reader, &err), &err);
    cr_assert_eq(writer.result.lines, 0);
}

Test(log, lines_are_found_by_number_from_the_end_and_by_pattern)
{
    write_text("one\ntwo\n\nfour\nfive");

    EXPECT_LINES("2:two\n3:\n", log_reader_lines(reader, 2, 2, collect, &seen, &err_));
    EXPECT_LINES("4:four\n5:five~\n", log_reader_lines(reader, 4, 99, collect, &seen, &err_));
    EXPECT_LINES("", log_reader_lines(reader, 6, 99, collect, &seen, &err_));
    EXPECT_LINES("", log_reader_lines(reader, 1, 0, collect, &seen, &err_));
    EXPECT_LINES("4:four\n5:five~\n", log_reader_tail(reader, 2, collect, &seen, &err_));
    EXPECT_LINES("1:one\n2:two\n3:\n4:four\n5:five~\n",
                 log_reader_tail(reader, 50, collect, &seen, &err_));
    EXPECT_LINES("1:one\n2:two\n4:four\n",
                 log_reader_grep(reader, "^[a-z]*o", false, collect, &seen, &err_));
    EXPECT_LINES("4:four\n5:five~\n", log_reader_grep(reader, "F.*", true, collect, &seen, &err_));
    EXPECT_LINES("3:\n", log_reader_grep(reader, "^$", false, collect, &seen, &err_));
}

/* --- searches -------------------------------------------------------------------------------- */

static bool collect_number(void *context, const struct log_line *line)
{
    struct collected *collected = context;
    strbuf_addf(&collected->text, "%d@%d ", (int)line->number, (int)line->offset);
    return ++collected->count != collected->most;
}

/* "line@offset " of each hit, "..." if there is more to look at; goes on until the end. */
static void expect_hits(const char *wanted, struct log_search search, int most)
{
    struct err err = {0};
    struct log_reader *reader = NULL;
    struct log_search_end end = {0};
    struct collected seen = {.most = most};
    strbuf_init(&seen.text, 1 << 20);
    EXPECT_OK(log_reader_open(blob, &KEY, &reader, &err), &err);
    EXPECT_OK(log_find(reader, &search, collect_number, &seen, &end, &err), &err);
    strbuf_add(&seen.text, end.is_at_end ? "" : "...");
    EXPECT_STR(wanted, seen.text.text);
    strbuf_fini(&seen.text);
    log_reader_close(reader);
}

#define FIND(given)                                                                                \
    (struct log_search)                                                                            \
    {                                                                                              \
        .text = (given), .until_us = INT64_MAX                                                     \
    }

/* Where a search that has no time left stops; it must not begin there again for ever. */
static uint64_t search_on(struct log_search search, bool *out_end)
{
    struct err err = {0};
    struct log_reader *reader = NULL;
    struct log_search_end end = {0};
    struct collected seen = {.most = 1};
    strbuf_init(&seen.text, 1 << 20);
    EXPECT_OK(log_reader_open(blob, &KEY, &reader, &err), &err);
    EXPECT_OK(log_find(reader, &search, collect_number, &seen, &end, &err), &err);
    strbuf_fini(&seen.text);
    log_reader_close(reader);
    *out_end = end.is_at_end;
    return end.reached;
}

Test(log, a_search_without_time_gets_through_a_line_without_end)
{
    size_t length = 5 * (size_t)LOG_PIECE_MAX + 10;
    CLEANUP(mem_freep) char *text = mem_zalloc(length + 1, 1);
    memset(text, 'a', length);
    write_text(text);
    for (int regex = 0; regex < 2; regex++) {
        struct log_search search = {.text = "aa", .is_regex = regex == 1};
        bool is_end = false;
        for (int round = 0; round < 10 && !is_end; round++) {
            uint64_t reached = search_on(search, &is_end);
            cr_assert(is_end || reached > search.from);
            search.from = reached;
        }
        cr_assert(is_end);
    }
}

Test(log, a_last_line_that_grows_is_looked_at_again)
{
    for (int regex = 0; regex < 2; regex++) {
        struct log_search search = {.text = "abc",
                                    .is_regex = regex == 1,
                                    .from = regex == 1 ? 5 : 0,
                                    .until_us = INT64_MAX};
        bool is_end = false;
        write_text("xab");
        for (int round = 0; round < 3; round++) {
            search.from = search_on(search, &is_end);
            cr_assert(is_end);
        }
        write_text("c\n");
        expect_hits(regex == 1 ? "2@5 " : "1@0 ", search, 100);
    }
}

Test(log, a_text_is_found_in_lines)
{
    write_text("one\ntwo two\n\nFour two\nfive");

    expect_hits("2@4 4@13 ", FIND("two"), 99);
    expect_hits("2@4 ...", FIND("two"), 1);
    expect_hits("5@22 ", FIND("ve"), 99);
    expect_hits("", FIND("four"), 99);
    expect_hits("", FIND("o.o"), 99);
    expect_hits("4@13 5@22 ", (struct log_search){"F", false, true, 0, INT64_MAX}, 99);
    expect_hits("4@13 ", (struct log_search){"two", false, false, 13, INT64_MAX}, 99);
    expect_hits("1@0 2@4 4@13 ", (struct log_search){"^[Fto].*[eo]$", true, false, 0, INT64_MAX},
                99);
    expect_hits("1@0 ...", (struct log_search){"o", true, false, 0, INT64_MAX}, 1);
    expect_hits("4@13 5@22 ", (struct log_search){"^f", true, true, 0, INT64_MAX}, 99);
}

/* Blocks end within lines, within what is searched for, and within lines longer than a block. */
Test(log, a_text_is_found_wherever_blocks_end)
{
    CLEANUP(strbuf_fini) struct strbuf text;
    CLEANUP(strbuf_fini) struct strbuf wanted;
    strbuf_init(&text, 16 << 20);
    strbuf_init(&wanted, 1 << 20);
    for (int line = 1; text.length < (3 << 20); line++) {
        bool is_hit = line % 1000 == 0;
        if (is_hit)
            strbuf_addf(&wanted, "%d@%d ", line, (int)text.length);
        strbuf_addf(&text, "%0*d %s\n", 20 + line % 37, line, is_hit ? "needle" : "hay");
    }
    int line = 1;
    for (size_t i = 0; i < text.length; i++)
        line += text.text[i] == '\n';
    size_t start = text.length;
    strbuf_addf(&wanted, "%d@%d ", line, (int)start);
    while (text.length - start < (5 << 19))
        strbuf_add(&text, "xneedle");
    write_text(text.text);

    expect_hits(wanted.text, FIND("needle"), 10000);
    expect_hits(wanted.text, (struct log_search){"NeedlE", false, true, 0, INT64_MAX}, 10000);
}

/* Whoever has no time goes on where the search stopped, and finds the same. */
Test(log, a_search_is_continued)
{
    CLEANUP(strbuf_fini) struct strbuf text;
    strbuf_init(&text, 16 << 20);
    for (int i = 0; i < 100000; i++)
        strbuf_addf(&text, "some line %d\n", i);
    strbuf_add(&text, "the needle\n");
    write_text(text.text);
    struct err err = {0};
    struct log_reader *reader = NULL;
    EXPECT_OK(log_reader_open(blob, &KEY, &reader, &err), &err);
    for (int is_regex = 0; is_regex < 2; is_regex++) {
        struct log_search search = {.text = "needle", .is_regex = is_regex != 0};
        struct log_search_end end = {0};
        struct collected seen = {.most = 9};
        int rounds = 0;
        strbuf_init(&seen.text, 1 << 20);
        for (; !end.is_at_end; rounds++) {
            EXPECT_OK(log_find(reader, &search, collect_number, &seen, &end, &err), &err);
            cr_assert(end.is_at_end || end.reached > search.from);
            search.from = end.reached;
        }
        EXPECT_STR("100001@1588890 ", seen.text.text);
        cr_assert_gt(rounds, 1);
        strbuf_fini(&seen.text);
    }
    log_reader_close(reader);
}

/* A writer that hides "hunter2!". */
static void begin_masked(struct log_writer *writer, uint64_t bytes_max)
{
    struct err err = {0};
    struct mask *mask = NULL;
    EXPECT_OK(mask_new((const char *const[]){"hunter2!", NULL}, &mask, &err), &err);
    log_writer_init(writer, blob, &KEY, bytes_max, NULL);
    log_writer_hide(writer, mask);
}

Test(log, hidden_values_reach_neither_the_log_nor_its_counts)
{
    static const char TEXT[] = "one hunter2!\nhunter2!\nend hunt";
    for (size_t size = 1; size < sizeof TEXT; size++) {
        struct log_writer writer;
        begin_masked(&writer, 1 << 20);
        for (size_t at = 0; at < strlen(TEXT); at += size)
            log_writer_write(&writer, TEXT + at, MIN(strlen(TEXT) - at, size));
        log_writer_finish(&writer);
        cr_assert_eq(writer.result.bytes, strlen("one ***\n***\nend hunt"));
        cr_assert_eq(writer.result.lines, 3);
        EXPECT_LINES("1:one ***\n2:***\n3:end hunt~\n",
                     log_reader_lines(reader, 1, 9, collect, &seen, &err_));
        tear_down();
        set_up();
    }
}

Test(log, the_cap_counts_what_is_stored_and_never_cuts_a_hidden_value_open)
{
    struct log_writer writer;
    begin_masked(&writer, 6);
    log_writer_write(&writer, "hunter2! and", 12);
    log_writer_finish(&writer);
    cr_assert_eq(writer.result.bytes, 6);
    cr_assert_eq(writer.result.dropped_bytes, 1);
    EXPECT_LINES("1:*** an\n2:[eider: output cut h\n",
                 log_reader_lines(reader, 1, 9, collect, &seen, &err_));
}

Test(log, what_may_begin_a_hidden_value_is_stored_after_a_pause)
{
    struct log_writer writer;
    begin_masked(&writer, 1 << 20);
    log_writer_write(&writer, "> hun", 5);
    cr_assert_eq(writer.result.bytes, 2);
    cr_assert(log_writer_is_waiting(&writer));
    log_writer_idle(&writer);
    cr_assert_eq(writer.result.bytes, 5);
    cr_assert_not(log_writer_is_waiting(&writer));
    log_writer_finish(&writer);
}

Test(log, patterns_that_are_wrong_or_too_costly_are_refused)
{
    write_text("x\n");
    struct err err = {0};
    struct log_reader *reader = NULL;
    EXPECT_OK(log_reader_open(blob, &KEY, &reader, &err), &err);
    struct collected seen = {0};
    strbuf_init(&seen.text, 1 << 20);
    char *longest = mem_zalloc(LOG_PATTERN_MAX + 2, 1);
    memset(longest, 'a', LOG_PATTERN_MAX + 1);
    static const struct {
        const char *pattern;
        enum status status;
    } CASES[] = {{"(", STATUS_INVALID},
                 {"[", STATUS_INVALID},
                 {"a{256}", STATUS_LIMIT},
                 {"a{255}", STATUS_OK},
                 {"a{1,999999999999}", STATUS_LIMIT},
                 {"((a{9}){9}){9}", STATUS_OK},
                 {"(((a{9}){9}){9}){9}", STATUS_LIMIT},
                 {"(a{9}){9}", STATUS_OK},
                 {"((((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+)+)+", STATUS_LIMIT},
                 {"(a+)+b*(c|d)?[[:alpha:]]{3}", STATUS_OK},
                 {"((x{99}){99})*", STATUS_LIMIT},
                 {"[^]{999}]+", STATUS_OK},
                 {"[[:alpha:]{999}]+", STATUS_OK},
                 {"\\{999\\}", STATUS_OK},
                 {"(a*)*\\1", STATUS_LIMIT},
                 {"a\\", STATUS_INVALID},
                 {"a)", STATUS_OK}};
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
        EXPECT_STATUS(CASES[i].status,
                      log_reader_grep(reader, CASES[i].pattern, false, collect, &seen, &err), &err);
    EXPECT_STATUS(STATUS_LIMIT, log_reader_grep(reader, longest, false, collect, &seen, &err),
                  &err);
    longest[LOG_PATTERN_MAX] = '\0';
    EXPECT_OK(log_reader_grep(reader, longest, false, collect, &seen, &err), &err);
    free(longest);
    strbuf_fini(&seen.text);
    log_reader_close(reader);
}

/* 5,000 numbered lines in writes of odd sizes. */
static void write_numbered(void)
{
    struct log_writer writer;
    log_writer_init(&writer, blob, &KEY, 1 << 30, NULL);
    struct strbuf text;
    strbuf_init(&text, 1 << 20);
    for (int i = 1; i <= 5000; i++)
        strbuf_addf(&text, "line %d\n", i);
    for (size_t at = 0; at < text.length; at += 777)
        log_writer_write(&writer, text.text + at, MIN(text.length - at, (size_t)777));
    strbuf_fini(&text);
    log_writer_finish(&writer);
    cr_assert_eq(writer.result.lines, 5000);
}

Test(log, the_index_helps_and_its_loss_or_damage_does_not_hurt)
{
    write_numbered();
    char path[128];
    (void)snprintf(path, sizeof path, "%s/1.idx", dir);
    struct stat info;
    cr_assert_eq(stat(path, &info), 0);
    cr_assert_eq(info.st_size, 4 * (off_t)sizeof(struct log_index_record));

    for (int round = 0; round < 4; round++) {
        EXPECT_LINES("1024:line 1024\n1025:line 1025\n1026:line 1026\n",
                     log_reader_lines(reader, 1024, 3, collect, &seen, &err_));
        EXPECT_LINES("4999:line 4999\n5000:line 5000\n",
                     log_reader_tail(reader, 2, collect, &seen, &err_));
        struct log_index_record wrong = {.line = 4000, .offset = 20};
        struct err err = {0};
        if (round == 0) /* a record that does not fit the log */
            EXPECT_OK(file_write_atomic(path, &wrong, sizeof wrong, 0600, &err), &err);
        if (round == 1) /* cut in the middle of a record */
            cr_assert_eq(truncate(path, 10), 0);
        if (round == 2)
            cr_assert_eq(unlink(path), 0);
    }
}

Test(log, a_log_is_followed_while_it_grows)
{
    struct err err = {0};
    struct log_writer writer;
    log_writer_init(&writer, blob, &KEY, 1 << 30, NULL);
    log_writer_write(&writer, "a\nb", 3);
    struct log_reader *reader = NULL;
    EXPECT_OK(log_reader_open(blob, &KEY, &reader, &err), &err);
    char text[16];
    size_t got = 0;
    struct log_totals totals = {0};

    EXPECT_OK(log_reader_totals(reader, &totals, &err), &err);
    cr_assert_eq(totals.bytes, 3);
    cr_assert_eq(totals.lines, 2);
    EXPECT_OK(log_reader_bytes(reader, 3, text, sizeof text, &got, &err), &err);
    cr_assert_eq(got, 0);
    log_writer_write(&writer, "c\n", 2);
    EXPECT_OK(log_reader_bytes(reader, 3, text, sizeof text, &got, &err), &err);
    cr_assert_eq(got, 2);
    EXPECT_OK(log_reader_totals(reader, &totals, &err), &err);
    cr_assert_eq(totals.lines, 2);
    log_reader_close(reader);
    log_writer_finish(&writer);
}

Test(log, long_lines_come_in_pieces_and_bytes_stay_bytes)
{
    struct log_writer writer;
    log_writer_init(&writer, blob, &KEY, 1 << 30, NULL);
    char *line = mem_alloc(LOG_PIECE_MAX + 2);
    memset(line, 'w', LOG_PIECE_MAX);
    memcpy(line + LOG_PIECE_MAX, "x\n", 2);
    log_writer_write(&writer, line, LOG_PIECE_MAX + 2);
    log_writer_write(&writer, "a\0needle\n", 9);
    log_writer_finish(&writer);
    free(line);

    EXPECT_LINES("1:wwwwwwwwwwwwwwwwwwww~\n+1:x\n2:a\n",
                 log_reader_lines(reader, 1, 9, collect, &seen, &err_));
    EXPECT_LINES("2:a\n", log_reader_grep(reader, "needle$", false, collect, &seen, &err_));
}

Test(log, the_cap_is_exact_and_the_marker_tells_how_much_is_missing)
{
    static const struct {
        uint64_t cap;
        const char *log;
    } CASES[] = {
        {8, "abc\ndef\n"},
        {7, "abc\ndef\n[eider: output cut here: 1 bytes dropped]\n"},
        {4, "abc\n[eider: output cut here: 4 bytes dropped]\n"},
        {0, "[eider: output cut here: 8 bytes dropped]\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct err err = {0};
        struct blob_key key = KEY;
        key.ids[0] = (int64_t)i;
        struct log_writer writer;
        log_writer_init(&writer, blob, &key, CASES[i].cap, NULL);
        log_writer_write(&writer, "abc\nd", 5);
        log_writer_write(&writer, "ef\n", 3);
        log_writer_finish(&writer);
        log_writer_finish(&writer);
        cr_assert_eq(writer.result.bytes + writer.result.dropped_bytes, 8);
        char path[128];
        (void)snprintf(path, sizeof path, "%s/%d.log", dir, (int)i);
        char *text = NULL;
        size_t length = 0;
        EXPECT_OK(file_read(path, 1000, &text, &length, &err), &err);
        EXPECT_STR(CASES[i].log, text);
        free(text);
    }
}

Test(log, a_full_disk_is_remembered_and_what_is_missing_is_counted)
{
    (void)signal(SIGXFSZ, SIG_IGN);
    struct rlimit small = {1000, 1000};
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    struct log_writer writer;
    log_writer_init(&writer, blob, &KEY, 1 << 30, NULL);
    char chunk[600] = {0};
    for (int i = 0; i < 3; i++)
        log_writer_write(&writer, chunk, sizeof chunk);
    log_writer_finish(&writer);
    EXPECT_CONTAINS(writer.result.error, "File too large");
    cr_assert_eq(writer.result.bytes, 600);
    cr_assert_eq(writer.result.dropped_bytes, 1200);
}
