/*
 * The web UI: its page, for every path that is the page's own (dispatch.c), and the files that the
 * page asks for. Nothing in them is secret; what the page shows it asks the API for. The table is
 * fenced off from the formatter because it is read by column.
 */
#include "base/mem.h"
#include "serve/answer.h"
#include "serve/problem.h"
#include "serve/routes.h"
#include "serve/ui.h"

#define NEVER_CHANGES "public, max-age=31536000, immutable"
#define ASK_AGAIN     "no-cache"

static void put_file(const struct ui_file *file, const struct http_request *request,
                     struct http_response *out)
{
    struct ui_choice choice = ui_choose(file, request);
    out->status = choice.status;
    http_response_add_header(out, "Cache-Control", file->is_immutable ? NEVER_CHANGES : ASK_AGAIN);
    http_response_add_header(out, "ETag", choice.form->etag);
    http_response_add_header(out, "Vary",
                             file->is_immutable ? "Accept-Encoding" : "Accept, Accept-Encoding");
    if (choice.status == 304)
        return;
    out->content_type = file->content_type;
    out->lasting.bytes = choice.form->bytes;
    out->lasting.length = choice.form->length;
    if (choice.is_gzip)
        http_response_add_header(out, "Content-Encoding", "gzip");
}

static enum status answer_page(struct route_call *call, struct http_response *out, struct err *err)
{
    const struct ui_file *page = ui_find(&UI_FILES, "/index.html");
    if (!ui_takes_page(call->request))
        return err_set(err, STATUS_NOT_FOUND,
                       "this is a page for people; /api/v1/openapi.json lists what programs can "
                       "ask for");
    if (page != NULL) {
        put_file(page, call->request, out);
        return STATUS_OK;
    }
    CLEANUP(mem_freep) char *text = ui_missing_page(UI_FILES.missing);
    answer_text(out, 200, "text/html; charset=utf-8", text);
    http_response_add_header(out, "Cache-Control", ASK_AGAIN);
    return STATUS_OK;
}

static enum status answer_asset(struct route_call *call, struct http_response *out, struct err *err)
{
    CLEANUP(mem_freep) char *path = mem_format("/static/%s", route_param(call, "file"));
    const struct ui_file *file = ui_find(&UI_FILES, path);
    if (file == NULL)
        return err_set(err, STATUS_NOT_FOUND, "the web UI has no such file; load its page again");
    put_file(file, call->request, out);
    return STATUS_OK;
}

/* clang-format off */
static const struct route ROWS[] = {
    {HTTP_GET, "/", ROUTE_PUBLIC, .handle = answer_page, .is_quick = true, .is_ui = true,
        .summary = "the web UI"},
    {HTTP_GET, "/static/{file}", ROUTE_PUBLIC, .handle = answer_asset, .is_quick = true,
        .is_ui = true, .summary = "what its page is made of"},
};
/* clang-format on */

const struct route_table ROUTES_UI = {ROWS, ARRAY_LEN(ROWS), NULL};
