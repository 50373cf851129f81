#include <string.h>

#include "expect.h"
#include "serve/router.h"
#include "serve/routes.h"

static const struct route ROWS[] = {
    {.method = HTTP_GET, .pattern = "/dags"},
    {.method = HTTP_POST, .pattern = "/dags"},
    {.method = HTTP_GET, .pattern = "/dags/{dag_id}"},
    {.method = HTTP_GET, .pattern = "/dags/errors"},
    {.method = HTTP_GET, .pattern = "/dags/errors/all"},
    {.method = HTTP_DELETE, .pattern = "/dags/{dag_id}/runs/{run_id}"},
    {.method = HTTP_GET, .pattern = "/x/fixed/deep/end"},
    {.method = HTTP_GET, .pattern = "/x/{name}/{other}"},
};
static const struct route_table TABLE = {ROWS, ARRAY_LEN(ROWS), NULL};

static struct router_match find(enum http_method method, const char *text)
{
    struct arena *arena = arena_new();
    struct router *router = router_new(&TABLE);
    struct url_path path;
    cr_assert(url_split(arena, text, &path));
    struct router_match match = router_find(router, method, &path);
    router_free(router);
    arena_free(arena);
    return match;
}

static void expect(enum http_method method, const char *text, const char *pattern)
{
    struct router_match match = find(method, text);
    if (pattern == NULL)
        cr_expect_null(match.route, "%s", text);
    else if (match.route == NULL)
        cr_expect_fail("%s leads nowhere", text);
    else
        cr_expect_str_eq(match.route->pattern, pattern, "%s", text);
}

Test(router, fixed_segments_win_over_names)
{
    expect(HTTP_GET, "/dags", "/dags");
    expect(HTTP_GET, "/dags/errors", "/dags/errors");
    expect(HTTP_GET, "/dags/mistakes", "/dags/{dag_id}");
    expect(HTTP_GET, "/dags/errors/all", "/dags/errors/all");
    expect(HTTP_DELETE, "/dags/errors/runs/7", "/dags/{dag_id}/runs/{run_id}");
}

Test(router, a_fixed_way_that_leads_nowhere_is_left_for_a_name)
{
    expect(HTTP_GET, "/x/fixed/deep/end", "/x/fixed/deep/end");
    expect(HTTP_GET, "/x/fixed/deep", "/x/{name}/{other}");
    expect(HTTP_GET, "/x/fixed/other", "/x/{name}/{other}");
    expect(HTTP_GET, "/x/fixed", NULL);
}

Test(router, what_is_not_there_is_not_found)
{
    cr_expect_eq(find(HTTP_GET, "/").allowed, 0);
    cr_expect_eq(find(HTTP_GET, "/dag").allowed, 0);
    cr_expect_eq(find(HTTP_GET, "/Dags").allowed, 0);
    cr_expect_eq(find(HTTP_GET, "/dags/a/b").allowed, 0);
    cr_expect_eq(find(HTTP_GET, "/dags/errors/all/more").allowed, 0);
}

Test(router, another_method_is_told_which_there_are)
{
    struct router_match match = find(HTTP_DELETE, "/dags");
    cr_expect_null(match.route);
    cr_expect_eq(match.allowed, 1U << HTTP_GET | 1U << HTTP_HEAD | 1U << HTTP_POST);
    cr_expect_str_eq(find(HTTP_HEAD, "/dags").route->pattern, "/dags");
}

Test(router, every_route_of_ours_is_found_by_its_own_path)
{
    struct route_table *table = routes_new();
    struct router *router = router_new(table);
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    for (size_t i = 0; i < table->count; i++) {
        struct url_path path;
        cr_assert(url_split(arena, table->rows[i].pattern, &path), "%s", table->rows[i].pattern);
        struct router_match match = router_find(router, table->rows[i].method, &path);
        cr_expect_eq(match.route, &table->rows[i], "%s", table->rows[i].pattern);
    }
    router_free(router);
    routes_free(table);
}
