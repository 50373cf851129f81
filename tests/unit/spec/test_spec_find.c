#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "expect.h"
#include "spec/spec_find.h"

static void put(const char *root, const char *name, const char *text)
{
    CLEANUP(mem_freep) char *path = mem_format("%s/%s", root, name);
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file, "%s", path);
    cr_assert(fputs(text, file) >= 0);
    cr_assert_eq(fclose(file), 0);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)walk;
    return remove(path);
}

static void remove_tree(const char *root)
{
    cr_assert_eq(nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static void expect_found(const char *root, const char *wanted)
{
    struct spec_paths paths = {0};
    struct err err = {0};
    EXPECT_OK(spec_find_files(root, &paths, &err), &err);
    struct strbuf names;
    strbuf_init(&names, 4096);
    for (size_t i = 0; i < paths.count; i++)
        strbuf_addf(&names, "%s ", paths.items[i] + strlen(root) + 1);
    EXPECT_STR(wanted, names.text);
    strbuf_fini(&names);
    spec_paths_fini(&paths);
}

Test(spec_find, files_are_found_below_a_folder_but_for_those_ignored)
{
    char root[] = "/tmp/test_spec_find.XXXXXX";
    cr_assert_not_null(mkdtemp(root));
    static const char *const FILES[] = {
        "b.yaml",          "a.yml",           "c.txt",        "_draft.yaml", ".hidden.yaml",
        "sub/x.yaml",      "sub/deep/y.yaml", "_old/z.yaml",  ".git/w.yaml", "build/out.yaml",
        "sub/build/q.yml", "only/top.yaml",   "sub/top.yaml", "keep/k.yaml", "keep/drop.yaml",
        "test/t1.yaml",    "test/a/t2.yaml",
    };
    for (size_t i = 0; i < ARRAY_LEN(FILES); i++)
        put(root, FILES[i], "");
    expect_found(root, "a.yml b.yaml build/out.yaml keep/drop.yaml keep/k.yaml only/top.yaml "
                       "sub/build/q.yml sub/deep/y.yaml sub/top.yaml sub/x.yaml test/a/t2.yaml "
                       "test/t1.yaml ");

    put(root, ".eiderignore",
        "# comment\n\nbuild/\n/only/*.yaml\ndrop*\n!keep/drop.yaml\n"
        "test/**\n**/deep\n  \n");
    expect_found(root, "a.yml b.yaml keep/drop.yaml keep/k.yaml sub/top.yaml sub/x.yaml ");

    put(root, "sub/.eiderignore", "/top.yaml\r\n");
    expect_found(root, "a.yml b.yaml keep/drop.yaml keep/k.yaml sub/x.yaml ");
    remove_tree(root);
}

Test(spec_find, a_file_is_itself_and_nothing_is_not_found)
{
    struct spec_paths paths = {0};
    struct err err = {0};
    EXPECT_OK(spec_find_files("/dev/null", &paths, &err), &err);
    cr_assert_eq(paths.count, 1);
    EXPECT_STR("/dev/null", paths.items[0]);
    EXPECT_STATUS(STATUS_NOT_FOUND, spec_find_files("/nonexistent/x", &paths, &err), &err);
    cr_expect_eq(paths.count, 1);
    spec_paths_fini(&paths);
}

Test(spec_find, links_that_lead_round_in_circles_end)
{
    char root[] = "/tmp/test_spec_find.XXXXXX";
    cr_assert_not_null(mkdtemp(root));
    put(root, "a.yaml", "");
    CLEANUP(mem_freep) char *link = mem_format("%s/loop", root);
    cr_assert_eq(symlink(root, link), 0);
    expect_found(root, "a.yaml ");
    remove_tree(root);
}
