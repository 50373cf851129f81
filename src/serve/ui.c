#include "serve/ui.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "serve/preference.h"

bool ui_is_browser(const struct http_request *request)
{
    return preference_of(http_header(request, "Accept"), "text/html") == PREFERENCE_TAKEN;
}

bool ui_takes_page(const struct http_request *request)
{
    const char *accept = http_header(request, "Accept");
    enum preference html = preference_of(accept, "text/html");
    if (accept == NULL || html != PREFERENCE_NONE)
        return html != PREFERENCE_REFUSED;
    return preference_of(accept, "text/*") == PREFERENCE_TAKEN ||
           preference_of(accept, "*/*") == PREFERENCE_TAKEN;
}

const struct ui_file *ui_find(const struct ui_files *files, const char *path)
{
    for (size_t i = 0; i < files->count; i++)
        if (str_equal(files->items[i].path, path))
            return &files->items[i];
    return NULL;
}

/* Who says nothing takes anything, but may not know what to do with it. */
static bool takes_gzip(const struct http_request *request)
{
    const char *accept = http_header(request, "Accept-Encoding");
    enum preference gzip = preference_of(accept, "gzip");
    if (gzip == PREFERENCE_NONE)
        gzip = preference_of(accept, "*");
    return gzip == PREFERENCE_TAKEN;
}

/* A tag that a proxy made weak is that tag. */
static bool has_tag(const char *tags, const char *etag)
{
    size_t etag_length = strlen(etag);
    for (const char *at = tags; at != NULL && *at != '\0';) {
        at += strspn(at, ", \t");
        if (*at == '*')
            return true;
        if (str_starts_with(at, "W/"))
            at += 2;
        size_t length = strcspn(at, ", \t");
        if (length == etag_length && memcmp(at, etag, length) == 0)
            return true;
        at += length;
    }
    return false;
}

struct ui_choice ui_choose(const struct ui_file *file, const struct http_request *request)
{
    bool is_gzip = file->gzip.bytes != NULL && (takes_gzip(request) || file->plain.bytes == NULL);
    const struct ui_form *form = is_gzip ? &file->gzip : &file->plain;
    bool is_there = has_tag(http_header(request, "If-None-Match"), form->etag);
    return (struct ui_choice){.status = is_there ? 304 : 200, .form = form, .is_gzip = is_gzip};
}

char *ui_missing_page(const char *why)
{
    return mem_format(
        "<!doctype html>\n"
        "<html lang=\"en\">\n"
        "<head><meta charset=\"utf-8\"><title>Eider</title></head>\n"
        "<body>\n"
        "<h1>Eider " EIDER_VERSION "</h1>\n"
        "<p>This program works, but was built without its web UI: %s.</p>\n"
        "<p>To have it, install Node 18 or newer with npm, run <code>make build</code> in the\n"
        "source tree, and start the daemon again.</p>\n"
        "<p>Everything can be done without it: <code>eider --help</code> lists the commands,\n"
        "<a href=\"/api/v1/openapi.json\">/api/v1/openapi.json</a> describes the API.</p>\n"
        "</body>\n"
        "</html>\n",
        why);
}
