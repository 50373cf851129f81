#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "expect.h"
#include "os/file.h"
#include "os/file_lock.h"
#include "os/file_tree.h"

static char dir[64];
static int dir_fd = -1;

static void set_up(void)
{
    struct err err = {0};
    (void)snprintf(dir, sizeof dir, "/tmp/eider-file-XXXXXX");
    cr_assert_not_null(mkdtemp(dir));
    EXPECT_OK(file_open_directory(dir, &dir_fd, &err), &err);
}

static void tear_down(void)
{
    struct err err = {0};
    int tmp = -1;
    EXPECT_OK(file_open_directory("/tmp", &tmp, &err), &err);
    EXPECT_OK(file_tree_remove(tmp, dir + 5, &err), &err);
    file_closep(&tmp);
    file_closep(&dir_fd);
}

TestSuite(file, .init = set_up, .fini = tear_down);

static char *in_dir(const char *name)
{
    return file_path_join(dir, name);
}

Test(file, paths_are_joined_with_one_slash)
{
    static const char *const CASES[][3] = {
        {"a", "b", "a/b"}, {"a/", "b", "a/b"}, {"/", "b", "/b"}, {"a", "/b", "/b"}, {"", "b", "b"}};
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        CLEANUP(mem_freep) char *path = file_path_join(CASES[i][0], CASES[i][1]);
        EXPECT_STR(CASES[i][2], path);
    }
}

Test(file, a_file_is_written_whole_and_read_up_to_the_bound)
{
    struct err err = {0};
    CLEANUP(mem_freep) char *path = in_dir("x");
    CLEANUP(mem_freep) char *bytes = NULL;
    size_t length = 77;
    EXPECT_STATUS(STATUS_NOT_FOUND, file_read(path, 10, &bytes, &length, &err), &err);
    EXPECT_OK(file_write_atomic(path, "a\0b", 3, 0640, &err), &err);

    EXPECT_STATUS(STATUS_LIMIT, file_read(path, 2, &bytes, &length, &err), &err);
    cr_assert_eq(length, 77);
    EXPECT_OK(file_read(path, 3, &bytes, &length, &err), &err);

    cr_assert_eq(length, 3);
    cr_assert_eq(memcmp(bytes, "a\0b", 4), 0);
    struct stat info;
    cr_assert_eq(stat(path, &info), 0);
    cr_assert_eq(info.st_mode & 0777, 0640);
    EXPECT_STATUS(STATUS_INVALID, file_read(dir, 3, &bytes, &length, &err), &err);
    EXPECT_STATUS(STATUS_NOT_FOUND, file_write_atomic("/no/such/x", "", 0, 0600, &err), &err);
}

Test(file, a_fifo_is_refused_without_waiting)
{
    struct err err = {0};
    CLEANUP(mem_freep) char *path = in_dir("fifo");
    cr_assert_eq(mkfifo(path, 0600), 0);
    char *bytes = NULL;
    size_t length = 0;
    EXPECT_STATUS(STATUS_INVALID, file_read(path, 10, &bytes, &length, &err), &err);
}

Test(file, nothing_outside_a_directory_can_be_opened_through_it)
{
    struct err err = {0};
    cr_assert_eq(symlinkat("/etc/passwd", dir_fd, "absolute"), 0);
    cr_assert_eq(symlinkat("inside", dir_fd, "relative"), 0);
    cr_assert_eq(symlinkat("/", dir_fd, "root"), 0);
    EXPECT_OK(file_write_atomic_beneath(dir_fd, "inside", "x", 1, 0600, &err), &err);
    static const char *const BAD[] = {"absolute", "relative",    "root/etc/passwd",
                                      "../",      "/etc/passwd", "a/../../etc"};
    EXPECT_OK(file_tree_make_beneath(dir_fd, "a/b/c", 0700, &err), &err);
    for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
        int fd = -1;
        EXPECT_STATUS(STATUS_DENIED, file_open_beneath(dir_fd, BAD[i], O_RDONLY, 0, &fd, &err),
                      &err);
        cr_assert_eq(fd, -1);
    }
    int fd = -1;
    EXPECT_OK(file_open_beneath(dir_fd, "inside", O_RDONLY, 0, &fd, &err), &err);
    cr_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    file_closep(&fd);
    cr_assert_neq(file_tree_make_beneath(dir_fd, "root/tmp/eider-no", 0700, &err), STATUS_OK);
    cr_assert_neq(access("/tmp/eider-no", F_OK), 0);
}

