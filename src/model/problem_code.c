#include "model/problem_code.h"

#include "base/check.h"
#include "base/str.h"

static const struct {
    int code;
    const char *word;
} ROWS[] = {
    [STATUS_OK] = {200, "ok"},
    [STATUS_INVALID] = {400, "invalid"},
    [STATUS_NOT_FOUND] = {404, "not_found"},
    [STATUS_CONFLICT] = {409, "conflict"},
    [STATUS_LIMIT] = {422, "limit"},
    [STATUS_BUSY] = {503, "busy"},
    [STATUS_TIMEOUT] = {504, "timeout"},
    [STATUS_IO] = {503, "io"},
    [STATUS_DENIED] = {403, "denied"},
    [STATUS_UNKNOWN] = {503, "unknown"},
    [STATUS_FULL] = {507, "full"},
    [STATUS_CORRUPT] = {500, "corrupt"},
    [STATUS_BAD_DAG] = {422, "bad_dag"},
    [STATUS_UNREACHABLE] = {503, "unreachable"},
};
_Static_assert(ARRAY_LEN(ROWS) == STATUS_COUNT, "every status has a code and a word");

/* What others answer, a proxy between us among them; the rest goes by its hundred. */
static const struct {
    int code;
    enum status status;
} CODES[] = {
    {401, STATUS_DENIED},      {403, STATUS_DENIED},      {404, STATUS_NOT_FOUND},
    {407, STATUS_DENIED},      {408, STATUS_TIMEOUT},     {409, STATUS_CONFLICT},
    {410, STATUS_NOT_FOUND},   {413, STATUS_LIMIT},       {422, STATUS_LIMIT},
    {429, STATUS_BUSY},        {502, STATUS_UNREACHABLE}, {503, STATUS_UNREACHABLE},
    {504, STATUS_UNREACHABLE}, {507, STATUS_FULL},
};

int problem_code_of(enum status status)
{
    CHECK(status < STATUS_COUNT);
    return ROWS[status].code;
}

const char *problem_code_word(enum status status)
{
    CHECK(status < STATUS_COUNT);
    return ROWS[status].word;
}

enum status problem_code_status(int code, const char *word)
{
    for (enum status status = STATUS_OK + 1; word != NULL && status < STATUS_COUNT; status++)
        if (str_equal(ROWS[status].word, word))
            return status;
    for (size_t i = 0; i < ARRAY_LEN(CODES); i++)
        if (CODES[i].code == code)
            return CODES[i].status;
    return code >= 400 && code < 500 ? STATUS_INVALID : STATUS_IO;
}
