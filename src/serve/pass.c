#include "serve/pass.h"

#include <stdlib.h>

#include "base/mem.h"

/* All that says who asks. */
static const char *const CREDENTIALS[] = {"Authorization", "Cookie"};

struct pass {
    const struct serve_world *world;
    struct arena *sent;
    struct http_pair headers[ARRAY_LEN(CREDENTIALS)];
    struct http_request request;
    struct arena *found;
    struct principal principal;
};

struct pass *pass_new(const struct serve_world *world, const struct http_request *request,
                      const struct principal *principal)
{
    struct pass *pass = mem_zalloc(1, sizeof *pass);
    pass->world = world;
    pass->sent = arena_new();
    pass->found = arena_new();
    pass->request = (struct http_request){
        .method = HTTP_GET, /* who only looks needs no second proof */
        .headers = {.items = pass->headers},
        .peer = arena_strdup(pass->sent, request->peer),
        .is_secure = request->is_secure,
    };
    for (size_t i = 0; i < ARRAY_LEN(CREDENTIALS); i++) {
        const char *value = http_header(request, CREDENTIALS[i]);
        if (value != NULL)
            pass->headers[pass->request.headers.count++] =
                (struct http_pair){CREDENTIALS[i], arena_strdup(pass->sent, value)};
    }
    pass->principal = principal_copy(pass->found, principal);
    return pass;
}

void pass_free(struct pass *pass)
{
    if (pass == NULL)
        return;
    arena_free(pass->sent);
    arena_free(pass->found);
    free(pass);
}

const struct principal *pass_principal(const struct pass *pass)
{
    return &pass->principal;
}

enum status pass_look(struct pass *pass, struct service *service, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const struct serve_world *world = pass->world;
    struct dispatch_visitor visitor = {0};
    if (world->admit(world->context, service, &pass->request, arena, &visitor, err) != STATUS_OK)
        return err->code;
    if (!visitor.is_known)
        return err_set(err, STATUS_DENIED, "nobody is known by it");
    struct arena *before = pass->found;
    pass->principal = visitor.principal;
    pass->found = TAKE(arena);
    arena_free(before);
    return STATUS_OK;
}
