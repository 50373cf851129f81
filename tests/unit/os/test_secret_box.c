#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "expect.h"
#include "os/file.h"
#include "os/file_tree.h"
#include "os/secret_box.h"

static const char HEX[] = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
static const char SAME[] = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="; /* the same as base64 */
static const char OTHER[] = "f0e1d2c3b4a5968778695a4b3c2d1e0ff0e1d2c3b4a5968778695a4b3c2d1e00";
static const struct secret_context PLACE = {"secret", "default", "db_password"};

static char dir[64];

static void set_up(void)
{
    (void)snprintf(dir, sizeof dir, "/tmp/eider-secret-XXXXXX");
    cr_assert_not_null(mkdtemp(dir));
}

static void tear_down(void)
{
    struct err err = {0};
    int tmp = -1;
    EXPECT_OK(file_open_directory("/tmp", &tmp, &err), &err);
    EXPECT_OK(file_tree_remove(tmp, dir + 5, &err), &err);
    file_closep(&tmp);
}

TestSuite(secret_box, .init = set_up, .fini = tear_down);

static struct secret_keys *keys_of(const char *text)
{
    struct err err = {0};
    struct secret_keys *keys = NULL;
    EXPECT_OK(secret_keys_parse(text, &keys, &err), &err);
    return keys;
}

static char *seal(const struct secret_keys *keys, const char *text, size_t length)
{
    struct err err = {0};
    struct strbuf out;
    strbuf_init(&out, 4 << 20);
    struct secret_value plain = secret_value_new(text, length);
    EXPECT_OK(secret_box_seal(keys, &PLACE, &plain, &out, &err), &err);
    secret_value_fini(&plain);
    return strbuf_take(&out);
}

/* --- sealing and opening --------------------------------------------------------------------- */

Test(secret_box, a_value_comes_out_as_it_was_sealed)
{
    static const struct {
        const char *bytes;
        size_t length;
    } VALUES[] = {{"", 0}, {"x", 1}, {"hunter2!", 8}, {"a\0b\n\xff", 5}};
    CLEANUP(secret_keys_freep) struct secret_keys *keys = keys_of(HEX);
    for (size_t i = 0; i < ARRAY_LEN(VALUES); i++) {
        struct err err = {0};
        struct secret_value plain = {0};
        CLEANUP(mem_freep) char *sealed = seal(keys, VALUES[i].bytes, VALUES[i].length);
        EXPECT_OK(secret_box_open(keys, &PLACE, sealed, &plain, &err), &err);
        cr_assert_eq(plain.length, VALUES[i].length);
        cr_assert_eq(memcmp(plain.bytes, VALUES[i].bytes, plain.length), 0);
        cr_assert_eq(plain.bytes[plain.length], '\0');
        secret_value_fini(&plain);
    }
}

Test(secret_box, the_same_value_is_sealed_differently_each_time)
{
    CLEANUP(secret_keys_freep) struct secret_keys *keys = keys_of(HEX);
    CLEANUP(mem_freep) char *one = seal(keys, "hunter2!", 8);
    CLEANUP(mem_freep) char *two = seal(keys, "hunter2!", 8);
    cr_assert_str_neq(one, two);
    cr_assert_null(strstr(one, "hunter2!"));
}

/* Put together by another program: what is in a store must open for ever. */
Test(secret_box, the_form_of_version_one_stays_readable)
{
    static const char SEALED[] = "AWqTz3VkZWZnaGlqa2xtbm9wcXJzdHV2d3h5"
                                 "ensUBpfEmly7o1FfS+50eI23NPBMCHOfBFQ=";
    struct err err = {0};
    struct secret_value plain = {0};
    CLEANUP(secret_keys_freep) struct secret_keys *keys = keys_of(HEX);
    EXPECT_OK(secret_box_open(keys, &PLACE, SEALED, &plain, &err), &err);
    EXPECT_STR("hunter2!", plain.bytes);
    secret_value_fini(&plain);
}

