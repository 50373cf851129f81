#pragma once
/*
 * spec: DAG files.
 *
 * A file with problems is a normal answer: its diagnostics say which, and its DAGs are NULL
 * where they are invalid; all of them, when the file is not good YAML. Only a file that cannot be
 * read at all is an error.
 *
 * Ownership  spec_file_free frees the DAGs that are still in the list; take one by setting
 *            its entry to NULL.
 */
#include <stddef.h>

#include "base/attrs.h"
#include "base/err.h"
#include "model/dag.h"
#include "model/diag.h"

struct spec_file {
    char *path;
    char *text; /* the source, closed by NUL */
    size_t length;
    struct dag **dags; /* one per document; NULL: invalid */
    int *lines;        /* where each document begins */
    size_t dags_count;
    struct diag_list diags; /* sorted by place */
};

/*
 * Read a file.
 *
 *   STATUS_NOT_FOUND  there is none
 *   STATUS_INVALID    a folder or another thing that is not a regular file
 *   STATUS_LIMIT      larger than LIMIT_FILE_BYTES
 *   STATUS_DENIED, STATUS_IO
 */
NODISCARD enum status spec_load_file(const char *path, struct spec_file **out, struct err *err);

/* The same from memory; `path` gives the default id and is shown in messages. Cannot fail. */
NODISCARD struct spec_file *spec_load_text(const char *path, const char *text, size_t length);

/*
 * Give the DAGs the files that their tasks name, from the folder of the DAG file. One that is
 * missing, too large or unreadable is a problem at the place of its name, and its DAG is invalid.
 */
void spec_add_files(struct spec_file *file);
/* The path of a file that a DAG of this file names; heap. */
NODISCARD char *spec_named_path(const char *spec_path, const char *name);

void spec_file_free(struct spec_file *file); /* NULL is allowed */

static inline void spec_file_freep(struct spec_file **file)
{
    spec_file_free(*file);
}
