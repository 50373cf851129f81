#include "app/prove_report.h"

#include <stdarg.h>

#include "base/check.h"
#include "base/strbuf.h"

enum { NOTE_BYTES_MAX = 4096 };

void prove_report_init(struct prove_report *report)
{
    *report = (struct prove_report){.checks = json_array(), .notes = json_array(), .ok = true};
    CHECK(report->checks != NULL && report->notes != NULL);
}

void prove_report_fini(struct prove_report *report)
{
    json_decref(report->checks);
    json_decref(report->notes);
    *report = (struct prove_report){0};
}

void prove_report_check(struct prove_report *report, const char *what, int64_t expected,
                        int64_t seen)
{
    json_t *row = json_object();
    CHECK(row != NULL);
    json_put_string(row, "what", what);
    json_put_int(row, "expected", expected);
    json_put_int(row, "seen", seen);
    json_put_bool(row, "ok", expected == seen);
    CHECK(json_array_append_new(report->checks, row) == 0);
    report->ok &= expected == seen;
}

void prove_report_note(struct prove_report *report, const char *fmt, ...)
{
    struct strbuf text;
    va_list args;
    strbuf_init(&text, NOTE_BYTES_MAX);
    va_start(args, fmt);
    strbuf_addv(&text, fmt, args);
    va_end(args);
    CHECK(json_array_append_new(report->notes, json_text(text.text, text.length)) == 0);
    strbuf_fini(&text);
}

json_t *prove_report_json(const struct prove_report *report, const char *proof, int64_t duration_ms)
{
    json_t *object = json_object();
    CHECK(object != NULL);
    json_put_string(object, "proof", proof);
    json_put_bool(object, "ok", report->ok);
    json_put(object, "duration", json_real((double)duration_ms / 1000));
    json_put(object, "checks", json_incref(report->checks));
    json_put(object, "notes", json_incref(report->notes));
    return object;
}
