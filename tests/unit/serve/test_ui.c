#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "expect.h"
#include "serve/dispatch.h"
#include "serve/preference.h"
#include "serve/routes.h"
#include "serve/ui.h"

#define CHROMIUM "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"

static const unsigned char BYTES[] = "bytes";
static const struct ui_file PAGE = {
    .path = "/index.html",
    .content_type = "text/html",
    .gzip = {BYTES, 5, "\"small\""},
    .plain = {BYTES, 5, "\"plain\""},
};
static const struct ui_file SCRIPT = {
    .path = "/static/app-12345678.js", .is_immutable = true, .gzip = {BYTES, 5, "\"script\""}};
static const struct ui_file FONT = {
    .path = "/static/font-12345678.woff2", .is_immutable = true, .plain = {BYTES, 5, "\"font\""}};

/* A request with up to three headers, those with a value. */
struct asked {
    struct http_pair pairs[3];
    struct http_request request;
};

static const struct http_request *ask(struct asked *asked, const char *accept, const char *encoding,
                                      const char *tags)
{
    const struct http_pair all[] = {
        {"Accept", accept}, {"Accept-Encoding", encoding}, {"If-None-Match", tags}};
    *asked = (struct asked){.request = {.path = "/", .headers = {.items = asked->pairs}}};
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (all[i].value != NULL)
            asked->pairs[asked->request.headers.count++] = all[i];
    return &asked->request;
}

Test(preference, is_read_from_lists)
{
    static const struct {
        const char *list, *name;
        enum preference expected;
    } CASES[] = {
        {NULL, "gzip", PREFERENCE_NONE},
        {"", "gzip", PREFERENCE_NONE},
        {"gzip", "gzip", PREFERENCE_TAKEN},
        {"GZip", "gzip", PREFERENCE_TAKEN},
        {"gzipped", "gzip", PREFERENCE_NONE},
        {"x-gzip", "gzip", PREFERENCE_NONE},
        {"br, gzip;q=0.1", "gzip", PREFERENCE_TAKEN},
        {"br,gzip;q=0", "gzip", PREFERENCE_REFUSED},
        {"gzip ; q=0.000 , br", "gzip", PREFERENCE_REFUSED},
        {"gzip;Q=0.001", "gzip", PREFERENCE_TAKEN},
        {"gzip;q=", "gzip", PREFERENCE_TAKEN},
        {"gzip;level=1;q=0", "gzip", PREFERENCE_REFUSED},
        {"gzip;level=0,br;q=0", "gzip", PREFERENCE_TAKEN},
        {",,;, gzip", "gzip", PREFERENCE_TAKEN},
        {CHROMIUM, "text/html", PREFERENCE_TAKEN},
        {CHROMIUM, "*/*", PREFERENCE_TAKEN},
        {CHROMIUM, "text/plain", PREFERENCE_NONE},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
        cr_expect_eq(preference_of(CASES[i].list, CASES[i].name), CASES[i].expected, "'%s'",
                     CASES[i].list);
}

Test(ui, a_browser_is_who_names_html)
{
    static const struct {
        const char *accept;
        bool is_browser, takes_page;
    } CASES[] = {
        {CHROMIUM, true, true},
        {"text/html", true, true},
        {NULL, false, true},
        {"*/*", false, true},
        {"text/*", false, true},
        {"application/json", false, false},
        {"application/json, */*;q=0", false, false},
        {"text/html;q=0, */*", false, false},
        {"image/avif,image/webp,*/*", false, true},
        {"text/event-stream", false, false},
    };
    struct asked asked;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        const struct http_request *request = ask(&asked, CASES[i].accept, NULL, NULL);
        cr_expect_eq(ui_is_browser(request), CASES[i].is_browser, "'%s'", CASES[i].accept);
        cr_expect_eq(ui_takes_page(request), CASES[i].takes_page, "'%s'", CASES[i].accept);
    }
}

Test(ui, the_form_is_one_that_the_client_takes_or_the_only_one)
{
    static const struct {
        const struct ui_file *file;
        const char *encoding;
        bool is_gzip;
    } CASES[] = {
        {&PAGE, "gzip, deflate, br", true},
        {&PAGE, "*", true},
        {&PAGE, "gzip;q=0, *", false},
        {&PAGE, "identity", false},
        {&PAGE, NULL, false},
        {&SCRIPT, "gzip", true},
        {&SCRIPT, NULL, true},
        {&SCRIPT, "identity", true},
        {&FONT, "gzip", false},
        {&FONT, NULL, false},
    };
    struct asked asked;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct ui_choice choice =
            ui_choose(CASES[i].file, ask(&asked, NULL, CASES[i].encoding, NULL));
        cr_expect_eq(choice.status, 200);
        cr_expect_eq(choice.is_gzip, CASES[i].is_gzip, "%s to '%s'", CASES[i].file->path,
                     CASES[i].encoding);
        cr_expect_eq(choice.form, CASES[i].is_gzip ? &CASES[i].file->gzip : &CASES[i].file->plain);
    }
}

