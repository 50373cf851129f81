#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "expect.h"
#include "model/limits.h"
#include "model/mask.h"
#include "model/mask_forms.h"

enum { VALUES_MAX = 6, VALUE_MAX = 12, STREAM_MAX = 400, ROUNDS = 3000 };

static struct mask *mask_of(const char *const *values)
{
    struct err err = {0};
    struct mask *mask = NULL;
    EXPECT_OK(mask_new(values, &mask, &err), &err);
    return mask;
}

#define MASK(...) mask_of((const char *const[]){__VA_ARGS__, NULL})

/* One text through a mask of its own. */
static void expect_masked(const char *wanted, const char *value, const char *text)
{
    CLEANUP(mask_freep) struct mask *mask = MASK(value);
    struct strbuf out;
    strbuf_init(&out, 1 << 20);
    mask_text(mask, text, &out);
    cr_assert_str_eq(out.text, wanted, "'%s' in \"%s\" gives \"%s\", not \"%s\"", value, text,
                     out.text, wanted);
    strbuf_fini(&out);
}

Test(mask, a_value_is_hidden_wherever_it_stands)
{
    static const struct {
        const char *wanted, *value, *text;
    } CASES[] = {
        {"", "hunter2!", ""},
        {"***", "hunter2!", "hunter2!"},
        {"a *** b\n***", "hunter2!", "a hunter2! b\nhunter2!"},
        {"hunter2", "hunter2!", "hunter2"},
        {"Hunter2!", "hunter2!", "Hunter2!"},
        {"***", "hunter2!", "hunter2!hunter2!"},
        {"x***y", "aaaa", "xaaaaaaay"},
        {"***", "abab", "ababab"},
        {"hunhunt***", "hunter2!", "hunhunthunter2!"},
        {"***", "secret\n", "secret"},
        {"***\n", "secret\r\n", "secret\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
        expect_masked(CASES[i].wanted, CASES[i].value, CASES[i].text);
}

Test(mask, short_values_are_not_looked_for)
{
    expect_masked("abc", "abc", "abc");
    expect_masked("***", "abcd", "abcd");
    expect_masked("abc\n", "abc\n", "abc\n");
    expect_masked("nothing", "", "nothing");
}

/* These texts were made by other programs: base64, xxd, Python, node, PHP, bash. */
Test(mask, a_value_is_hidden_in_every_encoding)
{
    static const char VALUE[] = "p@ss w\"ord'/<\xc3\xa9>$1";
    static const char *const HIDDEN[] = {
        "cEBzcyB3Im9yZCcvPMOpPiQx",
        "p%40ss%20w%22ord%27%2F%3C%C3%A9%3E%241",
        "p%40ss%20w%22ord%27%2f%3c%c3%a9%3e%241",
        "p%40ss%20w%22ord%27/%3C%C3%A9%3E%241",
        "p%40ss+w%22ord%27%2F%3C%C3%A9%3E%241",
        "p%40ss%20w%22ord'%2F%3C%C3%A9%3E%241",
        "p@ss w\\\"ord'/<\xc3\xa9>$1",
        "p@ss w\\\"ord'/<\\u00e9>$1",
        "p@ss w\\\"ord'\\/<\xc3\xa9>$1",
        "p@ss w\\\"ord'\\/<\\u00e9>$1",
        "p@ss w\\\"ord'/\\u003c\xc3\xa9\\u003e$1",
        "p@ss w\"ord'\\''/<\xc3\xa9>$1",
        "p@ss w\"ord'\"'\"'/<\xc3\xa9>$1",
        "p@ss w\\\"ord'/<\xc3\xa9>\\$1",
        "p@ss\\ w\\\"ord\\'/\\<\xc3\xa9\\>\\$1",
        "704073732077226f7264272f3cc3a93e2431",
        "704073732077226F7264272F3CC3A93E2431",
        "70 40 73 73 20 77 22 6f 72 64 27 2f 3c c3 a9 3e 24 31",
        "70:40:73:73:20:77:22:6F:72:64:27:2F:3C:C3:A9:3E:24:31",
        "p@ss w&quot;ord&#x27;/&lt;\xc3\xa9&gt;$1",
        "p@ss w&quot;ord&apos;/&lt;\xc3\xa9&gt;$1",
        "p@ss w\\\\\\\"ord'/<\xc3\xa9>$1",
        "p@ss w\\\\\\\"ord'/<\\\\u00e9>$1",
    };
    for (size_t i = 0; i < ARRAY_LEN(HIDDEN); i++) {
        CLEANUP(mem_freep) char *text = mem_format("[%s]", HIDDEN[i]);
        expect_masked("[***]", VALUE, text);
    }
    expect_masked("['***']", "C:\\new\"s", "['C:\\\\new\"s']");
    expect_masked("%***", "p@ss", "%70%40%73%73");
    expect_masked("\"***\"", "\xf0\x9f\x94\x91-key\n\t\x01", "\"\\ud83d\\udd11-key\\n\\t\\u0001\"");
}

/* The digits beside it hold bits of the neighbours too; what is hidden is what is only ours. */
Test(mask, base64_is_recognised_wherever_the_value_begins_in_it)
{
    expect_masked("***", "tok?en>>", "dG9rP2VuPj4=");
    expect_masked("***", "tok?en>>", "dG9rP2VuPj4");
    expect_masked("eH***", "tok?en>>", "eHRvaz9lbj4+");        /* x before it */
    expect_masked("eH***", "tok?en>>", "eHRvaz9lbj4-");        /* in the alphabet of URLs */
    expect_masked("eHh***", "tok?en>>", "eHh0b2s/ZW4+Pg==");   /* xx before it */
    expect_masked("***gb2s=", "tok?en>>", "dG9rP2VuPj4gb2s="); /* more after it */
}

Test(mask, each_line_of_a_value_is_hidden_by_itself)
{
    static const char KEY[] =
        "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\r\n  hkiG9w0BAQEF/A==\nshort\n";
    expect_masked("***\n", KEY, KEY);
    expect_masked("| ***|\n| ***|", KEY, "| MIIEvQIBADANBgkq|\n| hkiG9w0BAQEF/A==|");
    expect_masked("hkiG short", KEY, "hkiG short");
    expect_masked("\"***\"", KEY,
                  "\"-----BEGIN KEY-----\\nMIIEvQIBADANBgkq\\r\\n  hkiG9w0BAQEF/A==\\nshort\"");
}

Test(mask, what_was_cut_off_in_the_middle_of_a_value_is_hidden_at_the_end)
{
    expect_masked("is ***", "correcthorsebattery", "is correcth");
    expect_masked("is correct", "correcthorsebattery", "is correct");
}

/* --- streams --------------------------------------------------------------------------------- */

#define EXPECT_OUT(wanted)                                                                         \
    do {                                                                                           \
        EXPECT_STR(wanted, out.text);                                                              \
        strbuf_clear(&out);                                                                        \
    } while (0)

static void feed(struct mask *mask, const char *text, struct strbuf *out)
{
    mask_feed(mask, text, strlen(text), out);
}

Test(mask, only_what_may_begin_a_value_is_held_back)
{
    CLEANUP(mask_freep) struct mask *mask = MASK("hunter2!", "hunter2!-and-more");
    struct strbuf out;
    strbuf_init(&out, 1 << 20);

    feed(mask, "all of this\n", &out);
    EXPECT_OUT("all of this\n");
    feed(mask, "this but hunt", &out);
    EXPECT_OUT("this but ");
    feed(mask, "ing\n", &out);
    EXPECT_OUT("hunting\n");
    feed(mask, "hunter2!", &out);
    EXPECT_OUT("***");
    feed(mask, "-and", &out);
    EXPECT_OUT("");
    feed(mask, "-more", &out);
    EXPECT_OUT("");
    feed(mask, ".", &out);
    EXPECT_OUT(".");
    strbuf_fini(&out);
}

Test(mask, a_pause_lets_out_what_could_be_guessed_and_no_more)
{
    CLEANUP(mask_freep) struct mask *mask = MASK("hunter2!");
    struct strbuf out;
    strbuf_init(&out, 1 << 20);

    feed(mask, "> hun", &out);
    EXPECT_OUT("> ");
    cr_assert(mask_is_waiting(mask));
    mask_idle(mask, &out);
    EXPECT_OUT("hun");
    cr_assert_not(mask_is_waiting(mask));
    feed(mask, "ter2! and hunt", &out);
    EXPECT_OUT("*** and ");
    cr_assert_not(mask_is_waiting(mask));
    mask_idle(mask, &out);
    EXPECT_OUT("");
    mask_flush(mask, &out);
    EXPECT_OUT("hunt");
    strbuf_fini(&out);
}

Test(mask, a_new_stream_begins_after_the_end_of_one)
{
    CLEANUP(mask_freep) struct mask *mask = MASK("hunter2!");
    struct strbuf out;
    strbuf_init(&out, 1 << 20);

    mask_text(mask, "hunt", &out);
    mask_text(mask, "er2! hunter2!", &out);
    mask_text(mask, "hunter2!", &out);

    EXPECT_OUT("hunter2! ******");
    strbuf_fini(&out);
}

Test(mask, too_many_bytes_of_secrets_are_refused)
{
    struct err err = {0};
    struct mask *mask = NULL;
    char *value = mem_zalloc(LIMIT_MASK_BYTES / 2 + 2, 1);
    memset(value, 'a', LIMIT_MASK_BYTES / 2 + 1);
    const char *values[] = {value, value, NULL};
    EXPECT_STATUS(STATUS_LIMIT, mask_new(values, &mask, &err), &err);
    EXPECT_CONTAINS(err.text, "262146 bytes");
    value[LIMIT_MASK_BYTES / 2] = '\0';
    EXPECT_OK(mask_new(values, &mask, &err), &err);
    mask_free(mask);
    free(value);
}

/* --- against a simple one -------------------------------------------------------------------- */

static uint32_t chance;

static unsigned below(unsigned bound)
{
    chance = chance * 1664525u + 1013904223u;
    return (chance >> 8) % bound;
}

static void random_text(char *out, size_t length)
{
    for (size_t i = 0; i < length; i++)
        out[i] = "aab"[below(3)];
    out[length] = '\0';
}

/* No form of such values consists of these letters, but the values themselves. */
static void mask_simply(char values[][VALUE_MAX + 1], size_t count, const char *text,
                        struct strbuf *out)
{
    bool hidden[STREAM_MAX + 1] = {false};
    size_t length = strlen(text);
    for (size_t v = 0; v < count; v++) {
        size_t size = strlen(values[v]);
        if (size < MASK_VALUE_MIN)
            continue;
        for (size_t at = 0; at + size <= length; at++)
            if (memcmp(text + at, values[v], size) == 0)
                memset(hidden + at, true, size);
        for (size_t part = MASK_CUT_MIN; part < size && part <= length; part++)
            if (memcmp(text + length - part, values[v], part) == 0)
                memset(hidden + length - part, true, part);
    }
    for (size_t i = 0; i < length; i++)
        if (!hidden[i])
            strbuf_add_char(out, text[i]);
        else if (i == 0 || !hidden[i - 1])
            strbuf_add(out, "***");
}

static void mask_in_pieces(struct mask *mask, const char *text, struct strbuf *out)
{
    size_t length = strlen(text);
    for (size_t at = 0; at < length;) {
        size_t size = MIN((size_t)below(below(2) == 0 ? 4 : 60), length - at);
        CLEANUP(mem_freep) char *piece = mem_alloc(size + 1);
        memcpy(piece, text + at, size);
        mask_feed(mask, piece, size, out);
        at += size;
    }
    mask_flush(mask, out);
}

Test(mask, any_values_in_any_text_cut_anywhere_give_what_a_simple_search_gives)
{
    struct strbuf wanted;
    struct strbuf out;
    strbuf_init(&wanted, 1 << 20);
    strbuf_init(&out, 1 << 20);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        chance = round;
        char values[VALUES_MAX][VALUE_MAX + 1];
        const char *list[VALUES_MAX + 1] = {NULL};
        size_t count = 1 + below(VALUES_MAX);
        for (size_t i = 0; i < count; i++) {
            random_text(values[i], 3 + below(VALUE_MAX - 2));
            list[i] = values[i];
        }
        char text[STREAM_MAX + 1];
        random_text(text, below(STREAM_MAX + 1));
        CLEANUP(mask_freep) struct mask *mask = mask_of(list);
        for (int again = 0; again < 3; again++) {
            strbuf_clear(&wanted);
            strbuf_clear(&out);
            mask_simply(values, count, text, &wanted);
            mask_in_pieces(mask, text, &out);
            cr_assert_str_eq(out.text, wanted.text, "round %u: \"%s\", not \"%s\"", round, out.text,
                             wanted.text);
        }
    }
    strbuf_fini(&wanted);
    strbuf_fini(&out);
}

/* --- a canary -------------------------------------------------------------------------------- */

/* Wherever in it the stream pauses. */
Test(mask, a_canary_never_leaves_more_than_its_first_three_bytes)
{
    static const char CANARY[] = "c4n4ry-Zx81/q+w";
    CLEANUP(mask_freep) struct mask *mask = MASK(CANARY);
    struct strbuf out;
    strbuf_init(&out, 1 << 20);
    for (size_t pause = 0; pause <= strlen(CANARY); pause++) {
        strbuf_clear(&out);
        feed(mask, "token=", &out);
        mask_feed(mask, CANARY, pause, &out);
        mask_idle(mask, &out);
        feed(mask, CANARY + pause, &out);
        feed(mask, " used\n", &out);
        mask_flush(mask, &out);
        CLEANUP(mem_freep)
        char *wanted = mem_format("token=%.*s*** used\n", pause < 4 ? (int)pause : 0, CANARY);
        EXPECT_STR(wanted, out.text);
    }
    strbuf_fini(&out);
}
