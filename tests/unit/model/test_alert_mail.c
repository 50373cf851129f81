#include "base/arena.h"
#include "expect.h"
#include "model/alert_mail.h"

static const char *const TO[] = {"a@b.c", "J\xC3\xB6rg <j@b.c>", "Ops Team <ops@b.c>"};

static struct alert_message message_of(const char *subject)
{
    return (struct alert_message){
        .target = HOOK_EMAIL,
        .id = "n-7",
        .at_us = 1736899262000000,
        .to = {(const char **)TO, 3},
        .subject = subject,
        .text = "plain",
        .html = "<p>html</p>",
    };
}

static const char *written(struct arena *arena, const struct alert_message *message)
{
    const char *mail = NULL;
    struct err err = {0};
    EXPECT_OK(alert_mail_write(arena, message, "Eider <eider@x.example>", &mail, &err), &err);
    return mail;
}

Test(alert_mail, headers_and_parts_are_those_of_the_standard)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct alert_message message = message_of("all is lost");
    const char *mail = written(arena, &message);
    EXPECT_CONTAINS(mail, "From: \"Eider\" <eider@x.example>\r\n");
    EXPECT_CONTAINS(mail, "To: <a@b.c>,\r\n =?UTF-8?B?SsO2cmc=?= <j@b.c>,\r\n \"Ops Team\" "
                          "<ops@b.c>\r\n");
    cr_expect_null(strstr(mail, "Cc:"));
    EXPECT_CONTAINS(mail, "Subject: all is lost\r\n");
    EXPECT_CONTAINS(mail, "Date: Wed, 15 Jan 2025 00:01:02 +0000\r\n");
    EXPECT_CONTAINS(mail, "Message-ID: <n-7@x.example>\r\n");
    EXPECT_CONTAINS(mail, "Content-Type: text/plain; charset=utf-8\r\n");
    EXPECT_CONTAINS(mail, "\r\n\r\ncGxhaW4=\r\n--eider-");
    EXPECT_STR("j@b.c", alert_mail_bare(arena, TO[1]));
    EXPECT_STR("a@b.c", alert_mail_bare(arena, TO[0]));
}

Test(alert_mail, a_mail_that_is_sent_twice_is_the_same)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct alert_message message = message_of("x");
    EXPECT_STR(written(arena, &message), written(arena, &message));
}

Test(alert_mail, other_alphabets_go_in_words_that_split_no_character)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct alert_message message =
        message_of("\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC"
                   "\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC"
                   "\xE2\x82\xAC\xE2\x82\xAC x\xE2\x82\xAC");
    const char *mail = written(arena, &message);
    /* 14 times 3 bytes and " x" are 44: the euro sign after them is in the second word. */
    EXPECT_CONTAINS(mail, "Subject: =?UTF-8?B?4oKs4oKs4oKs4oKs4oKs4oKs4oKs4oKs4oKs4oKs4oKs4oKs4oKs"
                          "4oKsIHg=?=\r\n =?UTF-8?B?4oKs?=\r\n");
    message = message_of("=?UTF-8?B?SQ==?=");
    EXPECT_CONTAINS(written(arena, &message), "Subject: =?UTF-8?B?PT9VVEYtOD9CP1NRPT0/PQ==?=\r\n");
}

static void expect_refused(const struct alert_message *message, const char *from,
                           const char *wanted)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const char *untouched = "untouched";
    struct err err = {0};
    EXPECT_STATUS(STATUS_INVALID, alert_mail_write(arena, message, from, &untouched, &err), &err);
    EXPECT_CONTAINS(err.text, wanted);
    EXPECT_STR("untouched", untouched);
}

Test(alert_mail, nothing_ends_a_header)
{
    struct alert_message message = message_of("x\r\nBcc: all@b.c");
    expect_refused(&message, "e@x", "the subject has a line break");
    message = message_of("x");
    expect_refused(&message, "e@x\r\nBcc: all@b.c", "is not an address");
    const char *bad[] = {"a@b.c\nBcc: all@b.c"};
    message.cc = (struct string_list){bad, 1};
    expect_refused(&message, "e@x", "is not an address");
    message.cc.count = 0;
    message.id = "n>\r\nBcc: x";
    expect_refused(&message, "e@x", "is not the id of a delivery");
}
