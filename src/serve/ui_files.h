#pragma once
/*
 * ui_files: the files of the web UI, which the build puts into the program (tools/build-ui).
 *
 * They are kept compressed, or as they are where compressing gains nothing. The page itself has
 * both forms: people look at it without a browser too.
 */
#include <stdbool.h>
#include <stddef.h>

/* One form of a file's content. Static, and never changes. */
struct ui_form {
    const unsigned char *bytes; /* NULL: the file has no such form */
    size_t length;
    const char *etag; /* strong, with its quotes */
};

struct ui_file {
    const char *path; /* "/index.html", "/static/app-1a2b3c4d.js" */
    const char *content_type;
    bool is_immutable; /* its name changes with its content */
    struct ui_form gzip;
    struct ui_form plain;
};

struct ui_files {
    const struct ui_file *items;
    size_t count;
    const char *missing; /* why there are none, as the end of a sentence; NULL: there are */
};

extern const struct ui_files UI_FILES;
