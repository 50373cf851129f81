#include "app/api_place.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/secret_text.h"
#include "os/file.h"
#include "os/password.h"

enum { FILE_BYTES_MAX = 4096 };
static const char FILE_NAME[] = "api";

void api_place_init(struct api_place *place)
{
    char key[SECRET_TEXT_MAX];
    secret_text_make("edk_", key);
    *place = (struct api_place){.key = mem_strdup(key)};
}

enum status api_place_leave(struct api_place *place, const struct home *home, const char *url,
                            struct err *err)
{
    CLEANUP(mem_freep) char *path = file_path_join(home->path, FILE_NAME);
    CLEANUP(json_decrefp) json_t *file = json_object();
    CHECK(file != NULL);
    json_put_string(file, "url", url);
    json_put_string(file, "key", place->key);
    CLEANUP(mem_freep) char *text = json_format(file);
    if (file_write_atomic(path, text, strlen(text), 0600, err) != STATUS_OK)
        return err->code;
    place->url = mem_strdup(url);
    return STATUS_OK;
}

void api_place_remove(const struct home *home)
{
    CLEANUP(mem_freep) char *path = file_path_join(home->path, FILE_NAME);
    (void)unlink(path); /* one that stays only says where somebody was */
}

enum status api_place_find(const struct home *home, struct api_place *out, struct err *err)
{
    CLEANUP(mem_freep) char *path = file_path_join(home->path, FILE_NAME);
    CLEANUP(mem_freep) char *text = NULL;
    CLEANUP(json_decrefp) json_t *file = NULL;
    size_t length = 0;
    enum status status = file_read(path, FILE_BYTES_MAX, &text, &length, err);
    if (status == STATUS_NOT_FOUND)
        return err_set(err, STATUS_UNREACHABLE,
                       "no `eider up` serves an API for '%s'; --server names one elsewhere",
                       home->path);
    if (status != STATUS_OK)
        return status;
    if (json_parse(text, length, &file, err) != STATUS_OK)
        return err_wrap(err, "'%s'", path);
    *out = (struct api_place){
        .url = mem_strdup(json_get_string(file, "url", "")),
        .key = mem_strdup(json_get_string(file, "key", "")),
    };
    return STATUS_OK;
}

void api_place_fini(struct api_place *place)
{
    free(place->url);
    free(place->key);
    *place = (struct api_place){0};
}

bool api_place_has_key(const struct api_place *place, const char *key)
{
    return place->key != NULL && secret_equal(place->key, key);
}
