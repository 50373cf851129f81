#include "app/host_id.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "os/file.h"

enum { FILE_BYTES_MAX = 64 << 10 };

void host_id_boot(char out[static BOOT_TEXT_MAX])
{
    char *text = NULL;
    size_t length = 0;
    struct err ignored = {0};
    out[0] = '\0';
    if (file_read("/proc/sys/kernel/random/boot_id", BOOT_TEXT_MAX - 1, &text, &length, &ignored) ==
        STATUS_OK)
        for (size_t i = 0; i < length && text[i] > ' '; i++) {
            out[i] = text[i];
            out[i + 1] = '\0';
        }
    free(text);
}

static char *file_of(const struct home_place *place)
{
    return file_path_join(place->dir, "daemon.json");
}

/* For whoever finds it locked. */
static void sign(const struct file_lock *lock)
{
    CLEANUP(mem_freep) char *text = mem_format("%lld\n", (long long)getpid());
    struct err ignored = {0};
    if (ftruncate(lock->fd, 0) == 0)
        (void)!file_write_fd(lock->fd, "lock", text, strlen(text), &ignored);
}

static int64_t signer(const char *path)
{
    CLEANUP(mem_freep) char *text = NULL;
    size_t length = 0;
    struct err ignored = {0};
    int64_t pid = 0;
    if (file_read(path, FILE_BYTES_MAX, &text, &length, &ignored) != STATUS_OK)
        return 0;
    text[strcspn(text, "\n")] = '\0';
    return str_parse_i64(text, 1, INT64_MAX, &pid) ? pid : 0;
}

enum status host_id_lock(const struct home *home, struct file_lock *out, struct err *err)
{
    CLEANUP(mem_freep) char *path = file_path_join(home->hosts_dir, "daemon.lock");
    if (file_lock_try(path, out, err) == STATUS_OK) {
        sign(out);
        return STATUS_OK;
    }
    if (err->code != STATUS_BUSY)
        return err_wrap(err, "lock this home");
    return err_set(err, STATUS_CONFLICT,
                   "another `eider up` works in '%s' (process %lld); give this one its own --home",
                   home->path, (long long)signer(path));
}

int64_t host_id_load(const struct home_place *place, const char *store_uuid)
{
    CLEANUP(mem_freep) char *path = file_of(place);
    CLEANUP(mem_freep) char *text = NULL;
    CLEANUP(json_decrefp) json_t *known = NULL;
    struct err ignored = {0};
    size_t length = 0;
    int64_t host = 0;
    if (file_read(path, FILE_BYTES_MAX, &text, &length, &ignored) != STATUS_OK ||
        json_parse(text, length, &known, &ignored) != STATUS_OK ||
        !str_equal(json_get_string(known, "store", ""), store_uuid) ||
        !str_parse_i64(json_get_string(known, "host", ""), 1, INT64_MAX, &host))
        return 0;
    return host;
}

enum status host_id_save(const struct home_place *place, const char *store_uuid, int64_t host,
                         struct err *err)
{
    CLEANUP(json_decrefp) json_t *known = json_object();
    CLEANUP(mem_freep) char *path = file_of(place);
    char boot[BOOT_TEXT_MAX];
    host_id_boot(boot);
    json_put_id(known, "host", host);
    json_put_string(known, "boot", boot);
    json_put_string(known, "store", store_uuid);
    json_put_int(known, "pid", getpid());
    CLEANUP(mem_freep) char *text = json_format(known);
    if (file_write_atomic(path, text, strlen(text), 0600, err) != STATUS_OK)
        return err_wrap(err, "remember this host");
    return STATUS_OK;
}

void host_id_forget(const struct home_place *place)
{
    CLEANUP(mem_freep) char *path = file_of(place);
    (void)unlink(path);
}
