#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"

static const struct {
    const char *text;
    bool retryable;
} STATUSES[] = {
#define X(name, text, retryable) [STATUS_##name] = {text, retryable},
    STATUS_MAP(X)
#undef X
};
_Static_assert(ARRAY_LEN(STATUSES) == STATUS_COUNT, "every status has a row");

/* Replace an ending that was cut by a mark, so that nobody takes it for the whole text. */
static void mark_cut(char *text, size_t size, int wanted)
{
    if (wanted >= (int)size)
        memcpy(text + size - 4, "...", 4);
}

enum status err_set(struct err *err, enum status code, const char *fmt, ...)
{
    CHECK(code != STATUS_OK);
    err->code = code;
    va_list args;
    va_start(args, fmt);
    mark_cut(err->text, sizeof err->text, vsnprintf(err->text, sizeof err->text, fmt, args));
    va_end(args);
    return code;
}

static enum status status_of_errno(int number)
{
    switch (number) {
    case ENOENT:
    case ESRCH:
        return STATUS_NOT_FOUND;
    case EACCES:
    case EPERM:
    case EROFS:
        return STATUS_DENIED;
    case EEXIST:
        return STATUS_CONFLICT;
    case ENOSPC:
    case EDQUOT:
        return STATUS_FULL;
    case EAGAIN:
    case EBUSY:
        return STATUS_BUSY;
    case EINVAL:
    case ENAMETOOLONG:
    case ENOTDIR:
    case EISDIR:
    case E2BIG:
        return STATUS_INVALID;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EFBIG:
        return STATUS_LIMIT;
    case ETIMEDOUT:
        return STATUS_TIMEOUT;
    default:
        return STATUS_IO;
    }
}

enum status err_errno(struct err *err, int number, const char *fmt, ...)
{
    char context[ERR_TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    mark_cut(context, sizeof context, vsnprintf(context, sizeof context, fmt, args));
    va_end(args);
    return err_set(err, status_of_errno(number), "%s: %s", context, strerror(number));
}

enum status err_wrap(struct err *err, const char *fmt, ...)
{
    CHECK(err->code != STATUS_OK);
    char context[ERR_TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    mark_cut(context, sizeof context, vsnprintf(context, sizeof context, fmt, args));
    va_end(args);
    char cause[ERR_TEXT_MAX];
    memcpy(cause, err->text, sizeof cause);
    mark_cut(err->text, sizeof err->text,
             snprintf(err->text, sizeof err->text, "%s: %s", context, cause));
    return err->code;
}

const char *status_text(enum status code)
{
    CHECK(code < STATUS_COUNT);
    return STATUSES[code].text;
}

bool status_is_retryable(enum status code)
{
    CHECK(code < STATUS_COUNT);
    return STATUSES[code].retryable;
}
