/*
 * Ids of traces: the same on every host, and those of the caller where there is one.
 */
#include <string.h>

#include "expect.h"
#include "model/span.h"

#define TRACE  "0af7651916cd43dd8448eb211c80319c"
#define CALLER "b7ad6b7169203331"

Test(span, a_header_is_read)
{
    struct span_ids ids;
    cr_assert(traceparent_parse("00-" TRACE "-" CALLER "-01", &ids));
    cr_expect_str_eq(ids.trace, TRACE);
    cr_expect_str_eq(ids.span, CALLER);
    cr_expect(traceparent_parse("cc-" TRACE "-" CALLER "-01-more", &ids), "of a later version");
}

Test(span, what_is_no_header_is_none)
{
    static const char *const WRONG[] = {
        "",
        "00",
        "00-" TRACE "-" CALLER,
        "00-" TRACE "-" CALLER "-0",
        "00-" TRACE "-" CALLER "-01-more",
        "00-" TRACE "-" CALLER "-01x",
        "ff-" TRACE "-" CALLER "-01",
        "00-00000000000000000000000000000000-" CALLER "-01",
        "00-" TRACE "-0000000000000000-01",
        "00-0AF7651916CD43DD8448EB211C80319C-" CALLER "-01",
        "00_" TRACE "-" CALLER "-01",
        "00-" TRACE CALLER "--01",
        "zz-" TRACE "-" CALLER "-01",
        "00-" TRACE "-" CALLER "-zz",
    };
    struct span_ids ids;
    for (size_t i = 0; i < ARRAY_LEN(WRONG); i++)
        cr_expect(!traceparent_parse(WRONG[i], &ids), "%s", WRONG[i]);
}

Test(span, attempts_are_below_their_run)
{
    const struct span run = {.run = 7};
    const struct span first = {.run = 7, .task = 70, .attempt = 1};
    const struct span second = {.run = 7, .task = 70, .attempt = 2};
    struct span_ids of_run, of_first, of_second, again;
    span_ids_make("u", &run, NULL, &of_run);
    span_ids_make("u", &first, NULL, &of_first);
    span_ids_make("u", &second, NULL, &of_second);
    span_ids_make("u", &first, NULL, &again);
    cr_expect_str_eq(of_run.parent, "");
    cr_expect_str_eq(of_first.parent, of_run.span);
    cr_expect_str_eq(of_second.parent, of_run.span);
    cr_expect_str_eq(of_first.trace, of_run.trace);
    cr_expect_str_eq(again.span, of_first.span);
    cr_expect_str_neq(of_second.span, of_first.span);
    struct span_ids elsewhere;
    span_ids_make("v", &run, NULL, &elsewhere);
    cr_expect_str_neq(elsewhere.trace, of_run.trace);
    cr_expect_eq(strlen(of_run.trace), 32);
    cr_expect_eq(strlen(of_run.span), 16);
}

Test(span, a_run_is_part_of_the_trace_that_asked_for_it)
{
    const struct span run = {.run = 7};
    const struct span task = {.run = 7, .task = 70, .attempt = 1};
    struct span_ids of_run, of_task, again;
    char text[TRACEPARENT_MAX];
    span_ids_make("u", &run, "00-" TRACE "-" CALLER "-01", &of_run);
    span_ids_make("u", &task, "00-" TRACE "-" CALLER "-01", &of_task);
    cr_expect_str_eq(of_run.trace, TRACE);
    cr_expect_str_eq(of_run.parent, CALLER);
    cr_expect_str_eq(of_task.trace, TRACE);
    cr_expect_str_eq(of_task.parent, of_run.span);
    cr_assert(traceparent_parse(traceparent_format(&of_task, text), &again));
    cr_expect_str_eq(again.span, of_task.span);
}
