/*
 * The watcher on real folders; tests wait until it calls.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "expect.h"
#include "os/knock.h"
#include "sched/file_watcher.h"

static char folder[64];
static int knock_fd = -1;
static struct file_watcher *watcher;

static void wake(void *context)
{
    knock_send(*(int *)context);
}

static void setup(void)
{
    struct err err = {0};
    (void)snprintf(folder, sizeof folder, "/tmp/eider-files-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    EXPECT_OK(knock_open(&knock_fd, &err), &err);
    watcher = file_watcher_new(
        &(struct file_watcher_options){.scan_ms = 50, .wake = wake, .context = &knock_fd});
}

static void teardown(void)
{
    file_watcher_free(watcher);
    (void)close(knock_fd);
    CLEANUP(mem_freep) char *command = mem_format("rm -r %s", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(file_watcher, .init = setup, .fini = teardown, .timeout = 60);

/* All at once, so that no half of it can settle. */
static void write_file(const char *name, const char *text)
{
    CLEANUP(mem_freep) char *path = mem_format("%s/%s", folder, name);
    CLEANUP(mem_freep) char *part = mem_format("%s/.part", folder);
    FILE *file = fopen(part, "w");
    cr_assert_not_null(file);
    cr_assert_geq(fputs(text, file), 0);
    cr_assert_eq(fclose(file), 0);
    cr_assert_eq(rename(part, path), 0);
}

static void watch(const char *pattern, int64_t since_us)
{
    struct err err = {0};
    CLEANUP(mem_freep) char *path = mem_format("%s/%s", folder, pattern);
    struct file_watch wanted = {.dag_key = 5, .path = path, .settle_ms = 1, .since_us = since_us};
    EXPECT_OK(file_watcher_set(watcher, &wanted, 1, &err), &err);
}

/* The next arrival must be of this file. */
static void expect_arrival(const char *name)
{
    const struct file_arrival *arrival = NULL;
    while ((arrival = file_watcher_first(watcher)) == NULL) {
        knock_wait(knock_fd, 10000);
        knock_clear(knock_fd);
    }
    CLEANUP(mem_freep) char *path = mem_format("%s/%s", folder, name);
    EXPECT_STR(path, arrival->path);
    cr_assert_eq(arrival->dag_key, 5);
    file_watcher_drop(watcher);
}

Test(file_watcher, files_that_match_arrive_once_each)
{
    watch("*.csv", 0);
    write_file("note.txt", "x");
    write_file(".hidden.csv", "x");
    write_file("one.csv", "1");
    expect_arrival("one.csv");
    write_file("two.csv", "2");
    expect_arrival("two.csv");
    write_file("one.csv", "another");
    expect_arrival("one.csv");
}

Test(file_watcher, what_is_there_when_it_begins_arrives_and_what_it_knows_does_not_again)
{
    write_file("one.csv", "1");
    watch("*.csv", 0);
    expect_arrival("one.csv");
    watch("o*.csv", 0);
    expect_arrival("one.csv");
    watch("o*.csv", 1);
    expect_arrival("one.csv");
    watch("*.csv", INT64_MAX);
    write_file("two.csv", "1");
    watch("t*.csv", 0);
    expect_arrival("two.csv");
}

Test(file_watcher, a_folder_that_comes_later_is_found)
{
    watch("later/x", 0);
    CLEANUP(mem_freep) char *path = mem_format("%s/later", folder);
    cr_assert_eq(mkdir(path, 0700), 0);
    write_file("later/x", "1");
    expect_arrival("later/x");
}

Test(file_watcher, without_anything_to_watch_it_is_nothing)
{
    struct err err = {0};
    EXPECT_OK(file_watcher_set(watcher, NULL, 0, &err), &err);
    cr_assert_null(file_watcher_first(watcher));
}
