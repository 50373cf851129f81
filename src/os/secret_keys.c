#include "os/secret_keys.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "os/file.h"

enum {
    FILE_BYTES_MAX = 64 << 10,
    HEX_LENGTH = 2 * SECRET_KEY_BYTES,
    BASE64_LENGTH = (SECRET_KEY_BYTES + 2) / 3 * 4,
};

static const char SEPARATORS[] = " \t\r\n,";

/* --- keys as text ---------------------------------------------------------------------------- */

static void make_id(struct secret_key *key)
{
    static const unsigned char PURPOSE[] = "eider secret key id";
    unsigned char hash[crypto_generichash_BYTES];
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, PURPOSE, sizeof PURPOSE - 1, sizeof hash);
    (void)crypto_generichash_update(&state, key->bytes, sizeof key->bytes);
    (void)crypto_generichash_final(&state, hash, sizeof hash);
    memcpy(key->id, hash, sizeof key->id);
}

const char *secret_key_id_format(const uint8_t id[SECRET_KEY_ID_BYTES], char out[SECRET_KEY_ID_MAX])
{
    return sodium_bin2hex(out, SECRET_KEY_ID_MAX, id, SECRET_KEY_ID_BYTES);
}

static bool decode(const char *text, size_t length, uint8_t out[SECRET_KEY_BYTES])
{
    size_t got = 0;
    if (length == HEX_LENGTH)
        return sodium_hex2bin(out, SECRET_KEY_BYTES, text, length, NULL, &got, NULL) == 0 &&
               got == SECRET_KEY_BYTES;
    static const int VARIANTS[] = {
        sodium_base64_VARIANT_ORIGINAL,
        sodium_base64_VARIANT_ORIGINAL_NO_PADDING,
        sodium_base64_VARIANT_URLSAFE,
        sodium_base64_VARIANT_URLSAFE_NO_PADDING,
    };
    for (size_t i = 0; i < ARRAY_LEN(VARIANTS); i++)
        if (sodium_base642bin(out, SECRET_KEY_BYTES, text, length, NULL, &got, NULL, VARIANTS[i]) ==
                0 &&
            got == SECRET_KEY_BYTES)
            return true;
    return false;
}

/* 32 equal bytes are what a person puts where a key should be. */
static bool is_worthless(const uint8_t bytes[SECRET_KEY_BYTES])
{
    for (size_t i = 1; i < SECRET_KEY_BYTES; i++)
        if (bytes[i] != bytes[0])
            return false;
    return true;
}

static enum status parse_into(const char *text, struct secret_keys *keys, struct err *err)
{
    for (const char *at = text + strspn(text, SEPARATORS); *at != '\0';
         at += strspn(at, SEPARATORS)) {
        if (*at == '#') {
            at += strcspn(at, "\n");
            continue;
        }
        size_t length = strcspn(at, SEPARATORS);
        if (keys->count == SECRET_KEYS_MAX)
            return err_set(err, STATUS_INVALID, "there are more than %d keys", SECRET_KEYS_MAX);
        struct secret_key *key = &keys->keys[keys->count];
        if (!decode(at, length, key->bytes))
            return err_set(err, STATUS_INVALID,
                           "key %zu is no key: it takes %d digits of base64 or %d hexadecimal ones "
                           "(%d bytes), and it has %zu characters",
                           keys->count + 1, BASE64_LENGTH, HEX_LENGTH, SECRET_KEY_BYTES, length);
        if (is_worthless(key->bytes))
            return err_set(err, STATUS_INVALID, "key %zu is the same byte all along",
                           keys->count + 1);
        make_id(key);
        keys->count++;
        at += length;
    }
    if (keys->count == 0)
        return err_set(err, STATUS_INVALID,
                       "there is no key in it: put the key back that was there");
    return STATUS_OK;
}

static struct secret_keys *keys_new(void)
{
    CHECK(sodium_init() >= 0);
    struct secret_keys *keys = sodium_malloc(sizeof *keys);
    CHECK(keys != NULL);
    sodium_memzero(keys, sizeof *keys);
    return keys;
}

void secret_keys_free(struct secret_keys *keys)
{
    sodium_free(keys);
}

enum status secret_keys_parse(const char *text, struct secret_keys **out_keys, struct err *err)
{
    CLEANUP(secret_keys_freep) struct secret_keys *keys = keys_new();
    if (parse_into(text, keys, err) != STATUS_OK)
        return err->code;
    *out_keys = TAKE(keys);
    return STATUS_OK;
}

/* --- the file -------------------------------------------------------------------------------- */

