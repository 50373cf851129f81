#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "blob/blob.h"
#include "expect.h"
#include "os/file.h"
#include "os/file_tree.h"
#include "store_bench.h"

static char dir[64];
static struct blob *blob;
static struct bench_store bench;

static void set_up(void)
{
    struct err err = {0};
    (void)snprintf(dir, sizeof dir, "/tmp/eider-blob-XXXXXX");
    cr_assert_not_null(mkdtemp(dir));
    EXPECT_OK(blob_open_directory(dir, &blob, &err), &err);
    bench = (struct bench_store){0};
    bench_open(&bench);
}

static void in_directory(void)
{
}

static void in_store(void)
{
    blob_close(blob);
    blob_open_store(bench.store, &blob);
}

static void in_both(void)
{
    struct err err = {0};
    blob_close(blob);
    EXPECT_OK(blob_open_layered(bench.store, dir, &blob, &err), &err);
}

/* Each leads on from the one before. */
static void (*const PLACES[])(void) = {in_directory, in_store, in_both};

static void tear_down(void)
{
    struct err err = {0};
    blob_close(blob);
    bench_close(&bench);
    int tmp = -1;
    EXPECT_OK(file_open_directory("/tmp", &tmp, &err), &err);
    EXPECT_OK(file_tree_remove(tmp, dir + 5, &err), &err);
    file_closep(&tmp);
}

TestSuite(blob, .init = set_up, .fini = tear_down);

Test(blob, keys_have_exactly_one_spelling)
{
    static const char *const GOOD[] = {"0.log", "1/2/3.idx", "9223372036854775807/1/2/3.val"};
    for (size_t i = 0; i < ARRAY_LEN(GOOD); i++) {
        struct blob_key key;
        char text[BLOB_KEY_TEXT_MAX];
        cr_assert(blob_key_parse(GOOD[i], &key), "%s", GOOD[i]);
        EXPECT_STR(GOOD[i], blob_key_format(&key, text));
    }
    static const char *const BAD[] = {"",
                                      ".log",
                                      "1",
                                      "1.txt",
                                      "01.log",
                                      "+1.log",
                                      "-1.log",
                                      "1//2.log",
                                      "/1.log",
                                      "../1.log",
                                      "1/../2.log",
                                      "1/2/3/4/5.log",
                                      "a.log",
                                      "1.log.log",
                                      "1/.log",
                                      "1 .log",
                                      "9223372036854775808.log"};
    for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
        struct blob_key key = {.id_count = 77};
        cr_assert_not(blob_key_parse(BAD[i], &key), "%s", BAD[i]);
        cr_assert_eq(key.id_count, 77);
    }
}

static void append_read_and_seal(void)
{
    struct err err = {0};
    struct blob_key key = {.kind = BLOB_LOG, .ids = {5, 6, 7}, .id_count = 3};
    struct blob_handle *reader = NULL, *writer = NULL;
    EXPECT_STATUS(STATUS_NOT_FOUND, blob_open(blob, &key, BLOB_READ, &reader, &err), &err);
    EXPECT_OK(blob_open(blob, &key, BLOB_APPEND, &writer, &err), &err);
    EXPECT_OK(blob_append(writer, "hello ", 6, &err), &err);
    EXPECT_OK(blob_open(blob, &key, BLOB_READ, &reader, &err), &err);
    EXPECT_OK(blob_append(writer, "world", 5, &err), &err);

    char text[32] = "";
    size_t got = 0;
    EXPECT_OK(blob_range(reader, 3, text, 5, &got, &err), &err);
    cr_assert_eq(got, 5);
    cr_assert_eq(memcmp(text, "lo wo", 5), 0);
    EXPECT_OK(blob_range(reader, 9, text, 20, &got, &err), &err);
    cr_assert_eq(got, 2);
    EXPECT_OK(blob_range(reader, 11, text, 20, &got, &err), &err);
    cr_assert_eq(got, 0);
    EXPECT_OK(blob_tail(reader, text, 3, &got, &err), &err);
    cr_assert_eq(memcmp(text, "rld", 3), 0);
    EXPECT_OK(blob_tail(reader, text, 30, &got, &err), &err);
    cr_assert_eq(got, 11);

    EXPECT_OK(blob_seal(writer, &err), &err);
    EXPECT_STATUS(STATUS_CONFLICT, blob_append(writer, "x", 1, &err), &err);
    EXPECT_OK(blob_tail(reader, text, 30, &got, &err), &err);
    cr_assert_eq(got, 11);
    cr_assert_eq(memcmp(text, "hello world", 11), 0);
    blob_handle_close(writer);
    blob_handle_close(reader);
    EXPECT_OK(blob_delete(blob, &key, &err), &err);
}

