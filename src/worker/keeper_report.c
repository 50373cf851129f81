#include "worker/keeper_report.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/str.h"
#include "model/duration.h"
#include "model/limits.h"

static const char *const TYPES[] = {
    [KEEPER_REPORT_PROGRESS] = "progress", [KEEPER_REPORT_VALUE] = "value",
    [KEEPER_REPORT_RESULT] = "result",     [KEEPER_REPORT_HANDLE] = "handle",
    [KEEPER_REPORT_DEFER] = "defer",       [KEEPER_REPORT_BAD] = NULL,
};
_Static_assert(ARRAY_LEN(TYPES) == KEEPER_REPORT_TYPE_COUNT, "every type has a row");

static const char *const OUTCOMES[] = {
    [KEEPER_OUTCOME_SUCCESS] = "success",
    [KEEPER_OUTCOME_FAILED] = "failed",
    [KEEPER_OUTCOME_SKIPPED] = "skipped",
    [KEEPER_OUTCOME_RETRY] = "retry",
};
_Static_assert(ARRAY_LEN(OUTCOMES) == KEEPER_OUTCOME_COUNT, "every outcome has a row");

enum { DEFER_MS = 60000 }; /* when it does not say */

static int find_name(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (name != NULL && names[i] != NULL && strcmp(names[i], name) == 0)
            return (int)i;
    return -1;
}

static const char *fill_progress(struct keeper_report *report)
{
    const json_t *done = json_object_get(report->body, "done");
    const json_t *total = json_object_get(report->body, "total");
    if (!json_is_number(done) || json_number_value(done) < 0)
        return "progress: 'done' is not a number from 0 up";
    if (total != NULL && !json_is_null(total) &&
        (!json_is_number(total) || json_number_value(total) < 0))
        return "progress: 'total' is not a number from 0 up";
    report->done = json_number_value(done);
    report->total = json_is_number(total) ? json_number_value(total) : -1;
    report->text = json_get_string(report->body, "text", NULL);
    return NULL;
}

static const char *fill_value(struct keeper_report *report)
{
    report->key = json_get_string(report->body, "key", NULL);
    report->value = json_object_get(report->body, "value");
    if (report->key == NULL || report->key[0] == '\0')
        return "value: no 'key'";
    if (strlen(report->key) > LIMIT_ID_BYTES)
        return "value: 'key' is too long";
    if (report->value == NULL)
        return "value: no 'value'";
    return NULL;
}

static const char *fill_result(struct keeper_report *report)
{
    int outcome =
        find_name(OUTCOMES, ARRAY_LEN(OUTCOMES), json_get_string(report->body, "outcome", NULL));
    if (outcome < 0)
        return "result: 'outcome' is none of success, failed, skipped, retry";
    report->outcome = (enum keeper_outcome)outcome;
    report->reason = json_get_string(report->body, "reason", NULL);
    return NULL;
}

static bool read_instant(const json_t *value, int64_t *out_us)
{
    if (json_is_string(value))
        return instant_parse(json_string_value(value), out_us) && *out_us > 0;
    int64_t seconds = json_integer_value(value);
    *out_us = seconds * 1000000;
    return json_is_integer(value) && seconds > 0 && seconds <= INSTANT_US_MAX / 1000000;
}

static bool read_span(const json_t *value, int64_t *out_ms)
{
    return json_is_string(value)
               ? duration_parse(json_string_value(value), out_ms)
               : json_is_integer(value) && duration_from_seconds(json_integer_value(value), out_ms);
}

static const char *fill_defer(struct keeper_report *report)
{
    const json_t *after = json_object_get(report->body, "after");
    const json_t *until = json_object_get(report->body, "until");
    report->reason = json_get_string(report->body, "reason", NULL);
    report->after_ms = DEFER_MS;
    if (until != NULL && !read_instant(until, &report->until_us))
        return "defer: 'until' is no instant such as 2026-01-31T06:00:00Z";
    if (after != NULL && !read_span(after, &report->after_ms))
        return "defer: 'after' is no duration such as 5m, and no number of seconds";
    return NULL;
}

/* NULL, or what is wrong with the line. */
static const char *fill(struct keeper_report *report)
{
    const char *name = json_get_string(report->body, "type", NULL);
    int type = find_name(TYPES, ARRAY_LEN(TYPES), name);
    if (type < 0)
        return "'type' is none of progress, value, result, handle, defer";
    report->type = (enum keeper_report_type)type;
    switch (report->type) {
    case KEEPER_REPORT_PROGRESS:
        return fill_progress(report);
    case KEEPER_REPORT_VALUE:
        return fill_value(report);
    case KEEPER_REPORT_RESULT:
        return fill_result(report);
    case KEEPER_REPORT_DEFER:
        return fill_defer(report);
    case KEEPER_REPORT_HANDLE:
        return NULL;
    case KEEPER_REPORT_BAD:
    case KEEPER_REPORT_TYPE_COUNT:
        break;
    }
    UNREACHABLE("a type of the table");
}

void keeper_report_parse(const char *line, size_t length, struct keeper_report *out)
{
    struct err err = {0};
    const char *problem = NULL;
    *out = (struct keeper_report){.total = -1};
    if (json_parse(line, length, &out->body, &err) != STATUS_OK)
        problem = err.text;
    else if (!json_is_object(out->body))
        problem = "not a JSON object";
    else
        problem = fill(out);
    if (problem == NULL)
        return;
    struct keeper_report bad = {.type = KEEPER_REPORT_BAD, .total = -1};
    (void)snprintf(bad.problem, sizeof bad.problem, "%.*s", KEEPER_REPORT_PROBLEM_MAX - 1, problem);
    keeper_report_fini(out);
    *out = bad;
    out->text = out->problem;
}

void keeper_report_fini(struct keeper_report *report)
{
    json_decref(report->body);
    report->body = NULL;
}
