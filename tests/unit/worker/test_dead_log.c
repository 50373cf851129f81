/*
 * The file of dead letters: one whole line each, whatever was there before.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "expect.h"
#include "os/file.h"
#include "worker/dead_log.h"

static char dir[64];
static char path[96];

static void setup(void)
{
    (void)snprintf(dir, sizeof dir, "/tmp/eider-dead-XXXXXX");
    cr_assert_not_null(mkdtemp(dir));
    (void)snprintf(path, sizeof path, "%s/" DEAD_LOG_NAME, dir);
}

static void teardown(void)
{
    (void)umount2(dir, MNT_DETACH); /* of a test that failed */
    (void)unlink(path);
    (void)rmdir(dir);
}

TestSuite(dead_log, .init = setup, .fini = teardown);

static const struct dead_info LETTER = {
    .task = 9007199254740993,
    .queue = "mail",
    .name = "send",
    .at_us = 1700000000000000,
    .reason = REASON_EXIT,
    .attempt = 4,
    .detail = "line one\nline two",
    .payload = "{\"to\": \"a@b\"}",
};

static char *content(void)
{
    struct err err = {0};
    char *bytes = NULL;
    size_t length = 0;
    EXPECT_OK(file_read(path, 1 << 20, &bytes, &length, &err), &err);
    return bytes;
}

Test(dead_log, a_letter_is_one_line_with_everything_in_it)
{
    struct err err = {0};
    CLEANUP(json_decrefp) json_t *line = NULL;

    EXPECT_OK(dead_log_append(path, &LETTER, &err), &err);

    CLEANUP(mem_freep) char *text = content();
    cr_assert_eq(strchr(text, '\n'), text + strlen(text) - 1, "one line");
    EXPECT_OK(json_parse(text, strlen(text), &line, &err), &err);
    EXPECT_STR("9007199254740993", json_get_string(line, "id", ""));
    cr_assert(json_is_null(json_object_get(line, "run")), "a job");
    EXPECT_STR("mail", json_get_string(line, "queue", ""));
    EXPECT_STR("send", json_get_string(line, "name", ""));
    EXPECT_STR("exit", json_get_string(line, "reason", ""));
    EXPECT_STR("2023-11-14T22:13:20Z", json_get_string(line, "at", ""));
    EXPECT_STR(LETTER.detail, json_get_string(line, "detail", ""));
    EXPECT_STR("a@b", json_get_string(json_object_get(line, "payload"), "to", ""));
    cr_assert_eq(json_get_int(line, "attempt", 0), 4);
}

Test(dead_log, a_task_has_its_run_and_what_is_not_json_is_a_text)
{
    struct err err = {0};
    CLEANUP(json_decrefp) json_t *line = NULL;
    struct dead_info letter = LETTER;
    letter.run = 12;
    letter.payload = "not { json";
    letter.detail = NULL;

    EXPECT_OK(dead_log_append(path, &letter, &err), &err);

    CLEANUP(mem_freep) char *text = content();
    EXPECT_OK(json_parse(text, strlen(text), &line, &err), &err);
    EXPECT_STR("12", json_get_string(line, "run", ""));
    EXPECT_STR("not { json", json_get_string(line, "payload", ""));
    cr_assert(json_is_null(json_object_get(line, "detail")));
}

Test(dead_log, a_line_that_was_cut_spoils_only_itself)
{
    struct err err = {0};
    FILE *file = fopen(path, "w");
    (void)fputs("{\"id\":\"1\"}\n{\"id\":\"2", file);
    (void)fclose(file);

    EXPECT_OK(dead_log_append(path, &LETTER, &err), &err);
    EXPECT_OK(dead_log_append(path, &LETTER, &err), &err);

    CLEANUP(mem_freep) char *text = content();
    EXPECT_CONTAINS(text, "{\"id\":\"1\"}\n{\"id\":\"2\n{");
    size_t lines = 0;
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    cr_assert_eq(lines, 4);
}

Test(dead_log, a_full_disk_says_so_and_leaves_whole_lines)
{
    struct err err = {0};
    if (mount("tmpfs", dir, "tmpfs", 0, "size=16k") != 0)
        cr_skip("only root can make a small disk");
    enum status status = STATUS_OK;
    for (int i = 0; i < 1000 && status == STATUS_OK; i++)
        status = dead_log_append(path, &LETTER, &err);

    cr_assert_eq(status, STATUS_FULL, "%s", err.text);
    CLEANUP(mem_freep) char *text = content();
    cr_assert_eq(text[strlen(text) - 1], '\n');
    cr_assert_eq(umount(dir), 0);
}

Test(dead_log, a_place_that_is_not_there_is_named)
{
    struct err err = {0};
    EXPECT_STATUS(STATUS_NOT_FOUND, dead_log_append("/nowhere/x.jsonl", &LETTER, &err), &err);
    EXPECT_CONTAINS(err.text, "/nowhere/x.jsonl");
}