Test(file, directories_are_made_with_their_parents)
{
    struct err err = {0};
    CLEANUP(mem_freep) char *deep = in_dir("p/q/r");
    EXPECT_OK(file_tree_make(deep, 0700, &err), &err);
    EXPECT_OK(file_tree_make(deep, 0700, &err), &err);
    struct stat info;
    cr_assert_eq(stat(deep, &info), 0);
    cr_assert_eq(info.st_mode & 0777, 0700);
    CLEANUP(mem_freep) char *file = in_dir("f");
    EXPECT_OK(file_write_atomic(file, "", 0, 0600, &err), &err);
    EXPECT_STATUS(STATUS_INVALID, file_tree_make(file, 0700, &err), &err);
}

Test(file, a_list_is_sorted_and_bounded)
{
    struct err err = {0};
    EXPECT_OK(file_write_atomic_beneath(dir_fd, "b", "", 0, 0600, &err), &err);
    EXPECT_OK(file_tree_make_beneath(dir_fd, "a", 0700, &err), &err);
    cr_assert_eq(symlinkat("x", dir_fd, "c"), 0);
    struct file_tree_list list = {0};
    EXPECT_STATUS(STATUS_LIMIT, file_tree_list(dir_fd, 2, &list, &err), &err);
    EXPECT_OK(file_tree_list(dir_fd, 3, &list, &err), &err);
    cr_assert_eq(list.count, 3);
    EXPECT_STR("a", list.entries[0].name);
    cr_assert_eq(list.entries[0].type, DT_DIR);
    cr_assert_eq(list.entries[1].type, DT_REG);
    cr_assert_eq(list.entries[2].type, DT_LNK);
    file_tree_list_fini(&list);
}

Test(file, removing_a_tree_takes_links_away_and_leaves_their_targets)
{
    struct err err = {0};
    CLEANUP(mem_freep) char *precious = in_dir("precious");
    EXPECT_OK(file_write_atomic(precious, "x", 1, 0600, &err), &err);
    EXPECT_OK(file_tree_make_beneath(dir_fd, "tree/a/b/c", 0700, &err), &err);
    EXPECT_OK(file_write_atomic_beneath(dir_fd, "tree/a/file", "y", 1, 0400, &err), &err);
    cr_assert_eq(symlinkat("../precious", dir_fd, "tree/link"), 0);
    cr_assert_eq(symlinkat("..", dir_fd, "tree/a/up"), 0);
    EXPECT_OK(file_tree_make_beneath(dir_fd, "tree/locked/in", 0700, &err), &err);
    CLEANUP(mem_freep) char *locked = in_dir("tree/locked");
    cr_assert_eq(chmod(locked, 0), 0);

    EXPECT_OK(file_tree_remove(dir_fd, "tree", &err), &err);
    EXPECT_OK(file_tree_remove(dir_fd, "tree", &err), &err);

    cr_assert_eq(faccessat(dir_fd, "tree", F_OK, 0), -1);
    cr_assert_eq(access(precious, F_OK), 0);
}

Test(file, a_lock_has_one_holder_and_can_be_asked_for)
{
    struct err err = {0};
    CLEANUP(mem_freep) char *path = in_dir("lock");
    struct file_lock lock = {0}, second = {0};
    bool held = true;
    EXPECT_OK(file_lock_is_held(path, &held, &err), &err);
    cr_assert_not(held);
    EXPECT_OK(file_lock_try(path, &lock, &err), &err);
    EXPECT_STATUS(STATUS_BUSY, file_lock_try(path, &second, &err), &err);
    EXPECT_OK(file_lock_is_held(path, &held, &err), &err);
    cr_assert(held);
    file_lock_release(&lock);
    file_lock_release(&lock);
    EXPECT_OK(file_lock_is_held(path, &held, &err), &err);
    cr_assert_not(held);
    EXPECT_OK(file_lock_hold(path, &second, &err), &err);
    file_lock_release(&second);
}

Test(file, file_systems_are_looked_at)
{
    struct err err = {0};
    bool network = true;
    uint64_t bytes = 0;
    EXPECT_OK(file_is_on_network_fs("/proc", &network, &err), &err);
    cr_assert_not(network);
    EXPECT_OK(file_free_bytes(dir, &bytes, &err), &err);
    cr_assert_gt(bytes, 0);
    EXPECT_STATUS(STATUS_NOT_FOUND, file_is_on_network_fs("/no/such", &network, &err), &err);
}
