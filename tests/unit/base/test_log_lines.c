/*
 * Log lines as they arrive at the other end of standard error.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/json.h"
#include "base/log.h"
#include "expect.h"

struct capture {
    int pipe[2];
    int kept;
    char text[32768];
};

static void capture_begin(struct capture *capture)
{
    cr_assert_eq(pipe(capture->pipe), 0);
    capture->kept = dup(STDERR_FILENO);
    cr_assert_geq(dup2(capture->pipe[1], STDERR_FILENO), 0);
}

static const char *capture_end(struct capture *capture)
{
    (void)dup2(capture->kept, STDERR_FILENO);
    (void)close(capture->kept);
    (void)close(capture->pipe[1]);
    size_t length = 0;
    for (ssize_t got; (got = read(capture->pipe[0], capture->text + length,
                                  sizeof capture->text - 1 - length)) > 0;)
        length += (size_t)got;
    capture->text[length] = '\0';
    (void)close(capture->pipe[0]);
    return capture->text;
}

static struct capture capture;

Test(log_lines, text_form_has_time_level_event_and_fields)
{
    log_configure(LOG_INFO, false);
    capture_begin(&capture);
    log_warn("lease lost", LOG_STR("host", "a \"b\"\n\xff"), LOG_ID("task", INT64_MIN));
    log_error("bare");
    log_debug("too fine", LOG_INT("n", 1));
    const char *text = capture_end(&capture);

    EXPECT_CONTAINS(text, "Z warn  lease lost host=\"a \\\"b\\\"\\n\xEF\xBF\xBD\" "
                          "task=-9223372036854775808\n");
    EXPECT_CONTAINS(text, "Z error bare\n");
    cr_assert_null(strstr(text, "too fine"));
    cr_assert(log_is_on(LOG_INFO));
    cr_assert(!log_is_on(LOG_DEBUG));
}

Test(log_lines, json_form_is_one_object_per_line)
{
    struct err err = {0};
    log_configure(LOG_DEBUG, true);
    capture_begin(&capture);
    log_debug("task ended", LOG_STR("task", "a\"\\\n"), LOG_INT("code", -1));
    const char *text = capture_end(&capture);
    CLEANUP(json_decrefp) json_t *line = NULL;

    EXPECT_OK(json_parse(text, strlen(text), &line, &err), &err);

    EXPECT_STR("debug", json_get_string(line, "level", ""));
    EXPECT_STR("task ended", json_get_string(line, "event", ""));
    EXPECT_STR("a\"\\\n", json_get_string(line, "task", ""));
    cr_assert_eq(json_get_int(line, "code", 0), -1);
    cr_assert_eq(strchr(text, '\n'), text + strlen(text) - 1);
}

/* Fields that do not fit are left out whole: the line stays one line and valid. */
Test(log_lines, a_line_too_long_is_cut_between_fields_and_says_so)
{
    char *big = malloc(10001);
    memset(big, '"', 10000);
    big[10000] = '\0';
    for (size_t length = 4060; length <= 10000; length += length < 4100 ? 1 : 5900) {
        for (int json = 0; json <= 1; json++) {
            struct err err = {0};
            log_configure(LOG_INFO, json == 1);
            capture_begin(&capture);
            log_info("big", LOG_INT("first", 1), LOG_STR("text", big + 10000 - length));
            const char *text = capture_end(&capture);

            size_t bytes = strlen(text);
            cr_assert_leq(bytes, 8192);
            cr_assert_eq(strchr(text, '\n'), text + bytes - 1, "%zu", length);
            EXPECT_CONTAINS(text, "first");
            cr_assert_eq(strstr(text, "cut") != NULL, strstr(text, "text") == NULL, "%zu", length);
            CLEANUP(json_decrefp) json_t *line = NULL;
            if (json == 1)
                EXPECT_OK(json_parse(text, bytes, &line, &err), &err);
        }
    }
    free(big);
}
