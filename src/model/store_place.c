#include "model/store_place.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"

#define SCHEME     "sqlite:"
#define USUAL_NAME "eider.db"

enum { UUID_LENGTH = 36 };

char *store_place_url(const char *setting, const char *home)
{
    const char *path = setting[0] == '\0' ? USUAL_NAME : store_place_path(setting);
    if (path == NULL)
        return mem_strdup(setting);
    return path[0] == '/' ? mem_format(SCHEME "%s", path) : mem_format(SCHEME "%s/%s", home, path);
}

const char *store_place_path(const char *url)
{
    return str_starts_with(url, SCHEME) ? url + sizeof SCHEME - 1 : NULL;
}

char *store_place_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL || !str_equal(slash + 1, USUAL_NAME))
        return mem_format("%s.d", path);
    return mem_strndup(path, slash > path ? (size_t)(slash - path) : 1);
}

char *store_place_kept(const char *home, const char *uuid)
{
    return mem_format("%s/stores/%s", home, uuid);
}

bool store_place_is_uuid(const char *text)
{
    return strlen(text) == UUID_LENGTH && strspn(text, "0123456789abcdef-") == UUID_LENGTH;
}
