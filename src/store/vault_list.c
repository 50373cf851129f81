/*
 * vault_list: variables, connections and secrets of every place, side by side.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "os/file.h"
#include "os/file_tree.h"
#include "store/vault_priv.h"

enum { SECRET_FILES_MAX = 100000 };

struct listing {
    struct vault *vault;
    enum vault_kind kind;
    json_t *rows;
};

static json_t *new_row(enum vault_origin origin, const char *name, const char *place)
{
    json_t *row = json_object();
    json_put_string(row, "name", name);
    json_put(row, "namespace", json_null());
    json_put_string(row, "source", vault_origin_name(origin));
    json_put_string(row, "place", place);
    json_put(row, "value", json_null());
    json_put(row, "problem", json_null());
    json_put(row, "key_id", json_null());
    json_put(row, "doc", json_null());
    json_put(row, "updated_by", json_null());
    json_put(row, "updated_at", json_null());
    json_put_bool(row, "hidden", false);
    return row;
}

static void add_row(struct listing *listing, json_t *taken)
{
    CHECK(json_array_append_new(listing->rows, taken) == 0);
}

static void put_connection(json_t *row, struct connection *connection, enum status status,
                           const struct err *err)
{
    if (status == STATUS_OK)
        json_put(row, "value", connection_shown_json(connection));
    else
        json_put_string(row, "problem", err->text);
    connection_fini(connection);
}

/* --- places ---------------------------------------------------------------------------------- */

static void add_variable_of_env(struct listing *listing, const char *entry)
{
    const char *equals = strchr(entry, '=');
    if (equals == NULL)
        return;
    CLEANUP(mem_freep) char *variable = mem_strndup(entry, (size_t)(equals - entry));
    enum env_kind kind = ENV_KIND_COUNT;
    CLEANUP(mem_freep) char *name = env_name_parse(variable, &kind);
    if (name == NULL || (enum vault_kind)kind != listing->kind)
        return;
    json_t *row = new_row(VAULT_ENVIRONMENT, name, variable);
    if (listing->kind == VAULT_VARIABLE)
        json_put(row, "value", json_text(equals + 1, strlen(equals + 1)));
    if (listing->kind == VAULT_CONNECTION) {
        struct connection connection = {0};
        struct err err = {0};
        enum status status = connection_parse(equals + 1, &connection, &err);
        put_connection(row, &connection, status, &err);
    }
    add_row(listing, row);
}

static void add_of_environment(struct listing *listing)
{
    char *const *entries = listing->vault->sources->environment;
    for (; entries != NULL && *entries != NULL; entries++)
        add_variable_of_env(listing, *entries);
}

static void add_of_yaml(struct listing *listing)
{
    bool is_variable = listing->kind == VAULT_VARIABLE;
    const struct vault_sources *sources = listing->vault->sources;
    const json_t *entries = is_variable ? sources->variables : sources->connections;
    const char *name;
    json_t *entry;
    json_object_foreach((json_t *)(uintptr_t)entries, name, entry)
    {
        json_t *row =
            new_row(VAULT_FILE, name, is_variable ? "variables.yaml" : "connections.yaml");
        if (is_variable) {
            json_put(row, "value", json_deep_copy(entry));
        } else {
            struct connection connection = {0};
            struct err err = {0};
            enum status status = vault_file_connection(listing->vault, VAULT_DEFAULT_SPACE, name,
                                                       entry, &connection, &err);
            put_connection(row, &connection, status, &err);
        }
        add_row(listing, row);
    }
}

static enum status add_of_folder(struct listing *listing, struct err *err)
{
    const char *dir = listing->vault->sources->secrets_dir;
    if (dir == NULL || dir[0] == '\0')
        return STATUS_OK;
    CLEANUP(file_closep) int fd = -1;
    struct file_tree_list files = {0};
    if (file_open_directory(dir, &fd, err) != STATUS_OK)
        return err->code == STATUS_NOT_FOUND ? STATUS_OK : err_wrap(err, "secrets_dir");
    if (file_tree_list(fd, SECRET_FILES_MAX, &files, err) != STATUS_OK)
        return err_wrap(err, "secrets_dir");
    for (size_t i = 0; i < files.count; i++) {
        const struct file_tree_entry *file = &files.entries[i];
        struct err ignored = {0};
        /* Kubernetes mounts links to files, and folders of its own whose names begin with dots. */
        if ((file->type != DT_REG && file->type != DT_LNK) ||
            vault_check_name(VAULT_SECRET, VAULT_DEFAULT_SPACE, file->name, &ignored) != STATUS_OK)
            continue;
        CLEANUP(mem_freep) char *path = vault_secret_path(listing->vault, file->name);
        add_row(listing, new_row(VAULT_FILE, file->name, path));
    }
    file_tree_list_fini(&files);
    return STATUS_OK;
}