Test(secret_box, a_value_does_not_open_in_another_place)
{
    static const struct secret_context OTHERS[] = {
        {"variable", "default", "db_password"}, {"secret", "prod", "db_password"},
        {"secret", "default", "db_passwort"},   {"secret", "defaul", "tdb_password"},
        {"secretd", "efault", "db_password"},
    };
    CLEANUP(secret_keys_freep) struct secret_keys *keys = keys_of(HEX);
    CLEANUP(mem_freep) char *sealed = seal(keys, "hunter2!", 8);
    for (size_t i = 0; i < ARRAY_LEN(OTHERS); i++) {
        struct err err = {0};
        struct secret_value plain = {0};
        EXPECT_STATUS(STATUS_CORRUPT, secret_box_open(keys, &OTHERS[i], sealed, &plain, &err),
                      &err);
        cr_assert_null(plain.bytes);
    }
}

Test(secret_box, a_wrong_key_is_told_from_damage)
{
    struct err err = {0};
    struct secret_value plain = {0};
    CLEANUP(secret_keys_freep) struct secret_keys *keys = keys_of(HEX);
    CLEANUP(secret_keys_freep) struct secret_keys *other = keys_of(OTHER);
    CLEANUP(mem_freep) char *sealed = seal(keys, "hunter2!", 8);
    char ours[SECRET_KEY_ID_MAX];
    char theirs[SECRET_KEY_ID_MAX];

    EXPECT_STATUS(STATUS_DENIED, secret_box_open(other, &PLACE, sealed, &plain, &err), &err);

    CLEANUP(mem_freep)
    char *wanted =
        mem_format("secret 'db_password': sealed with another key (id %s), this host has (id %s): "
                   "give it that key, EIDER_SECRET_KEY or secret_key_file",
                   secret_key_id_format(keys->keys[0].id, theirs),
                   secret_key_id_format(other->keys[0].id, ours));
    EXPECT_STR(wanted, err.text);
}

/* One changed digit anywhere, and any cut: never the value, never a crash. */
Test(secret_box, what_was_tampered_with_does_not_open)
{
    CLEANUP(secret_keys_freep) struct secret_keys *keys = keys_of(HEX);
    CLEANUP(mem_freep) char *sealed = seal(keys, "hunter2!", 8);
    size_t length = strlen(sealed);
    for (size_t i = 0; i < length; i++) {
        struct err err = {0};
        struct secret_value plain = {0};
        CLEANUP(mem_freep) char *changed = mem_strdup(sealed);
        changed[i] = changed[i] == 'A' ? 'B' : 'A';
        cr_assert_neq(secret_box_open(keys, &PLACE, changed, &plain, &err), STATUS_OK);
        changed[i] = '\0';
        cr_assert_neq(secret_box_open(keys, &PLACE, changed, &plain, &err), STATUS_OK);
    }
    struct err err = {0};
    struct secret_value plain = {0};
    sealed[length - 8] = sealed[length - 8] == 'A' ? 'B' : 'A';
    EXPECT_STATUS(STATUS_CORRUPT, secret_box_open(keys, &PLACE, sealed, &plain, &err), &err);
    EXPECT_STATUS(STATUS_INVALID, secret_box_open(keys, &PLACE, "hunter2!", &plain, &err), &err);
}

Test(secret_box, a_value_that_is_too_long_is_refused)
{
    struct err err = {0};
    CLEANUP(secret_keys_freep) struct secret_keys *keys = keys_of(HEX);
    char *bytes = mem_zalloc(SECRET_BOX_BYTES_MAX + 1, 1);
    struct secret_value plain = secret_value_new(bytes, SECRET_BOX_BYTES_MAX + 1);
    struct strbuf out;
    strbuf_init(&out, 4 << 20);
    EXPECT_STATUS(STATUS_LIMIT, secret_box_seal(keys, &PLACE, &plain, &out, &err), &err);
    plain.length--;
    EXPECT_OK(secret_box_seal(keys, &PLACE, &plain, &out, &err), &err);
    secret_value_fini(&plain);
    EXPECT_OK(secret_box_open(keys, &PLACE, out.text, &plain, &err), &err);
    cr_assert_eq(plain.length, SECRET_BOX_BYTES_MAX);
    secret_value_fini(&plain);
    strbuf_fini(&out);
    free(bytes);
}

