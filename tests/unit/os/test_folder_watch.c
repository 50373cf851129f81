/*
 * Hearing of names in folders.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "expect.h"
#include "os/file.h"
#include "os/file_stamp.h"
#include "os/file_tree.h"
#include "os/folder_watch.h"

static char dir[64];
static struct folder_watch *watch;

static char *path_of(const char *name)
{
    static char paths[4][200];
    static unsigned turn;
    char *path = paths[turn++ % 4];
    (void)snprintf(path, sizeof paths[0], "%s/%s", dir, name);
    return path;
}

static void setup(void)
{
    struct err err = {0};
    (void)snprintf(dir, sizeof dir, "/tmp/eider-watch-XXXXXX");
    cr_assert_not_null(mkdtemp(dir));
    EXPECT_OK(folder_watch_open(&watch, &err), &err);
}

static void teardown(void)
{
    struct err err = {0};
    folder_watch_close(watch);
    int folder = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    EXPECT_OK(file_tree_remove(folder, dir + strlen("/tmp/"), &err), &err);
    (void)close(folder);
}

TestSuite(folder_watch, .init = setup, .fini = teardown);

static bool watch_folders(const char *first, const char *second)
{
    struct err err = {0};
    bool is_new = false;
    folder_watch_begin(watch);
    EXPECT_OK(folder_watch_add(watch, first, 1, NULL, &err), &err);
    if (second != NULL)
        EXPECT_OK(folder_watch_add(watch, second, 2, NULL, &err), &err);
    folder_watch_end(watch, &is_new);
    return is_new;
}

static void note(void *context, const struct folder_news *news)
{
    char *text = context;
    size_t used = strlen(text);
    (void)snprintf(text + used, 400 - used, "%d:%s%s ", news->tag,
                   news->name != NULL ? news->name : "*", news->is_folder ? "/" : "");
}

/* What is heard until `part` was; the kernel has queued everything when the change returned. */
static const char *heard(void)
{
    static char text[400];
    text[0] = '\0';
    folder_watch_wait(watch, -1, 0);
    folder_watch_read(watch, note, text);
    return text;
}

static void write_file(const char *name, const char *text)
{
    struct err err = {0};
    int fd = open(path_of(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    EXPECT_OK(file_write_fd(fd, name, text, strlen(text), &err), &err);
    (void)close(fd);
}

Test(folder_watch, names_that_come_change_and_go_are_told)
{
    cr_assert(watch_folders(dir, NULL));
    EXPECT_STR("", heard());
    write_file("a", "x");
    EXPECT_STR("1:a 1:a ", heard());
    cr_assert_eq(rename(path_of("a"), path_of("b")), 0);
    EXPECT_STR("1:a 1:b ", heard());
    cr_assert_eq(mkdir(path_of("sub"), 0755), 0);
    EXPECT_STR("1:sub/ ", heard());
    cr_assert_eq(symlink("b", path_of("link")), 0);
    EXPECT_STR("1:link ", heard());
    cr_assert_eq(unlink(path_of("b")), 0);
    EXPECT_CONTAINS(heard(), "1:b ");
}

Test(folder_watch, folders_are_replaced_as_a_set)
{
    struct err err = {0};
    cr_assert_eq(mkdir(path_of("one"), 0755), 0);
    cr_assert_eq(mkdir(path_of("two"), 0755), 0);
    cr_assert(watch_folders(path_of("one"), path_of("two")));
    cr_assert_not(watch_folders(path_of("one"), path_of("two")), "both are watched already");
    write_file("two/x", "");
    EXPECT_CONTAINS(heard(), "2:x");
    cr_assert_not(watch_folders(path_of("one"), NULL));
    write_file("two/y", "");
    cr_assert_null(strstr(heard(), "y"), "no longer watched");
    write_file("one/z", "");
    EXPECT_CONTAINS(heard(), "1:z");
    EXPECT_STATUS(STATUS_NOT_FOUND, folder_watch_add(watch, path_of("none"), 1, NULL, &err), &err);
}

Test(folder_watch, a_folder_that_is_added_twice_keeps_its_first_tag)
{
    struct err err = {0};
    bool is_new = false;
    int tag = -1;
    cr_assert_eq(mkdir(path_of("one"), 0755), 0);
    cr_assert_eq(symlink("one", path_of("link")), 0);
    folder_watch_begin(watch);
    EXPECT_OK(folder_watch_add(watch, path_of("one"), 5, &tag, &err), &err);
    cr_assert_eq(tag, 5);
    EXPECT_OK(folder_watch_add(watch, path_of("link"), 6, &tag, &err), &err);
    cr_assert_eq(tag, 5);
    folder_watch_end(watch, &is_new);
    write_file("one/x", "");
    EXPECT_CONTAINS(heard(), "5:x ");
    folder_watch_begin(watch);
    EXPECT_OK(folder_watch_add(watch, path_of("link"), 6, &tag, &err), &err);
    folder_watch_end(watch, &is_new);
    cr_assert_eq(tag, 6, "another set, another tag");
    cr_assert_not(is_new);
    cr_assert_eq(chmod(path_of("one"), 0700), 0);
    EXPECT_STR("0:* ", heard());
}

Test(folder_watch, a_folder_that_goes_means_anything)
{
    cr_assert_eq(mkdir(path_of("one"), 0755), 0);
    cr_assert(watch_folders(path_of("one"), NULL));
    cr_assert_eq(rmdir(path_of("one")), 0);
    EXPECT_CONTAINS(heard(), ":* ");
    cr_assert_eq(mkdir(path_of("one"), 0755), 0);
    cr_assert(watch_folders(path_of("one"), NULL), "another folder of the same name");
}

Test(folder_watch, a_stamp_tells_what_was_touched)
{
    struct file_stamp first;
    struct file_stamp second;
    cr_assert_not(file_stamp_read(path_of("a"), &first));
    cr_assert_not(file_stamp_read(dir, &first), "a folder is no file");
    write_file("a", "x");
    cr_assert(file_stamp_read(path_of("a"), &first));
    cr_assert(file_stamp_read(path_of("a"), &second));
    cr_assert(file_stamp_equal(&first, &second));
    write_file("b", "x");
    cr_assert_eq(rename(path_of("b"), path_of("a")), 0);
    cr_assert(file_stamp_read(path_of("a"), &second));
    cr_assert_not(file_stamp_equal(&first, &second), "the same bytes in another file");
}