Test(ui, who_has_it_is_told_so)
{
    static const struct {
        const char *encoding, *tags;
        int status;
    } CASES[] = {
        {"gzip", "\"small\"", 304},
        {"gzip", "W/\"small\"", 304},
        {"gzip", "\"other\", \"small\"", 304},
        {"gzip", "*", 304},
        {NULL, "\"plain\"", 304},
        {NULL, "\"small\"", 200}, /* another form */
        {"gzip", "\"plain\"", 200},
        {"gzip", "\"smal", 200},
        {"gzip", "small", 200},
        {"gzip", "", 200},
        {"gzip", NULL, 200},
    };
    struct asked asked;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
        cr_expect_eq(ui_choose(&PAGE, ask(&asked, NULL, CASES[i].encoding, CASES[i].tags)).status,
                     CASES[i].status, "'%s'", CASES[i].tags);
}

Test(ui, files_are_found_by_their_whole_path)
{
    const struct ui_file all[] = {PAGE, SCRIPT};
    const struct ui_files files = {.items = all, .count = 2};
    const struct ui_files none = {.missing = "x"};
    cr_expect_eq(ui_find(&files, "/static/app-12345678.js"), &all[1]);
    cr_expect_null(ui_find(&files, "/static/app-12345678.j"));
    cr_expect_null(ui_find(&files, "/static/"));
    cr_expect_null(ui_find(&none, "/index.html"));
}

Test(ui, a_program_without_it_says_why_and_what_to_do)
{
    CLEANUP(mem_freep) char *page = ui_missing_page("Node was not found");
    static const char *const PARTS[] = {
        "Node was not found.", "Node 18",      "npm",
        "make build",          "eider --help", "/api/v1/openapi.json"};
    for (size_t i = 0; i < ARRAY_LEN(PARTS); i++)
        cr_expect_not_null(strstr(page, PARTS[i]), "%s", PARTS[i]);
    cr_expect_null(strstr(page, "<script"));
}

Test(ui, the_program_has_it_or_says_why_not)
{
    const struct ui_file *page = ui_find(&UI_FILES, "/index.html");
    cr_assert_eq(page == NULL, UI_FILES.missing != NULL);
    if (page == NULL)
        return;
    cr_expect_not_null(page->plain.bytes);
    cr_expect(!page->is_immutable);
    for (size_t i = 0; i < UI_FILES.count; i++) {
        const struct ui_file *file = &UI_FILES.items[i];
        cr_expect(file->gzip.bytes != NULL || file->plain.bytes != NULL, "%s", file->path);
        cr_expect_eq(file->is_immutable, str_starts_with(file->path, "/static/"), "%s", file->path);
    }
}

/* --- through the server ---------------------------------------------------------------------- */

static int look(enum http_method method, const char *path, const char *accept)
{
    struct route_table *table = routes_new();
    struct router *router = router_new(table);
    const struct serve_world world = {.router = router};
    struct http_pair pair = {"Accept", accept};
    struct http_request request = {
        .method = method, .path = path, .headers = {&pair, accept != NULL ? 1 : 0}, .peer = ""};
    struct http_response response;
    http_response_init(&response);
    const struct route *route = dispatch_look(&world, &request, &response);
    int status = route != NULL ? 0 : response.status;
    http_response_fini(&response);
    router_free(router);
    routes_free(table);
    return status;
}

Test(ui, paths_that_nobody_has_are_the_pages)
{
    static const struct {
        enum http_method method;
        const char *path, *accept;
        int status; /* 0: a worker has to answer */
    } CASES[] = {
        {HTTP_GET, "/", NULL, 200},
        {HTTP_HEAD, "/", "text/html", 200},
        {HTTP_GET, "/", "application/json", 404},
        {HTTP_POST, "/", "text/html", 405},
        {HTTP_GET, "/dags/sales/grid", "text/html", 200},
        {HTTP_GET, "/dags/sales/", "text/html", 200},
        {HTTP_GET, "/runs/17", CHROMIUM, 200},
        {HTTP_HEAD, "/runs/17", CHROMIUM, 200},
        {HTTP_POST, "/runs/17", CHROMIUM, 405},
        {HTTP_GET, "/runs/17", "application/json", 404},
        {HTTP_GET, "/runs/17", "*/*", 404},
        {HTTP_GET, "/runs/17", NULL, 404},
        {HTTP_DELETE, "/runs/17", NULL, 404},
        {HTTP_GET, "/runs/../x", CHROMIUM, 404},
        {HTTP_GET, "//runs", CHROMIUM, 404},
        {HTTP_GET, "/runs/%zz", CHROMIUM, 404},
        {HTTP_GET, "/api", CHROMIUM, 404},
        {HTTP_GET, "/api/v1/nowhere", CHROMIUM, 404},
        {HTTP_GET, "/%61pi/v1/nowhere", CHROMIUM, 404},
        {HTTP_GET, "/hooks", CHROMIUM, 404},
        {HTTP_GET, "/healthz/more", CHROMIUM, 404},
        {HTTP_GET, "/healthz/", CHROMIUM, 404},
        {HTTP_GET, "/login", CHROMIUM, 0},
        {HTTP_GET, "/static", CHROMIUM, 404},
        {HTTP_GET, "/static/none-12345678.js", CHROMIUM, 404},
        {HTTP_GET, "/static/..", CHROMIUM, 404},
        {HTTP_GET, "/static/..%2findex.html", CHROMIUM, 404},
        {HTTP_GET, "/static/a/b", CHROMIUM, 404},
        {HTTP_PUT, "/static/app.js", CHROMIUM, 405},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
        cr_expect_eq(look(CASES[i].method, CASES[i].path, CASES[i].accept), CASES[i].status,
                     "%s %s to '%s'", http_method_name(CASES[i].method), CASES[i].path,
                     CASES[i].accept);
}
