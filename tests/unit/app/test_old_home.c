/*
 * What a daemon of before left in a home, and the store it goes to.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/home.h"
#include "app/old_home.h"
#include "base/mem.h"
#include "expect.h"
#include "os/file.h"
#include "os/file_tree.h"
#include "store/journal.h"

static const char UUID[] = "0b54ec6a-9a0c-4a5e-8f0a-1d1f3c9f2b11";

static char dir[64];
static struct settings settings;
static struct home home;
static char *old_path, *new_path;

static void setup(void)
{
    struct err err = {0};
    struct settings_layers layers = {.defaults = {[SETTING_SLOTS] = "4"}};
    (void)snprintf(dir, sizeof dir, "/tmp/eider-old-home-XXXXXX");
    cr_assert_not_null(mkdtemp(dir));
    EXPECT_OK(settings_resolve(&layers, &settings, &err), &err);
    EXPECT_OK(home_init(&settings, dir, &home, &err), &err);
    EXPECT_OK(home_make(&home, &err), &err);
    old_path = mem_format("%s/hosts/outcomes.db", dir);
    new_path = mem_format("%s/stores/%s/outcomes.db", dir, UUID);
    CLEANUP(mem_freep) char *kept = mem_format("%s/stores/%s", dir, UUID);
    CLEANUP(mem_freep) char *daemon = mem_format("%s/hosts/daemon.json", dir);
    CLEANUP(mem_freep) char *text = mem_format("{\"host\":\"5\",\"store\":\"%s\"}", UUID);
    EXPECT_OK(file_tree_make(kept, 0700, &err), &err);
    EXPECT_OK(file_write_atomic(daemon, text, strlen(text), 0600, &err), &err);
}

static void teardown(void)
{
    struct err err = {0};
    CLEANUP(file_closep) int parent = -1;
    EXPECT_OK(file_open_directory("/tmp", &parent, &err), &err);
    EXPECT_OK(file_tree_remove(parent, dir + strlen("/tmp/"), &err), &err);
    free(old_path);
    free(new_path);
    home_fini(&home);
    settings_fini(&settings);
}

TestSuite(old_home, .init = setup, .fini = teardown);

static struct journal *open_journal(const char *path)
{
    struct err err = {0};
    struct journal *journal = NULL;
    char *kept_as = NULL;
    EXPECT_OK(journal_open(path, &journal, &kept_as, &err), &err);
    cr_assert_null(kept_as);
    return journal;
}

static void note(const char *path, int64_t task)
{
    struct err err = {0};
    CLEANUP(journal_closep) struct journal *journal = open_journal(path);
    struct outcome outcome = {.task = task, .attempt = 1, .kind = OUTCOME_END};
    EXPECT_OK(journal_add(journal, &outcome, 1, &err), &err);
}

static int64_t waiting_in(const char *path)
{
    struct err err = {0};
    struct journal_size size = {0};
    CLEANUP(journal_closep) struct journal *journal = open_journal(path);
    EXPECT_OK(journal_count(journal, &size, &err), &err);
    return size.waiting;
}

Test(old_home, a_journal_of_before_is_moved)
{
    note(old_path, 1);
    old_home_take_daemon(&home);
    cr_assert_eq(waiting_in(new_path), 1);
    cr_assert_neq(access(old_path, F_OK), 0);
}

Test(old_home, a_journal_that_is_there_already_gets_what_the_other_has)
{
    note(old_path, 1);
    note(old_path, 2);
    note(new_path, 2);
    note(new_path, 3);
    old_home_take_daemon(&home);
    cr_assert_eq(waiting_in(new_path), 3);
    cr_assert_neq(access(old_path, F_OK), 0);
}

/* Left by a crash between the two: the newest rows may be in the log. */
Test(old_home, the_log_of_a_journal_goes_with_it)
{
    struct err err = {0};
    CLEANUP(mem_freep) char *log = mem_format("%s-wal", old_path);
    note(old_path, 1);
    EXPECT_OK(file_write_atomic(log, "", 0, 0600, &err), &err);
    old_home_take_daemon(&home);
    cr_assert_neq(access(log, F_OK), 0);
    cr_assert_eq(waiting_in(new_path), 1);
}
