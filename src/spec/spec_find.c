#include "spec/spec_find.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/str.h"

enum { DEPTH_MAX = 32, FILES_MAX = 100000, RULES_MAX = 10000, RULE_BYTES_MAX = 4096 };

struct rule {
    char *base;    /* folder of the .eiderignore, with a slash at the end */
    char *pattern; /* without marks */
    bool takes_back;
    bool folders_only;
    bool is_tied; /* to `base`; else it matches the last part of a path */
};

struct finder {
    struct spec_paths *out;
    struct spec_paths *visited; /* or NULL */
    struct rule *rules;
    size_t rules_count;
    size_t rules_capacity;
    /* Folders still to visit. */
    struct folder {
        char *path;
        size_t depth;
    } * folders;
    size_t folders_count;
    size_t folders_capacity;
};

void spec_paths_fini(struct spec_paths *paths)
{
    for (size_t i = 0; i < paths->count; i++)
        free(paths->items[i]);
    free(paths->items);
    *paths = (struct spec_paths){0};
}

static void add_path(struct spec_paths *paths, char *taken)
{
    paths->items = mem_grow(paths->items, &paths->capacity, paths->count, sizeof *paths->items);
    paths->items[paths->count++] = taken;
}

/* ---- .eiderignore ---- */

static void add_rule(struct finder *f, const char *folder, char *line)
{
    size_t length = strcspn(line, "\r\n");
    while (length > 0 && line[length - 1] == ' ')
        length--;
    line[length] = '\0';
    struct rule rule = {0};
    if (*line == '#' || *line == '\0')
        return;
    if (*line == '!') {
        rule.takes_back = true;
        line++;
        length--;
    }
    if (*line == '\\')
        line++, length--;
    if (length > 0 && line[length - 1] == '/') {
        rule.folders_only = true;
        line[--length] = '\0';
    }
    rule.is_tied = strchr(line, '/') != NULL;
    line += *line == '/';
    if (*line == '\0')
        return;
    rule.base = mem_format("%s/", folder);
    rule.pattern = mem_strdup(line);
    f->rules = mem_grow(f->rules, &f->rules_capacity, f->rules_count, sizeof *f->rules);
    f->rules[f->rules_count++] = rule;
}

static void read_rules(struct finder *f, const char *folder)
{
    CLEANUP(mem_freep) char *path = mem_format("%s/.eiderignore", folder);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return;
    char line[RULE_BYTES_MAX];
    while (f->rules_count < RULES_MAX && fgets(line, sizeof line, file) != NULL)
        add_rule(f, folder, line);
    (void)fclose(file);
}

/* `**` may stand for nothing at all, which fnmatch does not know. */
static bool matches_tied(const char *pattern, const char *relative)
{
    if (str_starts_with(pattern, "**/"))
        return fnmatch(pattern + 3, relative, 0) == 0 || fnmatch(pattern, relative, 0) == 0;
    return fnmatch(pattern, relative, strstr(pattern, "**") != NULL ? 0 : FNM_PATHNAME) == 0;
}

static bool rule_matches(const struct rule *rule, const char *path, bool is_folder)
{
    if ((rule->folders_only && !is_folder) || !str_starts_with(path, rule->base))
        return false;
    const char *relative = path + strlen(rule->base);
    if (rule->is_tied)
        return matches_tied(rule->pattern, relative);
    const char *slash = strrchr(relative, '/');
    return fnmatch(rule->pattern, slash != NULL ? slash + 1 : relative, 0) == 0;
}

static bool is_ignored(const struct finder *f, const char *path, bool is_folder)
{
    for (size_t i = f->rules_count; i-- > 0;)
        if (rule_matches(&f->rules[i], path, is_folder))
            return !f->rules[i].takes_back;
    return false;
}

/* ---- walking ---- */

static void push_folder(struct finder *f, char *taken, size_t depth)
{
    f->folders = mem_grow(f->folders, &f->folders_capacity, f->folders_count, sizeof *f->folders);
    struct folder *folder = &f->folders[f->folders_count++];
    folder->path = taken;
    folder->depth = depth;
}

static bool is_dag_name(const char *name)
{
    return str_ends_with(name, ".yaml") || str_ends_with(name, ".yml");
}

static enum status visit_entry(struct finder *f, const struct folder *folder, const char *name,
                               struct err *err)
{
    if (name[0] == '.' || name[0] == '_')
        return STATUS_OK;
    char *path = mem_format("%s/%s", folder->path, name);
    struct stat linked;
    struct stat status;
    bool is_there = lstat(path, &linked) == 0 && stat(path, &status) == 0;
    bool is_folder = is_there && S_ISDIR(linked.st_mode);
    bool is_wanted = is_folder || (is_there && S_ISREG(status.st_mode) && is_dag_name(name));
    if (!is_wanted || is_ignored(f, path, is_folder)) {
        free(path);
        return STATUS_OK;
    }
    if (is_folder && folder->depth < DEPTH_MAX) {
        push_folder(f, path, folder->depth + 1);
        return STATUS_OK;
    }
    if (is_folder || f->out->count == FILES_MAX) {
        enum status code = err_set(
            err, STATUS_LIMIT, "%s: folders are nested too deeply or hold too many files", path);
        free(path);
        return code;
    }
    add_path(f->out, path);
    return STATUS_OK;
}

static enum status visit_folder(struct finder *f, const struct folder *folder, struct err *err)
{
    DIR *stream = opendir(folder->path);
    if (stream == NULL)
        return err_errno(err, errno, "open folder %s", folder->path);
    read_rules(f, folder->path);
    enum status result = STATUS_OK;
    for (struct dirent *entry = readdir(stream); entry != NULL && result == STATUS_OK;
         entry = readdir(stream))
        result = visit_entry(f, folder, entry->d_name, err);
    (void)closedir(stream);
    return result;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static enum status walk(struct finder *f, struct err *err)
{
    enum status result = STATUS_OK;
    while (f->folders_count > 0 && result == STATUS_OK) {
        struct folder folder = f->folders[--f->folders_count];
        result = visit_folder(f, &folder, err);
        if (f->visited != NULL)
            add_path(f->visited, mem_strdup(folder.path));
        free(folder.path);
    }
    return result;
}

static void finder_fini(struct finder *f)
{
    for (size_t i = 0; i < f->folders_count; i++)
        free(f->folders[i].path);
    for (size_t i = 0; i < f->rules_count; i++) {
        free(f->rules[i].base);
        free(f->rules[i].pattern);
    }
    free(f->folders);
    free(f->rules);
}

enum status spec_find_tree(const char *path, struct spec_paths *out, struct spec_paths *folders,
                           struct err *err)
{
    struct spec_paths found = {0};
    struct finder finder = {.out = &found, .visited = folders};
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    push_folder(&finder, mem_strndup(path, length), 1);
    enum status result = walk(&finder, err);
    finder_fini(&finder);
    if (result == STATUS_OK && found.count > 0) {
        qsort(found.items, found.count, sizeof *found.items, compare_paths);
        for (size_t i = 0; i < found.count; i++)
            add_path(out, found.items[i]);
        found.count = 0;
    }
    spec_paths_fini(&found);
    return result;
}

enum status spec_find_files(const char *path, struct spec_paths *out, struct err *err)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return err_errno(err, errno, "%s", path);
    if (S_ISDIR(status.st_mode))
        return spec_find_tree(path, out, NULL, err);
    add_path(out, mem_strdup(path));
    return STATUS_OK;
}
