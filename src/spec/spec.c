#include "spec/spec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "model/dag_read.h"
#include "model/limits.h"
#include "os/zone_file.h"
#include "spec/yaml_tree.h"

/* ---- ids ---- */

/* File name without its ending, valid or not. Heap. */
static char *default_id(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *id = mem_strdup(slash != NULL ? slash + 1 : path);
    if (str_ends_with(id, ".yaml"))
        id[strlen(id) - 5] = '\0';
    else if (str_ends_with(id, ".yml"))
        id[strlen(id) - 4] = '\0';
    return id;
}

static void refuse_same_ids(struct spec_file *file, const struct yaml_tree *tree)
{
    CLEANUP(strmap_freep) struct strmap *ids = strmap_new();
    for (size_t i = 0; i < file->dags_count; i++) {
        if (file->dags[i] == NULL || strmap_add(ids, file->dags[i]->id, 0))
            continue;
        struct source_span span = yaml_tree_find_place(tree, yaml_tree_documents(tree), i, false);
        diag_add(&file->diags, DIAG_ERROR, span.line, span.column, span.length,
                 "two DAGs of this file have the id '%s': add 'dag: NAME'", file->dags[i]->id);
    }
}

/* ---- encoding ---- */

static size_t sequence_length(const unsigned char *p, size_t left)
{
    static const struct {
        unsigned char first, last, second_least, second_most, length;
    } FORMS[] = {
        {0x01, 0x7F, 0, 0, 1},       {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
        {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
        {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
    };
    for (size_t i = 0; i < ARRAY_LEN(FORMS); i++) {
        if (p[0] < FORMS[i].first || p[0] > FORMS[i].last)
            continue;
        size_t length = FORMS[i].length;
        if (length > left)
            return 0;
        if (length > 1 && (p[1] < FORMS[i].second_least || p[1] > FORMS[i].second_most))
            return 0;
        for (size_t k = 2; k < length; k++)
            if ((p[k] & 0xC0) != 0x80)
                return 0;
        return length;
    }
    return 0;
}

/* False, with a problem at the first byte that is no text. */
static bool check_encoding(struct spec_file *file)
{
    const unsigned char *bytes = (const unsigned char *)file->text;
    int line = 1;
    int column = 1;
    for (size_t i = 0; i < file->length;) {
        size_t length = bytes[i] - 1u < 0x7F ? 1 : sequence_length(bytes + i, file->length - i);
        if (length == 0) {
            diag_add(&file->diags, DIAG_ERROR, line, column, 1,
                     bytes[i] == 0 ? "a NUL byte: this is not a text file"
                                   : "byte 0x%02X is not UTF-8",
                     bytes[i]);
            return false;
        }
        column = bytes[i] == '\n' ? 1 : column + 1;
        line += bytes[i] == '\n';
        i += length;
    }
    return true;
}

/* ---- loading ---- */

/* After a mistake in the YAML itself, documents are read for their problems only. */
static void read_documents(struct spec_file *file, const struct yaml_tree *tree)
{
    const json_t *documents = yaml_tree_documents(tree);
    struct dag_locator locator = yaml_tree_locator(tree);
    bool is_broken = file->diags.errors > 0;
    CLEANUP(mem_freep) char *id = default_id(file->path);
    file->dags_count = json_array_size(documents);
    /* NOLINTNEXTLINE(bugprone-sizeof-expression) -- an array of pointers */
    file->dags = mem_zalloc(file->dags_count + 1, sizeof *file->dags);
    file->lines = mem_zalloc(file->dags_count + 1, sizeof *file->lines);
    for (size_t i = 0; i < file->dags_count; i++) {
        struct dag_read_options options = {
            .default_id = dag_name_is_valid(id) ? id : NULL,
            .refused_id = dag_name_is_valid(id) ? NULL : id,
            .locator = &locator,
            .place = yaml_tree_find_place(tree, documents, i, false),
            .zones = zone_file_read,
        };
        file->lines[i] = options.place.line;
        file->dags[i] = dag_read(json_array_get(documents, i), &options, &file->diags);
        if (is_broken)
            dag_free(TAKE(file->dags[i]));
    }
}

struct spec_file *spec_load_text(const char *path, const char *text, size_t length)
{
    struct spec_file *file = mem_zalloc(1, sizeof *file);
    file->path = mem_strdup(path);
    file->text = mem_alloc(length + 1);
    memcpy(file->text, text, length);
    file->text[length] = '\0';
    file->length = length;
    if (!check_encoding(file))
        return file;
    CLEANUP(yaml_tree_freep)
    struct yaml_tree *tree = yaml_tree_parse(file->text, file->length, &file->diags);
    read_documents(file, tree);
    if (file->dags_count == 0 && file->diags.errors == 0)
        diag_add(&file->diags, DIAG_ERROR, 0, 0, 1,
                 "the file is empty: a DAG needs at least 'tasks'");
    refuse_same_ids(file, tree);
    diag_list_sort(&file->diags);
    return file;
}

static enum status read_all(int fd, const char *path, struct strbuf *text, struct err *err)
{
    char part[16 * 1024 - 512];
    for (;;) {
        ssize_t got = read(fd, part, sizeof part);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_errno(err, errno, "read %s", path);
        if (got == 0)
            return STATUS_OK;
        strbuf_add_bytes(text, part, (size_t)got);
        if (text->overflow)
            return err_set(err, STATUS_LIMIT, "%s is larger than %d MiB", path,
                           LIMIT_FILE_BYTES >> 20);
    }
}

static enum status read_file(const char *path, struct strbuf *text, struct err *err)
{
    /* Not blocking, or a named pipe would hold us up before we see that it is one. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return err_errno(err, errno, "open %s", path);
    struct stat status;
    enum status result = STATUS_OK;
    if (fstat(fd, &status) != 0)
        result = err_errno(err, errno, "stat %s", path);
    else if (S_ISDIR(status.st_mode))
        result = err_set(err, STATUS_INVALID, "%s is a folder", path);
    else if (!S_ISREG(status.st_mode))
        result = err_set(err, STATUS_INVALID, "%s is not a regular file", path);
    else
        result = read_all(fd, path, text, err);
    (void)close(fd);
    return result;
}

enum status spec_load_file(const char *path, struct spec_file **out, struct err *err)
{
    struct strbuf text;
    strbuf_init(&text, LIMIT_FILE_BYTES);
    enum status result = read_file(path, &text, err);
    if (result == STATUS_OK)
        *out = spec_load_text(path, text.text, text.length);
    strbuf_fini(&text);
    return result;
}

void spec_file_free(struct spec_file *file)
{
    if (file == NULL)
        return;
    for (size_t i = 0; i < file->dags_count; i++)
        dag_free(file->dags[i]);
    free(file->dags);
    free(file->lines);
    free(file->path);
    free(file->text);
    diag_list_fini(&file->diags);
    free(file);
}