/* --- keys ------------------------------------------------------------------------------------ */

Test(secret_box, the_first_key_seals_and_all_open)
{
    struct err err = {0};
    struct secret_value plain = {0};
    CLEANUP(secret_keys_freep) struct secret_keys *old = keys_of(HEX);
    CLEANUP(mem_freep) char *text = mem_format("%s,\n# the old one\n%s", OTHER, HEX);
    CLEANUP(secret_keys_freep) struct secret_keys *both = keys_of(text);
    CLEANUP(secret_keys_freep) struct secret_keys *new = keys_of(OTHER);
    CLEANUP(mem_freep) char *before = seal(old, "hunter2!", 8);
    CLEANUP(mem_freep) char *after = seal(both, "hunter2!", 8);

    cr_assert_eq(both->count, 2);
    EXPECT_OK(secret_box_open(both, &PLACE, before, &plain, &err), &err);
    secret_value_fini(&plain);
    EXPECT_OK(secret_box_open(new, &PLACE, after, &plain, &err), &err);
    secret_value_fini(&plain);
    EXPECT_STATUS(STATUS_DENIED, secret_box_open(old, &PLACE, after, &plain, &err), &err);
    cr_assert(secret_box_is_outdated(both, before));
    cr_assert_not(secret_box_is_outdated(both, after));
}

Test(secret_box, a_key_is_hexadecimal_or_base64_and_nothing_else)
{
    static const struct {
        const char *text, *part;
    } WRONG[] = {
        {"", "no key"},
        {" \n# nothing\n", "no key"},
        {"secret", "6 characters"},
        {"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1g", "64 characters"},
        {"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHg==", "44 characters"},
        {"0000000000000000000000000000000000000000000000000000000000000000", "same byte"},
    };
    for (size_t i = 0; i < ARRAY_LEN(WRONG); i++) {
        struct err err = {0};
        struct secret_keys *keys = NULL;
        EXPECT_STATUS(STATUS_INVALID, secret_keys_parse(WRONG[i].text, &keys, &err), &err);
        EXPECT_CONTAINS(err.text, WRONG[i].part);
        cr_assert_null(strstr(err.text, "00010203"));
    }
    CLEANUP(secret_keys_freep) struct secret_keys *hex = keys_of(HEX);
    CLEANUP(secret_keys_freep) struct secret_keys *base64 = keys_of(SAME);
    cr_assert_eq(memcmp(hex->keys[0].bytes, base64->keys[0].bytes, SECRET_KEY_BYTES), 0);
    for (int i = 0; i < SECRET_KEY_BYTES; i++)
        cr_assert_eq(hex->keys[0].bytes[i], i);
}

Test(secret_box, a_key_is_made_once_and_for_its_owner_alone)
{
    struct err err = {0};
    CLEANUP(mem_freep) char *path = file_path_join(dir, "secret.key");
    struct secret_keys_place place = {.file = path};
    CLEANUP(secret_keys_freep) struct secret_keys *keys = NULL;
    CLEANUP(secret_keys_freep) struct secret_keys *again = NULL;
    EXPECT_STATUS(STATUS_NOT_FOUND, secret_keys_load(&place, &keys, &err), &err);
    EXPECT_CONTAINS(err.text, "EIDER_SECRET_KEY");

    place.make = true;
    EXPECT_OK(secret_keys_load(&place, &keys, &err), &err);
    EXPECT_OK(secret_keys_load(&place, &again, &err), &err);

    cr_assert_eq(memcmp(keys->keys[0].bytes, again->keys[0].bytes, SECRET_KEY_BYTES), 0);
    struct stat info;
    cr_assert_eq(stat(path, &info), 0);
    cr_assert_eq(info.st_mode & 07777, 0600);
    int fd = -1;
    struct file_tree_list list = {0};
    EXPECT_OK(file_open_directory(dir, &fd, &err), &err);
    EXPECT_OK(file_tree_list(fd, 10, &list, &err), &err);
    cr_assert_eq(list.count, 1, "something is left beside the key");
    file_tree_list_fini(&list);
    file_closep(&fd);
}

