/*
 * What the failures of PostgreSQL mean.
 */
#include "expect.h"
#include "store/postgres/pg_errors.h"

Test(pg_errors, a_state_says_what_the_caller_can_do)
{
    static const struct {
        const char *state;
        enum status wanted;
    } CASES[] = {
        {"40001", STATUS_BUSY},     {"40P01", STATUS_BUSY},    {"55P03", STATUS_BUSY},
        {"57014", STATUS_BUSY},     {"57P01", STATUS_BUSY},    {"57P02", STATUS_BUSY},
        {"57P03", STATUS_BUSY},     {"53300", STATUS_BUSY},    {"25P02", STATUS_BUSY},
        {"25P03", STATUS_BUSY},     {"25006", STATUS_BUSY},    {"26000", STATUS_BUSY},
        {"42P05", STATUS_BUSY},     {"08006", STATUS_BUSY},    {"08001", STATUS_UNREACHABLE},
        {"23505", STATUS_CONFLICT}, {"53100", STATUS_FULL},    {"28P01", STATUS_DENIED},
        {"28000", STATUS_DENIED},   {"42501", STATUS_DENIED},  {"3D000", STATUS_INVALID},
        {"22P02", STATUS_INVALID},  {"22021", STATUS_INVALID}, {"42703", STATUS_INVALID},
        {"XX001", STATUS_CORRUPT},  {"XX002", STATUS_CORRUPT}, {"XX000", STATUS_IO},
        {"54000", STATUS_LIMIT},    {"ZZZZZ", STATUS_IO},      {"", STATUS_IO},
        {NULL, STATUS_IO},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
        cr_expect_eq(pg_error_of_state(CASES[i].state)->status, CASES[i].wanted, "%s is %s",
                     CASES[i].state, status_text(pg_error_of_state(CASES[i].state)->status));
}

Test(pg_errors, words_say_it_where_there_is_no_state)
{
    static const struct {
        const char *words;
        enum status wanted;
    } CASES[] = {
        {"FATAL:  password authentication failed for user \"x\"", STATUS_DENIED},
        {"FATAL:  role \"x\" does not exist", STATUS_DENIED},
        {"FATAL:  database \"x\" does not exist", STATUS_INVALID},
        {"FATAL:  the database system is starting up", STATUS_BUSY},
        {"FATAL:  sorry, too many clients already", STATUS_BUSY},
        {"session is read-only", STATUS_BUSY},
        {"Connection refused", STATUS_UNREACHABLE},
        {"something else", STATUS_UNREACHABLE},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
        cr_expect_eq(pg_error_of_connect(CASES[i].words)->status, CASES[i].wanted, "%s",
                     CASES[i].words);
}

Test(pg_errors, old_servers_are_refused)
{
    struct err err = {0};
    EXPECT_STATUS(STATUS_INVALID, pg_version_check(120022, &err), &err);
    EXPECT_STR("PostgreSQL 12 is too old; 13 or newer is needed", err.text);
    EXPECT_OK(pg_version_check(130000, &err), &err);
    EXPECT_OK(pg_version_check(180001, &err), &err);
}