static json_t *row_of_store(enum vault_kind kind, const struct vault_row *stored)
{
    json_t *row = new_row(VAULT_STORE, stored->name, NULL);
    char key_id[SECRET_KEY_ID_MAX];
    struct err ignored = {0};
    json_t *shown = NULL;
    json_put_string(row, "namespace", stored->space);
    if (kind == VAULT_VARIABLE)
        json_put_string(row, "value", stored->value);
    else if (kind == VAULT_CONNECTION &&
             json_parse(stored->value, strlen(stored->value), &shown, &ignored) == STATUS_OK)
        json_put(row, "value", shown);
    if (stored->sealed != NULL && secret_box_key_id(stored->sealed, key_id))
        json_put_string(row, "key_id", key_id);
    json_put_string(row, "doc", stored->doc);
    json_put_string(row, "updated_by", stored->actor);
    json_put_instant(row, "updated_at", stored->updated_at_us);
    return row;
}

static enum status add_of_store(struct listing *listing, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct vault_row *rows = NULL;
    size_t count = 0;
    if (vault_reach(listing->vault, err) != STATUS_OK)
        return err->code;
    if (listing->vault->store == NULL)
        return STATUS_OK;
    if (store_vault_list(listing->vault->store, arena, listing->kind, &rows, &count, err) !=
        STATUS_OK)
        return err->code;
    for (size_t i = 0; i < count; i++)
        add_row(listing, row_of_store(listing->kind, &rows[i]));
    return STATUS_OK;
}

/* --- all of them ----------------------------------------------------------------------------- */

struct ranked {
    json_t *row;
    size_t rank; /* as the places count */
};

static int compare(const void *a, const void *b)
{
    const struct ranked *left = a;
    const struct ranked *right = b;
    int order =
        strcmp(json_get_string(left->row, "name", ""), json_get_string(right->row, "name", ""));
    if (order != 0)
        return order;
    return left->rank < right->rank ? -1 : left->rank > right->rank;
}

/*
 * Whether the variable of one is also that of the other: what the environment has counts for every
 * name that it may stand for.
 */
static bool is_hidden_by(enum vault_kind kind, const json_t *row, const json_t *other)
{
    char *names[ENV_NAMES] = {NULL};
    const char *source = json_get_string(other, "source", "");
    bool is_hidden = false;
    if (str_equal(source, vault_origin_name(VAULT_ENVIRONMENT)) &&
        env_names((enum env_kind)kind, json_get_string(row, "name", ""), names))
        is_hidden = str_equal(names[0], json_get_string(other, "place", "")) ||
                    str_equal(names[1], json_get_string(other, "place", ""));
    else if (str_equal(source, vault_origin_name(VAULT_FILE)))
        is_hidden = str_equal(json_get_string(row, "name", ""), json_get_string(other, "name", ""));
    for (size_t i = 0; i < ENV_NAMES; i++)
        free(names[i]);
    return is_hidden;
}

/* What is outside of the store is little, and comes first. */
static void mark_hidden(const struct listing *listing, size_t outside)
{
    size_t i;
    json_t *row;
    json_array_foreach(listing->rows, i, row)
    {
        bool is_hidden = false;
        for (size_t j = 0; j < MIN(i, outside) && !is_hidden; j++)
            is_hidden = is_hidden_by(listing->kind, row, json_array_get(listing->rows, j));
        json_put_bool(row, "hidden", is_hidden);
    }
}

static json_t *sorted(const json_t *rows)
{
    size_t count = json_array_size(rows);
    struct ranked *all = mem_zalloc(count + 1, sizeof *all);
    for (size_t i = 0; i < count; i++)
        all[i] = (struct ranked){json_array_get(rows, i), i};
    qsort(all, count, sizeof *all, compare);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        CHECK(json_array_append(list, all[i].row) == 0);
    free(all);
    return list;
}

enum status vault_list(struct vault *vault, enum vault_kind kind, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *rows = json_array();
    struct listing listing = {.vault = vault, .kind = kind, .rows = rows};
    add_of_environment(&listing);
    if (kind != VAULT_SECRET)
        add_of_yaml(&listing);
    else if (add_of_folder(&listing, err) != STATUS_OK)
        return err->code;
    size_t outside = json_array_size(rows);
    if (add_of_store(&listing, err) != STATUS_OK)
        return err->code;
    mark_hidden(&listing, outside);
    *out = sorted(rows);
    return STATUS_OK;
}