Test(secret_box, processes_that_make_a_key_at_once_use_the_same)
{
    enum { PROCESSES = 16 };
    CLEANUP(mem_freep) char *path = file_path_join(dir, "secret.key");
    int results[2];
    int gate[2];
    cr_assert_eq(pipe(results), 0);
    cr_assert_eq(pipe(gate), 0);
    for (int i = 0; i < PROCESSES; i++) {
        if (fork() != 0)
            continue;
        char c = 0;
        struct err err = {0};
        struct secret_keys *keys = NULL;
        (void)close(gate[1]);
        (void)!read(gate[0], &c, 1); /* until all are there */
        struct secret_keys_place place = {.file = path, .make = true};
        if (secret_keys_load(&place, &keys, &err) == STATUS_OK)
            (void)!write(results[1], keys->keys[0].bytes, SECRET_KEY_BYTES);
        _exit(0);
    }
    file_closep(&gate[1]);
    file_closep(&results[1]);
    char bytes[PROCESSES][SECRET_KEY_BYTES];
    for (int i = 0; i < PROCESSES; i++) {
        cr_assert_eq(read(results[0], bytes[i], SECRET_KEY_BYTES), SECRET_KEY_BYTES);
        cr_assert_eq(memcmp(bytes[i], bytes[0], SECRET_KEY_BYTES), 0);
    }
    while (wait(NULL) > 0) {
    }
    file_closep(&gate[0]);
    file_closep(&results[0]);
}

Test(secret_box, a_key_file_that_others_may_read_or_that_holds_no_key_is_refused)
{
    CLEANUP(mem_freep) char *path = file_path_join(dir, "secret.key");
    static const struct {
        mode_t mode;
        const char *text, *part;
        enum status status;
    } CASES[] = {
        {0600, "short", "no key", STATUS_INVALID},
        {0600, "", "no key", STATUS_INVALID},
        {0640, HEX, "mode 0640", STATUS_DENIED},
        {0604, HEX, "chmod 600", STATUS_DENIED},
        {0400, HEX, "", STATUS_OK},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct err err = {0};
        CLEANUP(secret_keys_freep) struct secret_keys *keys = NULL;
        struct secret_keys_place place = {.file = path, .make = true};
        EXPECT_OK(file_write_atomic(path, CASES[i].text, strlen(CASES[i].text), 0600, &err), &err);
        cr_assert_eq(chmod(path, CASES[i].mode), 0);
        EXPECT_STATUS(CASES[i].status, secret_keys_load(&place, &keys, &err), &err);
        EXPECT_CONTAINS(err.text, CASES[i].part);
        CLEANUP(mem_freep) char *text = NULL;
        size_t length = 0;
        EXPECT_OK(file_read(path, 1000, &text, &length, &err), &err);
        EXPECT_STR(CASES[i].text, text);
    }
}

Test(secret_box, a_key_file_of_another_user_is_refused)
{
    if (geteuid() != 0)
        cr_skip("only root can give files away");
    struct err err = {0};
    struct secret_keys *keys = NULL;
    CLEANUP(mem_freep) char *path = file_path_join(dir, "secret.key");
    struct secret_keys_place place = {.file = path};
    EXPECT_OK(file_write_atomic(path, HEX, strlen(HEX), 0600, &err), &err);
    cr_assert_eq(chown(path, 12345, 12345), 0);
    EXPECT_STATUS(STATUS_DENIED, secret_keys_load(&place, &keys, &err), &err);
    EXPECT_CONTAINS(err.text, "belongs to user 12345");
}

Test(secret_box, a_key_in_the_environment_needs_no_file)
{
    struct err err = {0};
    CLEANUP(secret_keys_freep) struct secret_keys *keys = NULL;
    struct secret_keys_place place = {.text = HEX, .file = "/no/such/file", .make = true};
    EXPECT_OK(secret_keys_load(&place, &keys, &err), &err);
    place.text = "wrong";
    struct secret_keys *none = NULL;
    EXPECT_STATUS(STATUS_INVALID, secret_keys_load(&place, &none, &err), &err);
    EXPECT_CONTAINS(err.text, "EIDER_SECRET_KEY: key 1");
}