static enum status check_owner(int fd, const char *path, struct err *err)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return err_errno(err, errno, "look at '%s'", path);
    if (!S_ISREG(info.st_mode))
        return err_set(err, STATUS_INVALID, "'%s' is not a regular file", path);
    if (info.st_uid != geteuid() && info.st_uid != 0)
        return err_set(err, STATUS_DENIED, "'%s' belongs to user %u, not to us (user %u)", path,
                       (unsigned)info.st_uid, (unsigned)geteuid());
    if ((info.st_mode & 077) != 0)
        return err_set(err, STATUS_DENIED,
                       "others may use '%s' (mode %04o); make it private: chmod 600 '%s'", path,
                       (unsigned)info.st_mode & 07777, path);
    return STATUS_OK;
}

static enum status read_file(const char *path, struct secret_keys **out_keys, struct err *err)
{
    if (path == NULL)
        return err_set(err, STATUS_NOT_FOUND, "there is no place for a key of secrets");
    CLEANUP(file_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return err_errno(err, errno, "open '%s'", path);
    if (check_owner(fd, path, err) != STATUS_OK)
        return err->code;
    char *text = NULL;
    size_t length = 0;
    if (file_read_fd(fd, path, FILE_BYTES_MAX, &text, &length, err) != STATUS_OK)
        return err->code;
    enum status status = secret_keys_parse(text, out_keys, err);
    sodium_memzero(text, length);
    mem_freep(&text);
    return status == STATUS_OK ? status : err_wrap(err, "'%s'", path);
}

/* Whole and synced under another name first, so that nobody ever reads a part of it. */
static enum status write_new(const char *path, const char *temporary, struct err *err)
{
    uint8_t key[SECRET_KEY_BYTES];
    char text[BASE64_LENGTH + 2];
    CLEANUP(file_closep)
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_errno(err, errno, "make '%s'", temporary);
    rng_bytes(key, sizeof key);
    (void)sodium_bin2base64(text, sizeof text, key, sizeof key, sodium_base64_VARIANT_ORIGINAL);
    text[BASE64_LENGTH] = '\n';
    enum status status = file_write_fd(fd, temporary, text, BASE64_LENGTH + 1, err);
    sodium_memzero(key, sizeof key);
    sodium_memzero(text, sizeof text);
    if (status == STATUS_OK && fsync(fd) != 0)
        status = err_errno(err, errno, "sync '%s'", temporary);
    /* Unlike a rename this fails when another process was quicker. */
    if (status == STATUS_OK && link(temporary, path) != 0 && errno != EEXIST)
        status = err_errno(err, errno, "make '%s'", path);
    (void)unlink(temporary);
    return status;
}

static enum status sync_folder(const char *path, struct err *err)
{
    const char *slash = strrchr(path, '/');
    CLEANUP(mem_freep)
    char *dir = slash == NULL ? mem_strdup(".")
                              : mem_strndup(path, slash == path ? 1 : (size_t)(slash - path));
    CLEANUP(file_closep) int fd = -1;
    if (file_open_directory(dir, &fd, err) != STATUS_OK)
        return err->code;
    return fsync(fd) == 0 ? STATUS_OK : err_errno(err, errno, "sync directory '%s'", dir);
}

static enum status make_file(const char *path, struct err *err)
{
    uint64_t chance = 0;
    rng_bytes(&chance, sizeof chance);
    CLEANUP(mem_freep)
    char *temporary = mem_format("%s.new-%016llx", path, (unsigned long long)chance);
    if (write_new(path, temporary, err) != STATUS_OK || sync_folder(path, err) != STATUS_OK)
        return err->code;
    return STATUS_OK;
}

enum status secret_keys_load(const struct secret_keys_place *place, struct secret_keys **out_keys,
                             struct err *err)
{
    if (place->text != NULL && place->text[0] != '\0') {
        if (secret_keys_parse(place->text, out_keys, err) != STATUS_OK)
            return err_wrap(err, "EIDER_SECRET_KEY");
        return STATUS_OK;
    }
    struct err missing = {0};
    enum status status = read_file(place->file, out_keys, &missing);
    if (status == STATUS_OK)
        return STATUS_OK;
    if (status == STATUS_NOT_FOUND && place->make && place->file != NULL) {
        if (make_file(place->file, err) != STATUS_OK ||
            read_file(place->file, out_keys, err) != STATUS_OK)
            return err_wrap(err, "make a key for secrets");
        return STATUS_OK;
    }
    *err = missing;
    if (status == STATUS_NOT_FOUND)
        return err_wrap(err, "no key for secrets: set EIDER_SECRET_KEY or secret_key_file");
    return err_wrap(err, "read the key for secrets");
}
