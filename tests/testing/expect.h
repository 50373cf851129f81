#pragma once
/*
 * expect: criterion plus the few expectations this project repeats.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "base/err.h"

#define EXPECT_STATUS(wanted, call, err)                                                           \
    do {                                                                                           \
        enum status got_ = (call);                                                                 \
        cr_assert_eq(got_, (wanted), "%s: %s, not %s (%s)", #call, status_text(got_),              \
                     status_text(wanted), got_ == STATUS_OK ? "" : (err)->text);                   \
    } while (0)

#define EXPECT_OK(call, err) EXPECT_STATUS(STATUS_OK, call, err)

#define EXPECT_STR(wanted, text)                                                                   \
    do {                                                                                           \
        const char *got_text_ = (text);                                                            \
        cr_assert_str_eq(got_text_, (wanted), "%s is \"%s\", not \"%s\"", #text, got_text_,        \
                         (wanted));                                                                \
    } while (0)

#define EXPECT_CONTAINS(text, part)                                                                \
    do {                                                                                           \
        const char *got_text_ = (text);                                                            \
        cr_assert_not_null(strstr(got_text_, (part)), "\"%s\" does not contain \"%s\"", got_text_, \
                           (part));                                                                \
    } while (0)