Test(blob, bytes_are_appended_read_by_range_and_sealed)
{
    for (size_t i = 0; i < ARRAY_LEN(PLACES); i++) {
        PLACES[i]();
        append_read_and_seal();
    }
}

static void put_and_delete(void)
{
    struct err err = {0};
    struct blob_key a = {.kind = BLOB_VALUE, .ids = {1, 1}, .id_count = 2};
    struct blob_key b = {.kind = BLOB_LOG, .ids = {1, 2}, .id_count = 2};
    struct blob_key c = {.kind = BLOB_VALUE, .ids = {11}, .id_count = 1};
    EXPECT_OK(blob_put(blob, &a, "long text", 9, &err), &err);
    EXPECT_OK(blob_put(blob, &a, "short", 5, &err), &err);
    EXPECT_OK(blob_put(blob, &b, "b", 1, &err), &err);
    EXPECT_OK(blob_put(blob, &c, "c", 1, &err), &err);
    struct blob_handle *handle = NULL;
    uint64_t size = 0;
    EXPECT_OK(blob_open(blob, &a, BLOB_READ, &handle, &err), &err);
    EXPECT_OK(blob_size(handle, &size, &err), &err);
    cr_assert_eq(size, 5);
    blob_handle_close(handle);

    EXPECT_OK(blob_delete(blob, &a, &err), &err);
    EXPECT_OK(blob_delete(blob, &a, &err), &err);
    EXPECT_STATUS(STATUS_NOT_FOUND, blob_open(blob, &a, BLOB_READ, &handle, &err), &err);
    EXPECT_OK(blob_delete_all(blob, (const int64_t[]){1}, 1, &err), &err);
    EXPECT_STATUS(STATUS_NOT_FOUND, blob_open(blob, &b, BLOB_READ, &handle, &err), &err);
    EXPECT_OK(blob_open(blob, &c, BLOB_READ, &handle, &err), &err);
    blob_handle_close(handle);
    EXPECT_OK(blob_delete_all(blob, (const int64_t[]){9, 9}, 2, &err), &err);
    EXPECT_OK(blob_delete(blob, &c, &err), &err);
}

Test(blob, a_put_replaces_and_deleting_takes_exactly_what_is_named)
{
    for (size_t i = 0; i < ARRAY_LEN(PLACES); i++) {
        PLACES[i]();
        put_and_delete();
    }
}

Test(blob, a_planted_link_leads_nowhere)
{
    struct err err = {0};
    char path[128];
    (void)snprintf(path, sizeof path, "%s/1", dir);
    cr_assert_eq(symlink("/tmp", path), 0);
    struct blob_key key = {.kind = BLOB_LOG, .ids = {1, 2}, .id_count = 2};
    struct blob_handle *handle = NULL;
    EXPECT_STATUS(STATUS_DENIED, blob_open(blob, &key, BLOB_APPEND, &handle, &err), &err);
    cr_assert_neq(blob_put(blob, &key, "x", 1, &err), STATUS_OK);
    cr_assert_neq(access("/tmp/2.log", F_OK), 0);
}
