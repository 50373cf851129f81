#include "base/percent.h"
#include "base/strbuf.h"
#include "expect.h"
#include "serve/url.h"

Test(url, a_path_is_decoded_after_it_was_split)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct url_path path;
    cr_assert(url_split(arena, "/api/v1/dags/a%2Fb/x+y%20z", &path));
    cr_expect_eq(path.count, 5);
    cr_expect_str_eq(path.segments[3], "a/b");
    cr_expect_str_eq(path.segments[4], "x+y z");
    cr_assert(url_split(arena, "/", &path));
    cr_expect_eq(path.count, 0);
    cr_assert(url_split(arena, "/t%C3%A9", &path));
    cr_expect_str_eq(path.segments[0], "t\xc3\xa9");
}

Test(url, what_no_route_can_have_is_refused)
{
    static const char *const BAD[] = {
        "",
        "api",
        "//api",
        "/api/",
        "/a//b",
        "/.",
        "/..",
        "/a/../b",
        "/a/./b",
        "/%2e",
        "/%2E%2e",
        "/%00",
        "/a%00b",
        "/%",
        "/%4",
        "/%zz",
        "/%C3",
        "/%ff/a",
        "/%c0%ae",
        "/%ed%a0%80",
        "/a/%2e%2e/b",
        "/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17",
    };
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct url_path path;
    for (size_t i = 0; i < ARRAY_LEN(BAD); i++)
        cr_expect_not(url_split(arena, BAD[i], &path), "%s", BAD[i]);
}

Test(url, a_query_is_decoded)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    cr_expect_str_eq(url_decode_query(arena, "a+b%2Bc%26"), "a b+c&");
    cr_expect_null(url_decode_query(arena, "%0"));
    cr_expect_null(url_decode_query(arena, "%ff"));
    cr_expect_null(url_decode_query(arena, "a%00"));
}

Test(url, what_is_encoded_is_one_segment)
{
    static const char TEXT[] = "manual__2025-01-15T00:00:00+00:00/\xc3\xa9%";
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(strbuf_fini) struct strbuf path;
    struct url_path split;
    strbuf_init(&path, 1024);
    strbuf_add_char(&path, '/');
    percent_add(&path, TEXT, strlen(TEXT));
    cr_assert(url_split(arena, path.text, &split));
    cr_expect_eq(split.count, 1);
    cr_expect_str_eq(split.segments[0], TEXT);
    cr_expect_str_eq(url_decode_query(arena, path.text + 1), TEXT);
}
