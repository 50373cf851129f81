#include "os/zone_file.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "os/file.h"
#include "os/file_tree.h"

static const char LOCAL_ZONE[] = "/etc/localtime";

static const char *zone_folder(void)
{
    const char *folder = getenv("TZDIR");
    return folder != NULL && folder[0] == '/' ? folder : "/usr/share/zoneinfo";
}

/* Parts of letters, digits, '_', '+' and '-' with '/' between them: no way out of the folder. */
static bool is_zone_name(const char *name)
{
    size_t length = strlen(name);
    if (length == 0 || length > ZONE_NAME_MAX || name[0] == '/' || name[length - 1] == '/')
        return false;
    for (const char *p = name; *p != '\0'; p++) {
        if (*p == '/' && p[1] == '/')
            return false;
        if (!isalnum((unsigned char)*p) && strchr("_+-/", *p) == NULL)
            return false;
    }
    return true;
}

/* ---- what was perhaps meant ---- */

enum { NAMES_MAX = 2000, FOLDERS_MAX = 100 };

struct names {
    char **items;
    size_t count;
    size_t capacity;
};

static void names_fini(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
}

static void add_name(struct names *names, const char *folder, const char *name)
{
    /* NOLINTNEXTLINE(bugprone-sizeof-expression) -- an array of pointers */
    names->items = mem_grow(names->items, &names->capacity, names->count, sizeof *names->items);
    names->items[names->count++] =
        folder[0] != '\0' ? mem_format("%s/%s", folder, name) : mem_strdup(name);
}

/* Zones and folders of zones begin with a capital letter; `posix`, `right` and tables do not. */
static void list_folder(const char *folder, struct names *zones, struct names *folders)
{
    struct err err = {0};
    struct file_tree_list list = {0};
    CLEANUP(file_closep) int fd = -1;
    CLEANUP(mem_freep) char *path = file_path_join(zone_folder(), folder);
    if (file_open_directory(path, &fd, &err) != STATUS_OK ||
        file_tree_list(fd, NAMES_MAX, &list, &err) != STATUS_OK)
        return;
    for (size_t i = 0; i < list.count; i++) {
        const struct file_tree_entry *entry = &list.entries[i];
        if (!isupper((unsigned char)entry->name[0]) || !is_zone_name(entry->name))
            continue;
        if (entry->type == DT_DIR && folders->count < FOLDERS_MAX)
            add_name(folders, folder, entry->name);
        else if (entry->type != DT_DIR && zones->count < NAMES_MAX)
            add_name(zones, folder, entry->name);
    }
    file_tree_list_fini(&list);
}

static const char *zone_name(const void *context, size_t i)
{
    return ((const struct names *)context)->items[i];
}

/* The city alone is a common slip: "Berlin" for Europe/Berlin. */
static const char *zone_of_city(const struct names *zones, const char *name)
{
    for (size_t i = 0; i < zones->count; i++) {
        const char *slash = strrchr(zones->items[i], '/');
        if (slash != NULL && strcasecmp(slash + 1, name) == 0)
            return zones->items[i];
        if (strcasecmp(zones->items[i], name) == 0)
            return zones->items[i];
    }
    return NULL;
}

static enum status unknown_zone(const char *name, struct err *err)
{
    CLEANUP(names_fini) struct names zones = {0};
    CLEANUP(names_fini) struct names folders = {0};
    add_name(&folders, "", "");
    for (size_t i = 0; i < folders.count; i++)
        list_folder(folders.items[i], &zones, &folders);
    if (zones.count == 0)
        return err_set(err, STATUS_NOT_FOUND,
                       "there is no time zone '%s': %s has none; install the package tzdata", name,
                       zone_folder());
    const char *near = zone_of_city(&zones, name);
    if (near == NULL)
        near = str_nearest(name, zones.count, zone_name, &zones);
    if (near != NULL)
        return err_set(err, STATUS_NOT_FOUND, "there is no time zone '%s'; did you mean '%s'?",
                       name, near);
    return err_set(err, STATUS_NOT_FOUND,
                   "there is no time zone '%s': use a name such as Europe/Berlin, UTC or local",
                   name);
}

/* ---- reading ---- */

static bool is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

static enum status read_named(const char *name, char **out_bytes, size_t *out_length,
                              struct err *err)
{
    CLEANUP(mem_freep) char *path = file_path_join(zone_folder(), name);
    if (!is_file(path))
        return unknown_zone(name, err);
    return file_read(path, ZONE_FILE_BYTES_MAX, out_bytes, out_length, err);
}

static enum status give_text(const char *text, char **out_bytes, size_t *out_length)
{
    *out_bytes = mem_strdup(text);
    *out_length = strlen(text);
    return STATUS_OK;
}

static enum status read_local(char **out_bytes, size_t *out_length, struct err *err)
{
    const char *wanted = getenv("TZ");
    if (wanted == NULL)
        return is_file(LOCAL_ZONE)
                   ? file_read(LOCAL_ZONE, ZONE_FILE_BYTES_MAX, out_bytes, out_length, err)
                   : give_text("UTC0", out_bytes, out_length);
    wanted += wanted[0] == ':';
    if (wanted[0] == '\0')
        return give_text("UTC0", out_bytes, out_length);
    if (wanted[0] == '/')
        return file_read(wanted, ZONE_FILE_BYTES_MAX, out_bytes, out_length, err);
    CLEANUP(mem_freep) char *path = file_path_join(zone_folder(), wanted);
    if (is_zone_name(wanted) && is_file(path))
        return file_read(path, ZONE_FILE_BYTES_MAX, out_bytes, out_length, err);
    return give_text(wanted, out_bytes, out_length);
}

enum status zone_file_read(const char *name, char **out_bytes, size_t *out_length, struct err *err)
{
    if (strcmp(name, "local") == 0)
        return read_local(out_bytes, out_length, err);
    if (!is_zone_name(name))
        return err_set(err, STATUS_INVALID,
                       "'%.60s' is no name of a time zone: expected one such as Europe/Berlin",
                       name);
    return read_named(name, out_bytes, out_length, err);
}
