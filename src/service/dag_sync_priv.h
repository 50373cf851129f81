#pragma once
/*
 * dag_sync_priv: what is remembered of each file, and how one is read.
 */
#include "base/sha256.h"
#include "os/file_stamp.h"
#include "service/dag_sync.h"
#include "spec/spec.h"
#include "store/dag_file.h"

/* A file that DAGs name. */
struct sync_part {
    char *path;
    struct file_stamp stamp; /* of zeros: it was not there */
};

struct sync_file {
    char *path;
    struct file_stamp stamp; /* as it was read */
    char hash[SHA256_HEX_MAX];
    struct sync_part *parts;
    size_t parts_count;
    bool is_kept;    /* the store knows it */
    bool is_broken;  /* it has problems */
    bool is_refused; /* only because another file has a DAG of it */
    bool is_due;     /* to be read */
};

void sync_file_fini(struct sync_file *file);
/* From what the store keeps. */
void sync_file_init(struct sync_file *file, const struct dag_file *kept);
/* Whether the file, or one that its DAGs name, was touched since it was read. */
bool sync_file_is_touched(const struct sync_file *file, const struct file_stamp *stamp);

/* What reading a file gave: everything that struct dag_file_change borrows. */
struct sync_reading {
    struct sync_file *file;
    struct file_stamp stamp;
    char hash[SHA256_HEX_MAX];
    bool is_same;
    struct spec_file *spec; /* NULL: it was not parsed */
    char *problems;         /* NULL: none */
    struct sync_part *parts;
    size_t parts_count;
    char *parts_text;
    size_t bytes;
};

/*
 * Read a file, and parse it unless it is the same as before. False: it is being written, or gone.
 * `settle_ms` as in dag_sync_options.
 */
NODISCARD bool sync_read(struct sync_file *file, int64_t settle_ms, struct sync_reading *out);
void sync_reading_fini(struct sync_reading *reading);
struct dag_file_change sync_reading_change(const struct sync_reading *reading);
/* It is in the store: the file is remembered as it was read. */
void sync_reading_accept(struct sync_reading *reading, const struct dag_file_result *result);
