#include "serve/router.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

/* Paths are few and short: a tree of segments, siblings in a list, the fixed ones first. */
struct branch {
    const char *text; /* of the segment, not closed by NUL */
    size_t length;
    bool is_name; /* {name}: any segment */
    struct branch *sibling;
    struct branch *child;
    bool has_routes;
    const struct route *routes[HTTP_METHOD_COUNT];
};

struct router {
    struct branch root;
};

static struct branch *new_branch(struct branch *parent, const char *text, size_t length)
{
    struct branch *branch = mem_zalloc(1, sizeof *branch);
    *branch = (struct branch){.text = text, .length = length, .is_name = text[0] == '{'};
    struct branch **place = &parent->child;
    while (branch->is_name && *place != NULL)
        place = &(*place)->sibling;
    branch->sibling = *place;
    *place = branch;
    return branch;
}

static struct branch *child_of(struct branch *parent, const char *text, size_t length)
{
    for (struct branch *at = parent->child; at != NULL; at = at->sibling)
        if (at->length == length && memcmp(at->text, text, length) == 0)
            return at;
    return new_branch(parent, text, length);
}

static void add(struct router *router, const struct route *route)
{
    struct branch *branch = &router->root;
    CHECK(route->pattern[0] == '/');
    for (const char *at = route->pattern; *at == '/';) {
        size_t length = strcspn(++at, "/");
        if (length > 0)
            branch = child_of(branch, at, length);
        at += length;
    }
    CHECK(branch->routes[route->method] == NULL);
    branch->routes[route->method] = route;
    branch->has_routes = true;
}

struct router *router_new(const struct route_table *table)
{
    struct router *router = mem_zalloc(1, sizeof *router);
    for (; table != NULL; table = table->more)
        for (size_t i = 0; i < table->count; i++)
            add(router, &table->rows[i]);
    return router;
}

/* Depth first without recursion: down to the last child, which has none, then it goes. */
static void free_children(struct branch *root)
{
    while (root->child != NULL) {
        struct branch *parent = root;
        while (parent->child->child != NULL)
            parent = parent->child;
        struct branch *leaf = parent->child;
        parent->child = leaf->sibling;
        free(leaf);
    }
}

void router_free(struct router *router)
{
    if (router == NULL)
        return;
    free_children(&router->root);
    free(router);
}

static bool suits(const struct branch *branch, const char *segment)
{
    return branch->is_name || (strlen(segment) == branch->length &&
                               memcmp(segment, branch->text, branch->length) == 0);
}

/*
 * The branch of a path. A fixed segment that leads nowhere is left for a name beside it, so the
 * way back is kept: at each depth, which branch was tried last.
 */
static const struct branch *walk(const struct router *router, const struct url_path *path)
{
    const struct branch *tried[URL_SEGMENTS_MAX] = {NULL};
    const struct branch *next = router->root.child;
    size_t depth = 0;
    if (path->count == 0)
        return router->root.has_routes ? &router->root : NULL;
    for (;;) {
        while (next != NULL && !suits(next, path->segments[depth]))
            next = next->sibling;
        if (next == NULL) {
            if (depth == 0)
                return NULL;
            next = tried[--depth]->sibling;
            continue;
        }
        bool is_last = depth + 1 == path->count;
        if (is_last && next->has_routes)
            return next;
        if (!is_last)
            tried[depth++] = next;
        next = is_last ? next->sibling : next->child;
    }
}

bool router_begins(const struct router *router, const struct url_path *path)
{
    const struct branch *at = router->root.child;
    while (at != NULL && path->count > 0 && !suits(at, path->segments[0]))
        at = at->sibling;
    return at != NULL;
}

struct router_match router_find(const struct router *router, enum http_method method,
                                const struct url_path *path)
{
    struct router_match match = {0};
    const struct branch *branch = walk(router, path);
    if (branch == NULL)
        return match;
    for (size_t i = 0; i < HTTP_METHOD_COUNT; i++)
        if (branch->routes[i] != NULL)
            match.allowed |= 1U << i;
    if (branch->routes[HTTP_GET] != NULL)
        match.allowed |= 1U << HTTP_HEAD;
    match.route = branch->routes[method == HTTP_HEAD ? HTTP_GET : method];
    return match;
}

const char *route_param(const struct route_call *call, const char *name)
{
    size_t index = 0;
    size_t name_length = strlen(name);
    for (const char *at = call->route->pattern; *at == '/'; index++) {
        size_t length = strcspn(++at, "/");
        if (length == name_length + 2 && at[0] == '{' && strncmp(at + 1, name, name_length) == 0)
            return call->path.segments[index];
        at += length;
    }
    UNREACHABLE("the pattern has that name");
}
