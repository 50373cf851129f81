#include <errno.h>

#include "base/err.h"
#include "expect.h"

Test(err, context_goes_in_front_and_the_code_stays)
{
    struct err err = {0};

    cr_assert_eq(err_set(&err, STATUS_BUSY, "locked by %d", 7), STATUS_BUSY);
    cr_assert_eq(err_wrap(&err, "claim from '%s'", "gpu"), STATUS_BUSY);
    cr_assert_eq(err_wrap(&err, "start"), STATUS_BUSY);

    EXPECT_STR("start: claim from 'gpu': locked by 7", err.text);
    cr_assert_eq(err.code, STATUS_BUSY);
}

Test(err, a_text_that_was_cut_says_so)
{
    static const char LONG[] = "0123456789012345678901234567890123456789012345678901234567890123"
                               "0123456789012345678901234567890123456789012345678901234567890123";
    struct err err = {0};

    for (size_t length = ERR_TEXT_MAX - 3; length <= ERR_TEXT_MAX + 1; length++) {
        (void)err_set(&err, STATUS_IO, "%*s", (int)length, "x");
        bool fits = length < ERR_TEXT_MAX;
        cr_assert_eq(strlen(err.text), MIN(length, (size_t)ERR_TEXT_MAX - 1));
        cr_assert_eq(err.text[strlen(err.text) - 1], fits ? 'x' : '.', "%zu", length);
    }
    (void)err_set(&err, STATUS_IO, "cause");
    for (int i = 0; i < 10; i++)
        cr_assert_eq(err_wrap(&err, "%s%s", LONG, LONG), STATUS_IO);
    cr_assert_eq(strlen(err.text), ERR_TEXT_MAX - 1);
    EXPECT_STR("...", err.text + ERR_TEXT_MAX - 4);
    cr_assert_eq(err_errno(&err, ENOENT, "%s%s%s%s%s", LONG, LONG, LONG, LONG, LONG),
                 STATUS_NOT_FOUND);
    EXPECT_STR("...", err.text + ERR_TEXT_MAX - 4);
}

Test(err, errnos_become_statuses_a_caller_can_act_on)
{
    static const struct {
        int number;
        enum status status;
    } CASES[] = {
        {ENOENT, STATUS_NOT_FOUND},  {EACCES, STATUS_DENIED},  {EROFS, STATUS_DENIED},
        {EEXIST, STATUS_CONFLICT},   {ENOSPC, STATUS_FULL},    {EDQUOT, STATUS_FULL},
        {EAGAIN, STATUS_BUSY},       {EINVAL, STATUS_INVALID}, {EMFILE, STATUS_LIMIT},
        {ETIMEDOUT, STATUS_TIMEOUT}, {EIO, STATUS_IO},         {ECONNRESET, STATUS_IO},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct err err = {0};
        EXPECT_STATUS(CASES[i].status, err_errno(&err, CASES[i].number, "open '%s'", "x"), &err);
        EXPECT_CONTAINS(err.text, "open 'x': ");
        EXPECT_CONTAINS(err.text, strerror(CASES[i].number));
    }
}

Test(err, every_status_has_words)
{
    for (enum status status = 0; status < STATUS_COUNT; status++)
        cr_assert_gt(strlen(status_text(status)), 0);
    cr_assert(status_is_retryable(STATUS_BUSY));
    cr_assert(status_is_retryable(STATUS_IO));
    cr_assert(!status_is_retryable(STATUS_OK));
    cr_assert(!status_is_retryable(STATUS_UNKNOWN));
}
