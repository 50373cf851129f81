#include <string.h>

#include "base/clock.h"
#include "expect.h"
#include "os/password.h"

Test(password, only_the_right_one_matches)
{
    char hash[PASSWORD_HASH_MAX];
    char again[PASSWORD_HASH_MAX];
    struct err err = {0};
    EXPECT_OK(password_hash("correct horse", hash, &err), &err);
    EXPECT_OK(password_hash("correct horse", again, &err), &err);
    cr_expect(strncmp(hash, "$argon2id$", 10) == 0);
    cr_expect_str_neq(hash, again, "each has a salt of its own");
    cr_expect(password_matches(hash, "correct horse"));
    cr_expect_not(password_matches(hash, "correct hors"));
    cr_expect_not(password_matches(hash, ""));
    cr_expect_not(password_matches("", "correct horse"));
}

Test(password, somebody_who_is_not_there_takes_as_long)
{
    char hash[PASSWORD_HASH_MAX];
    struct err err = {0};
    EXPECT_OK(password_hash("correct horse", hash, &err), &err);
    int64_t began = clock_mono_us();
    cr_expect_not(password_matches(hash, "wrong horse"));
    int64_t there = clock_mono_us() - began;
    began = clock_mono_us();
    cr_expect_not(password_matches(NULL, "wrong horse"));
    int64_t absent = clock_mono_us() - began;
    cr_expect_gt(absent * 5, there, "%lld us against %lld us", (long long)absent, (long long)there);
    cr_expect_gt(there * 5, absent, "%lld us against %lld us", (long long)absent, (long long)there);
}

Test(password, it_has_bounds)
{
    char longest[PASSWORD_BYTES_MAX + 2];
    struct err err = {0};
    memset(longest, 'x', sizeof longest);
    longest[PASSWORD_BYTES_MAX] = '\0';
    EXPECT_OK(password_check(longest, &err), &err);
    longest[PASSWORD_BYTES_MAX] = 'x';
    longest[PASSWORD_BYTES_MAX + 1] = '\0';
    EXPECT_STATUS(STATUS_INVALID, password_check(longest, &err), &err);
    EXPECT_STATUS(STATUS_INVALID, password_check("1234567", &err), &err);
    EXPECT_OK(password_check("12345678", &err), &err);
}

Test(password, secrets_are_equal_or_not)
{
    cr_expect(secret_equal("abc", "abc"));
    cr_expect_not(secret_equal("abc", "abd"));
    cr_expect_not(secret_equal("abc", "ab"));
    cr_expect_not(secret_equal("", "a"));
}
