#include "client/contexts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/check.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/limits.h"
#include "os/file.h"
#include "os/file_tree.h"

enum { CONTEXTS_MAX = 1000, NAME_MAX_BYTES = 100 };

char *contexts_path(const char *(*environment)(void *context, const char *name), void *context)
{
    const char *config = environment(context, "XDG_CONFIG_HOME");
    const char *home = environment(context, "HOME");
    if (config != NULL && config[0] == '/')
        return mem_format("%s/eider/contexts.json", config);
    return mem_format("%s/.config/eider/contexts.json", home != NULL ? home : "");
}

static void context_fini(struct context *context)
{
    free(context->name);
    free(context->server);
    free(context->token);
    free(context->ca_file);
}

void contexts_fini(struct contexts *contexts)
{
    for (size_t i = 0; i < contexts->count; i++)
        context_fini(&contexts->items[i]);
    free(contexts->items);
    free(contexts->current);
    *contexts = (struct contexts){0};
}

/* --- finding and changing -------------------------------------------------------------------- */

const struct context *contexts_find(const struct contexts *contexts, const char *name)
{
    for (size_t i = 0; i < contexts->count; i++)
        if (str_equal(contexts->items[i].name, name))
            return &contexts->items[i];
    return NULL;
}

/* Without the slashes at its end. */
static size_t server_length(const char *server)
{
    size_t length = strlen(server);
    while (length > 0 && server[length - 1] == '/')
        length--;
    return length;
}

bool contexts_is_same_server(const char *one, const char *other)
{
    size_t length = server_length(one);
    return server_length(other) == length && strncmp(one, other, length) == 0;
}

const struct context *contexts_find_server(const struct contexts *contexts, const char *server)
{
    for (size_t i = 0; i < contexts->count; i++)
        if (contexts_is_same_server(contexts->items[i].server, server))
            return &contexts->items[i];
    return NULL;
}

static const char *name_at(const void *context, size_t i)
{
    return ((const struct contexts *)context)->items[i].name;
}

enum status contexts_need(const struct contexts *contexts, const char *name,
                          const struct context **out, struct err *err)
{
    *out = contexts_find(contexts, name);
    if (*out != NULL)
        return STATUS_OK;
    const char *near = str_nearest(name, contexts->count, name_at, contexts);
    return err_set(err, STATUS_NOT_FOUND, "there is no context '%.100s'%s%s%s", name,
                   near != NULL ? ", did you mean '" : "; `eider context add` makes one",
                   near != NULL ? near : "", near != NULL ? "'?" : "");
}

static enum status check_name(const char *name, struct err *err)
{
    bool is_good = name[0] != '\0' && strlen(name) <= NAME_MAX_BYTES && !str_equal(name, "off");
    for (const char *p = name; *p != '\0'; p++)
        is_good = is_good && (isalnum((unsigned char)*p) || strchr("_-.", *p) != NULL);
    return is_good
               ? STATUS_OK
               : err_set(err, STATUS_INVALID,
                         "'%.100s' is no name for a context: letters, digits, '_', '-' and '.', "
                         "at most %d, and not 'off'",
                         name, NAME_MAX_BYTES);
}

static struct context copy_of(const struct context *context)
{
    return (struct context){
        .name = mem_strdup(context->name),
        .server = mem_strndup(context->server, server_length(context->server)),
        .token = mem_strdup(context->token),
        .ca_file = mem_strdup(context->ca_file),
    };
}

enum status contexts_add(struct contexts *contexts, const struct context *context, struct err *err)
{
    size_t at = 0;
    if (check_name(context->name, err) != STATUS_OK)
        return err->code;
    while (at < contexts->count && strcmp(contexts->items[at].name, context->name) < 0)
        at++;
    if (at < contexts->count && str_equal(contexts->items[at].name, context->name)) {
        struct context old = contexts->items[at];
        contexts->items[at] = copy_of(context);
        context_fini(&old);
        return STATUS_OK;
    }
    if (contexts->count == CONTEXTS_MAX)
        return err_set(err, STATUS_LIMIT, "there are %d contexts already", CONTEXTS_MAX);
    contexts->items = mem_resize(contexts->items, contexts->count + 1, sizeof *contexts->items);
    memmove(&contexts->items[at + 1], &contexts->items[at],
            (contexts->count - at) * sizeof *contexts->items);
    contexts->items[at] = copy_of(context);
    contexts->count++;
    return STATUS_OK;
}

