#pragma once
/*
 * ui: which file of the web UI answers a request, and in which form. Only decides.
 *
 * The UI is one page; paths such as /dags/sales/grid are its own, and all of them get that page. A
 * program that asks for such a path is told that there is none: only who names `text/html` is taken
 * for a browser.
 */
#include "serve/http.h"
#include "serve/ui_files.h"

/* Whether the client is a browser that wants to show a page. */
bool ui_is_browser(const struct http_request *request);
/* The same for the address alone, where somebody may look with any program. */
bool ui_takes_page(const struct http_request *request);

/* NULL: there is none. */
const struct ui_file *ui_find(const struct ui_files *files, const char *path);

struct ui_choice {
    int status;                 /* 200, or 304: the client has it */
    const struct ui_form *form; /* of the file */
    bool is_gzip;
};

/* Who does not take the only form that there is gets it nevertheless. */
struct ui_choice ui_choose(const struct ui_file *file, const struct http_request *request);

/* The page of a program that was built without the UI; freed by the caller. */
NODISCARD char *ui_missing_page(const char *why);
