#include "app/prove_talk.h"

#include <stdarg.h>

#include "base/clock.h"
#include "base/strbuf.h"

enum { PAUSE_MS = 50, SAY_BYTES_MAX = 1024 };

void prove_say(const struct prove_request *request, const char *fmt, ...)
{
    struct strbuf text;
    va_list args;
    strbuf_init(&text, SAY_BYTES_MAX);
    va_start(args, fmt);
    strbuf_addv(&text, fmt, args);
    va_end(args);
    request->say(request->say_context, text.text);
    strbuf_fini(&text);
}

enum status prove_pause(struct prove_patience *patience, struct err *err)
{
    if (patience->deadline_us == 0)
        patience->deadline_us = clock_mono_us() + patience->patience_ms * 1000;
    if (!patience->world->pause(NULL, PAUSE_MS)) {
        *patience->is_interrupted = true;
        return err_set(err, STATUS_TIMEOUT, "interrupted");
    }
    if (clock_mono_us() > patience->deadline_us)
        return err_set(err, STATUS_TIMEOUT, "waited for %lld s in vain until %s",
                       (long long)(patience->patience_ms / 1000), patience->what);
    return STATUS_OK;
}
