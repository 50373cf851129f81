#include "cli/exit_code.h"

#include "base/check.h"
#include "base/str.h"

static const enum exit_code OF_STATUS[] = {
    [STATUS_OK] = EXIT_CODE_DONE,
    [STATUS_INVALID] = EXIT_CODE_USAGE,
    [STATUS_NOT_FOUND] = EXIT_CODE_NOT_FOUND,
    [STATUS_CONFLICT] = EXIT_CODE_CONFLICT,
    [STATUS_LIMIT] = EXIT_CODE_USAGE,
    [STATUS_BUSY] = EXIT_CODE_UNREACHABLE,
    [STATUS_TIMEOUT] = EXIT_CODE_TIMEOUT,
    [STATUS_IO] = EXIT_CODE_UNREACHABLE,
    [STATUS_DENIED] = EXIT_CODE_DENIED,
    [STATUS_UNKNOWN] = EXIT_CODE_UNREACHABLE,
    [STATUS_FULL] = EXIT_CODE_UNREACHABLE,
    [STATUS_CORRUPT] = EXIT_CODE_UNREACHABLE,
    [STATUS_BAD_DAG] = EXIT_CODE_BAD_DAG,
    [STATUS_UNREACHABLE] = EXIT_CODE_UNREACHABLE,
};
_Static_assert(ARRAY_LEN(OF_STATUS) == STATUS_COUNT, "every status has an exit code");

enum exit_code exit_code_of_status(enum status status)
{
    CHECK(status < STATUS_COUNT);
    return OF_STATUS[status];
}

enum exit_code exit_code_of_verdict(enum engine_verdict verdict, bool interrupted)
{
    if (verdict == ENGINE_SUCCESS)
        return EXIT_CODE_DONE;
    if (interrupted)
        return EXIT_CODE_INTERRUPTED;
    return verdict == ENGINE_CANCELLED ? EXIT_CODE_CANCELLED : EXIT_CODE_FAILED;
}

enum exit_code exit_code_of_run_state(const char *state)
{
    if (str_equal(state, "failed"))
        return EXIT_CODE_FAILED;
    return str_equal(state, "cancelled") ? EXIT_CODE_CANCELLED : EXIT_CODE_DONE;
}
