#include "expect.h"
#include "model/problem_code.h"

Test(problem_code, every_status_comes_back_as_it_was)
{
    for (enum status status = STATUS_OK + 1; status < STATUS_COUNT; status++) {
        int code = problem_code_of(status);
        cr_expect(code >= 400 && code <= 599, "%s", status_text(status));
        cr_expect_eq(problem_code_status(code, problem_code_word(status)), status, "%s",
                     status_text(status));
        /* The word counts, whatever a proxy made of the code. */
        cr_expect_eq(problem_code_status(500, problem_code_word(status)), status);
        for (enum status other = STATUS_OK; other < status; other++)
            cr_expect_str_neq(problem_code_word(other), problem_code_word(status));
    }
}

Test(problem_code, a_code_alone_says_what_it_can)
{
    static const struct {
        int code;
        const char *word;
        enum status status;
    } CASES[] = {
        {400, NULL, STATUS_INVALID},
        {401, NULL, STATUS_DENIED},
        {403, NULL, STATUS_DENIED},
        {404, NULL, STATUS_NOT_FOUND},
        {405, NULL, STATUS_INVALID},
        {409, NULL, STATUS_CONFLICT},
        {413, NULL, STATUS_LIMIT},
        {429, NULL, STATUS_BUSY},
        {500, NULL, STATUS_IO},
        {502, NULL, STATUS_UNREACHABLE},
        {503, NULL, STATUS_UNREACHABLE},
        {599, NULL, STATUS_IO},
        {404, "nonsense", STATUS_NOT_FOUND},
        {404, "", STATUS_NOT_FOUND},
        {500, "ok", STATUS_IO},
        {301, NULL, STATUS_IO},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
        cr_expect_eq(problem_code_status(CASES[i].code, CASES[i].word), CASES[i].status, "%d",
                     CASES[i].code);
}
