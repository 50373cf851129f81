#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "client/contexts.h"
#include "expect.h"

static char *new_path(void)
{
    char dir[] = "/tmp/eider-contexts-XXXXXX";
    cr_assert_not_null(mkdtemp(dir));
    return mem_format("%s/deep/eider/contexts.json", dir);
}

static void add(struct contexts *contexts, const char *name, const char *server, const char *token)
{
    struct err err = {0};
    struct context context = {
        .name = (char *)(uintptr_t)name,
        .server = (char *)(uintptr_t)server,
        .token = (char *)(uintptr_t)token,
        .ca_file = (char[]){""},
    };
    EXPECT_OK(contexts_add(contexts, &context, &err), &err);
}

static void write_text(const char *path, const char *text, mode_t mode)
{
    FILE *file = fopen(path, "we");
    cr_assert_not_null(file);
    (void)fputs(text, file);
    (void)fclose(file);
    cr_assert_eq(chmod(path, mode), 0);
}

Test(contexts, what_is_kept_is_read_again_and_nobody_else_may_read_it)
{
    CLEANUP(mem_freep) char *path = new_path();
    struct contexts kept = {0};
    struct contexts read = {0};
    struct err err = {0};
    struct stat status;
    EXPECT_OK(contexts_load(path, &read, &err), &err);
    cr_expect_eq(read.count, 0);

    add(&kept, "prod", "https://p.example/", "secret");
    add(&kept, "lab", "https://l.example", "");
    contexts_use(&kept, "prod");
    EXPECT_OK(contexts_save(path, &kept, &err), &err);
    contexts_fini(&read);
    EXPECT_OK(contexts_load(path, &read, &err), &err);

    cr_assert_eq(read.count, 2);
    EXPECT_STR("lab", read.items[0].name);
    EXPECT_STR("https://p.example", contexts_find(&read, "prod")->server);
    EXPECT_STR("secret", contexts_find(&read, "prod")->token);
    EXPECT_STR("prod", read.current);
    cr_expect_eq(stat(path, &status), 0);
    cr_expect_eq(status.st_mode & 0777, 0600);
    contexts_fini(&kept);
    contexts_fini(&read);
    contexts_fini(&read);
}

Test(contexts, one_of_the_same_name_is_replaced_and_one_that_goes_is_not_in_use)
{
    struct contexts contexts = {0};
    const struct context *found = NULL;
    struct err err = {0};
    add(&contexts, "b", "https://b.example", "1");
    add(&contexts, "a", "https://a.example", "2");
    add(&contexts, "b", "https://c.example", "3");
    cr_assert_eq(contexts.count, 2);
    EXPECT_STR("3", contexts_find(&contexts, "b")->token);
    EXPECT_STR("b", contexts_find_server(&contexts, "https://c.example//")->name);
    cr_expect_null(contexts_find_server(&contexts, "https://c.example.org"));
    cr_expect_null(contexts_find_server(&contexts, "https://c.exampl"));

    contexts_use(&contexts, "b");
    contexts_remove(&contexts, "b");

    EXPECT_STR("", contexts.current);
    cr_expect_eq(contexts_need(&contexts, "b", &found, &err), STATUS_NOT_FOUND);
    EXPECT_OK(contexts_need(&contexts, "a", &found, &err), &err);
    contexts_fini(&contexts);
}

Test(contexts, a_file_that_is_none_is_refused)
{
    static const struct {
        const char *text;
        mode_t mode;
        enum status status;
    } CASES[] = {
        {"{\"contexts\": {}}", 0640, STATUS_DENIED},
        {"{\"contexts\": {}}", 0602, STATUS_DENIED},
        {"{\"contexts\"", 0600, STATUS_INVALID},
        {"{\"contexts\": {\"a\": {}}}", 0600, STATUS_INVALID},
        {"{\"contexts\": {\"a b\": {\"server\": \"http://h\"}}}", 0600, STATUS_INVALID},
        {"{\"contexts\": {\"off\": {\"server\": \"http://h\"}}}", 0600, STATUS_INVALID},
    };
    char path[] = "/tmp/eider-contexts-XXXXXX";
    int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    (void)close(fd);
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct contexts contexts = {0};
        struct err err = {0};
        write_text(path, CASES[i].text, CASES[i].mode);
        cr_expect_eq(contexts_load(path, &contexts, &err), CASES[i].status, "%zu: %s", i, err.text);
        cr_expect_eq(contexts.count, 0);
    }
    (void)unlink(path);
}