void contexts_use(struct contexts *contexts, const char *name)
{
    char *current = mem_strdup(name);
    free(contexts->current);
    contexts->current = current;
}

void contexts_remove(struct contexts *contexts, const char *name)
{
    const struct context *context = contexts_find(contexts, name);
    CHECK(context != NULL);
    size_t at = (size_t)(context - contexts->items);
    if (str_equal(contexts->current, name))
        contexts_use(contexts, "");
    context_fini(&contexts->items[at]);
    memmove(&contexts->items[at], &contexts->items[at + 1],
            (contexts->count - at - 1) * sizeof *contexts->items);
    contexts->count--;
}

/* --- the file -------------------------------------------------------------------------------- */

static enum status check_privacy(const char *path, struct err *err)
{
    struct stat status;
    if (stat(path, &status) == 0 && (status.st_mode & 077) != 0)
        return err_set(err, STATUS_DENIED, "'%s' holds tokens and others may read it: chmod 600",
                       path);
    return STATUS_OK;
}

static enum status take_entries(const json_t *file, struct contexts *out, struct err *err)
{
    const char *name;
    json_t *entry;
    json_object_foreach(json_object_get(file, "contexts"), name, entry)
    {
        /* It is only copied. */
        struct context context = {
            .name = (char *)(uintptr_t)name,
            .server = (char *)(uintptr_t)json_get_string(entry, "server", ""),
            .token = (char *)(uintptr_t)json_get_string(entry, "token", ""),
            .ca_file = (char *)(uintptr_t)json_get_string(entry, "ca_file", ""),
        };
        if (context.server[0] == '\0')
            return err_set(err, STATUS_INVALID, "context '%.100s' has no server", name);
        if (contexts_add(out, &context, err) != STATUS_OK)
            return err->code;
    }
    contexts_use(out, json_get_string(file, "current", ""));
    return STATUS_OK;
}

enum status contexts_load(const char *path, struct contexts *out, struct err *err)
{
    CLEANUP(mem_freep) char *text = NULL;
    CLEANUP(json_decrefp) json_t *file = NULL;
    size_t length = 0;
    struct contexts contexts = {0};
    struct err missing = {0};
    enum status status = file_read(path, LIMIT_FILE_BYTES, &text, &length, &missing);
    if (status == STATUS_NOT_FOUND) {
        *out = contexts;
        return STATUS_OK;
    }
    if (status != STATUS_OK) {
        *err = missing;
        return status;
    }
    if (check_privacy(path, err) != STATUS_OK)
        return err->code;
    if (json_parse(text, length, &file, err) != STATUS_OK ||
        take_entries(file, &contexts, err) != STATUS_OK) {
        contexts_fini(&contexts);
        return err_wrap(err, "contexts in '%s'", path);
    }
    *out = contexts;
    return STATUS_OK;
}

static json_t *describe(const struct contexts *contexts)
{
    json_t *file = json_object();
    json_t *entries = json_object();
    CHECK(file != NULL && entries != NULL);
    json_put_string(file, "current", contexts->current != NULL ? contexts->current : "");
    for (size_t i = 0; i < contexts->count; i++) {
        json_t *entry = json_object();
        CHECK(entry != NULL);
        json_put_string(entry, "server", contexts->items[i].server);
        json_put_string(entry, "token", contexts->items[i].token);
        json_put_string(entry, "ca_file", contexts->items[i].ca_file);
        json_put(entries, contexts->items[i].name, entry);
    }
    json_put(file, "contexts", entries);
    return file;
}

enum status contexts_save(const char *path, const struct contexts *contexts, struct err *err)
{
    CLEANUP(json_decrefp) json_t *file = describe(contexts);
    CLEANUP(mem_freep) char *entries = json_format_pretty(file);
    CLEANUP(mem_freep) char *text = mem_format("%s\n", entries);
    const char *slash = strrchr(path, '/');
    CHECK(slash != NULL);
    CLEANUP(mem_freep) char *folder = mem_strndup(path, (size_t)(slash - path));
    if (file_tree_make(folder, 0700, err) != STATUS_OK)
        return err->code;
    return file_write_atomic(path, text, strlen(text), 0600, err);
}
