/*
 * Users, tokens, sessions and namespaces: who is found, and when no longer.
 */
#include "model/event_kind.h"
#include "store/old_rows.h"
#include "store/pool.h"
#include "store/sight.h"
#include "store/sign_in.h"
#include "store/space.h"
#include "store/token.h"
#include "store/vault_rows.h"
#include "store_bench.h"

static struct bench_store bench;
static struct arena *arena;

static void setup(void)
{
    bench = (struct bench_store){0};
    bench_open(&bench);
    arena = arena_new();
}

static void teardown(void)
{
    arena_free(arena);
    bench_close(&bench);
}

TestSuite(account, .init = setup, .fini = teardown);

static struct grants grants_of(const char *text)
{
    struct err err = {0};
    struct grants grants = {0};
    EXPECT_OK(grants_parse(arena, text, &grants, &err), &err);
    return grants;
}

static void add(const char *name, const char *roles)
{
    struct err err = {0};
    struct grants grants = grants_of(roles);
    struct account_change change = {
        .name = name, .password = "$hash", .grants = &grants, .actor = "tester"};
    EXPECT_OK(store_account_add(bench.store, &change, &err), &err);
}

static struct account load(const char *name)
{
    struct err err = {0};
    struct account account = {0};
    EXPECT_OK(store_account_load(bench.store, arena, name, &account, &err), &err);
    return account;
}

static void make_token(struct token_request request, char text[static TOKEN_TEXT_MAX])
{
    struct err err = {0};
    int64_t id = 0;
    request.actor = "tester";
    EXPECT_OK(store_token_add(bench.store, &request, &id, text, &err), &err);
}

static enum status find_token(const char *text, struct token *out)
{
    struct err err = {0};
    return store_token_find(bench.store, arena, text, out, &err);
}

static int64_t events_of(enum event_kind kind)
{
    return bench_number(&bench, "SELECT count(*) FROM event WHERE kind = $1", kind);
}

/* --- users ----------------------------------------------------------------------------------- */

STORE_TEST(account, a_user_is_made_changed_and_removed)
{
    struct err err = {0};
    bool any = true;
    EXPECT_OK(store_account_any(bench.store, &any, &err), &err);
    cr_expect_not(any);
    add("anna", "*=viewer sales=editor");
    EXPECT_OK(store_account_any(bench.store, &any, &err), &err);
    cr_expect(any);
    struct account before = load("anna");
    cr_expect_str_eq(grants_format(arena, &before.grants), "*=viewer sales=editor");
    cr_expect_not(before.is_disabled);

    struct account_change twice = {.name = "anna", .actor = "tester"};
    EXPECT_STATUS(STATUS_CONFLICT, store_account_add(bench.store, &twice, &err), &err);
    bool yes = true;
    struct account_change off = {.name = "anna", .disabled = &yes, .actor = "tester"};
    EXPECT_OK(store_account_set(bench.store, &off, &err), &err);
    struct account after = load("anna");
    cr_expect(after.is_disabled);
    cr_expect_str_eq(after.password, "$hash");
    cr_expect_gt(after.stamp, before.stamp);

    EXPECT_OK(store_account_remove(bench.store, "anna", "tester", &err), &err);
    EXPECT_STATUS(STATUS_NOT_FOUND, store_account_remove(bench.store, "anna", "tester", &err),
                  &err);
    EXPECT_STATUS(STATUS_NOT_FOUND, store_account_set(bench.store, &off, &err), &err);
    cr_expect_eq(events_of(EVENT_USER_ADDED), 1);
    cr_expect_eq(events_of(EVENT_USER_CHANGED), 1);
    cr_expect_eq(events_of(EVENT_USER_REMOVED), 1);
    cr_expect_eq(
        bench_number(&bench, "SELECT count(*) FROM event WHERE data LIKE '%$hash%' AND id > $1", 0),
        0, "no hash is told");
}

STORE_TEST(account, a_stamp_never_comes_again)
{
    struct err err = {0};
    add("anna", "viewer");
    int64_t first = load("anna").stamp;
    struct account_change change = {.name = "anna", .password = "$other", .actor = "tester"};
    EXPECT_OK(store_account_set(bench.store, &change, &err), &err);
    EXPECT_OK(store_account_set(bench.store, &change, &err), &err);
    int64_t last = load("anna").stamp;
    cr_expect_gt(last, first + 1, "also within one instant");
    EXPECT_OK(store_account_remove(bench.store, "anna", "tester", &err), &err);
    bench_now_us += 1000000;
    add("anna", "viewer");
    cr_expect_gt(load("anna").stamp, last);
}

/* --- tokens ---------------------------------------------------------------------------------- */

STORE_TEST(account, a_token_is_found_by_its_text_alone)
{
    char text[TOKEN_TEXT_MAX];
    char other[TOKEN_TEXT_MAX];
    struct token token;
    add("anna", "*=editor");
    struct grants grants = grants_of("sales=viewer");
    make_token((struct token_request){.name = "ci", .owner = "anna", .grants = &grants}, text);
    make_token((struct token_request){.name = "ci", .owner = "anna"}, other);
    cr_expect_str_neq(text, other);
    cr_assert_eq(find_token(text, &token), STATUS_OK);
    cr_expect_str_eq(token.owner.name, "anna");
    cr_expect(token.is_owned && token.is_bounded);
    cr_expect_null(token.queues);
    cr_expect_str_eq(grants_format(arena, &token.grants), "sales=viewer");
    cr_assert_eq(find_token(other, &token), STATUS_OK);
    cr_expect_not(token.is_bounded);
    text[10] = text[10] == '0' ? '1' : '0';
    cr_expect_eq(find_token(text, &token), STATUS_NOT_FOUND);
    cr_expect_eq(find_token("", &token), STATUS_NOT_FOUND);
    cr_expect_eq(
        bench_number(&bench, "SELECT count(*) FROM token WHERE hash LIKE 'ed%' AND id > $1", 0), 0,
        "only hashes are kept");
}

STORE_TEST(account, a_token_ends_with_its_time_its_owner_or_by_hand)
{
    struct err err = {0};
    char text[TOKEN_TEXT_MAX];
    char of_nobody[TOKEN_TEXT_MAX];
    char brief[TOKEN_TEXT_MAX];
    struct token token;
    bool yes = true;
    bool no = false;
    struct grants grants = grants_of("viewer");
    add("anna", "*=editor");
    make_token((struct token_request){.name = "ci", .owner = "anna"}, text);
    make_token((struct token_request){.name = "free", .grants = &grants}, of_nobody);
    make_token((struct token_request){.name = "brief",
                                      .grants = &grants,
                                      .expires_at_us = bench_now_us + 1000},
               brief);
    cr_expect_eq(find_token(brief, &token), STATUS_OK);
    bench_now_us += 1000;
    cr_expect_eq(find_token(brief, &token), STATUS_NOT_FOUND);

    struct account_change off = {.name = "anna", .disabled = &yes, .actor = "tester"};
    struct account_change on = {.name = "anna", .disabled = &no, .actor = "tester"};
    EXPECT_OK(store_account_set(bench.store, &off, &err), &err);
    cr_expect_eq(find_token(text, &token), STATUS_NOT_FOUND);
    EXPECT_OK(store_account_set(bench.store, &on, &err), &err);
    cr_expect_eq(find_token(text, &token), STATUS_OK);
    EXPECT_STATUS(STATUS_NOT_FOUND,
                  store_token_remove(bench.store, token.id, "ben", "tester", &err), &err);
    EXPECT_OK(store_account_remove(bench.store, "anna", "tester", &err), &err);
    cr_expect_eq(find_token(text, &token), STATUS_NOT_FOUND);
    cr_assert_eq(find_token(of_nobody, &token), STATUS_OK);
    EXPECT_OK(store_token_remove(bench.store, token.id, NULL, "tester", &err), &err);
    cr_expect_eq(find_token(of_nobody, &token), STATUS_NOT_FOUND);
    cr_expect_eq(events_of(EVENT_TOKEN_ADDED), 3);
    cr_expect_eq(events_of(EVENT_TOKEN_REMOVED), 1);
}

STORE_TEST(account, using_a_token_is_noted_now_and_then)
{
    struct err err = {0};
    char text[TOKEN_TEXT_MAX];
    struct token token;
    struct grants grants = grants_of("viewer");
    make_token((struct token_request){.name = "ci", .grants = &grants}, text);
    cr_assert_eq(find_token(text, &token), STATUS_OK);
    cr_expect(store_token_use_is_news(bench.store, &token));
    EXPECT_OK(store_token_note_use(bench.store, &token, &err), &err);
    bench_now_us += 60 * 1000000;
    cr_assert_eq(find_token(text, &token), STATUS_OK);
    cr_expect_not(store_token_use_is_news(bench.store, &token));
    bench_now_us += 600 * INT64_C(1000000);
    cr_expect(store_token_use_is_news(bench.store, &token));
}

STORE_TEST(account, an_owner_must_be_there)
{
    struct err err = {0};
    char text[TOKEN_TEXT_MAX];
    int64_t id = 0;
    const struct token_request request = {.name = "ci", .owner = "nobody", .actor = "tester"};
    EXPECT_STATUS(STATUS_NOT_FOUND, store_token_add(bench.store, &request, &id, text, &err), &err);
}

/* --- signing in ------------------------------------------------------------------------------ */

static void begin(const char *name, char text[static SECRET_TEXT_MAX])
{
    struct err err = {0};
    const struct session_request request = {
        .account = name, .stamp = load(name).stamp, .lasts_ms = 1000, .from = "127.0.0.1"};
    EXPECT_OK(store_session_begin(bench.store, &request, text, &err), &err);
}

static enum status find_session(const char *text)
{
    struct err err = {0};
    struct account account;
    int64_t expires_at_us = 0;
    return store_session_find(bench.store, arena, text, &account, &expires_at_us, &err);
}

STORE_TEST(account, a_session_ends_by_time_by_hand_and_with_the_password)
{
    struct err err = {0};
    char one[SECRET_TEXT_MAX];
    char two[SECRET_TEXT_MAX];
    add("anna", "viewer");
    begin("anna", one);
    begin("anna", two);
    cr_expect_eq(find_session(one), STATUS_OK);
    EXPECT_OK(store_session_end(bench.store, one, &err), &err);
    EXPECT_OK(store_session_end(bench.store, one, &err), &err);
    cr_expect_eq(find_session(one), STATUS_NOT_FOUND);
    cr_expect_eq(find_session(two), STATUS_OK);
    bench_now_us += 1000 * 1000;
    cr_expect_eq(find_session(two), STATUS_NOT_FOUND);
    begin("anna", two);
    struct account_change change = {.name = "anna", .password = "$new", .actor = "tester"};
    EXPECT_OK(store_account_set(bench.store, &change, &err), &err);
    cr_expect_eq(find_session(two), STATUS_NOT_FOUND);
}

STORE_TEST(account, no_session_begins_for_an_account_that_was_changed_meanwhile)
{
    struct err err = {0};
    char text[SECRET_TEXT_MAX];
    add("anna", "viewer");
    const struct session_request request = {
        .account = "anna", .stamp = load("anna").stamp, .lasts_ms = 1000, .from = "127.0.0.1"};
    struct account_change change = {.name = "anna", .password = "$new", .actor = "tester"};
    EXPECT_OK(store_account_set(bench.store, &change, &err), &err);
    EXPECT_STATUS(STATUS_DENIED, store_session_begin(bench.store, &request, text, &err), &err);
    cr_expect_eq(events_of(EVENT_USER_SIGNED_IN), 0);
}

STORE_TEST(account, a_link_works_once_and_only_while_there_is_nobody)
{
    struct err err = {0};
    char one[SECRET_TEXT_MAX];
    char two[SECRET_TEXT_MAX];
    struct account account;
    EXPECT_OK(store_link_make(bench.store, 1000, one, &err), &err);
    bench_now_us += 1000 * 1000;
    EXPECT_STATUS(STATUS_DENIED, store_link_use(bench.store, arena, one, &account, &err), &err);
    EXPECT_OK(store_link_make(bench.store, 1000, one, &err), &err);
    EXPECT_OK(store_link_make(bench.store, 1000, two, &err), &err);
    EXPECT_STATUS(STATUS_DENIED, store_link_use(bench.store, arena, "edl_", &account, &err), &err);
    EXPECT_OK(store_link_use(bench.store, arena, one, &account, &err), &err);
    cr_expect_str_eq(account.name, "admin");
    cr_expect_str_eq(grants_format(arena, &account.grants), "*=admin");
    cr_expect_null(account.password);
    EXPECT_STATUS(STATUS_DENIED, store_link_use(bench.store, arena, one, &account, &err), &err);
    EXPECT_STATUS(STATUS_DENIED, store_link_use(bench.store, arena, two, &account, &err), &err);
    EXPECT_OK(store_link_make(bench.store, 1000, one, &err), &err);
    add("anna", "viewer");
    EXPECT_STATUS(STATUS_DENIED, store_link_use(bench.store, arena, one, &account, &err), &err);
    EXPECT_STATUS(STATUS_CONFLICT, store_link_make(bench.store, 1000, one, &err), &err);
}

STORE_TEST(account, whom_a_link_made_comes_in_by_another_until_there_is_a_password)
{
    struct err err = {0};
    char one[SECRET_TEXT_MAX];
    char two[SECRET_TEXT_MAX];
    struct account first;
    struct account again;
    EXPECT_OK(store_link_make(bench.store, 1000, one, &err), &err);
    EXPECT_OK(store_link_use(bench.store, arena, one, &first, &err), &err);

    EXPECT_OK(store_link_make(bench.store, 1000, one, &err), &err);
    EXPECT_OK(store_link_use(bench.store, arena, one, &again, &err), &err);
    cr_expect_eq(again.id, first.id);
    EXPECT_STATUS(STATUS_DENIED, store_link_use(bench.store, arena, one, &again, &err), &err);
    EXPECT_OK(store_link_make(bench.store, 1000, two, &err), &err);
    struct account_change change = {.name = "admin", .password = "$new", .actor = "tester"};
    EXPECT_OK(store_account_set(bench.store, &change, &err), &err);

    EXPECT_STATUS(STATUS_DENIED, store_link_use(bench.store, arena, two, &again, &err), &err);
    EXPECT_STATUS(STATUS_CONFLICT, store_link_make(bench.store, 1000, two, &err), &err);
}

STORE_TEST(account, no_link_lets_in_who_is_disabled)
{
    struct err err = {0};
    char one[SECRET_TEXT_MAX];
    char two[SECRET_TEXT_MAX];
    struct account account;
    bool is_disabled = true;
    EXPECT_OK(store_link_make(bench.store, 1000, one, &err), &err);
    EXPECT_OK(store_link_use(bench.store, arena, one, &account, &err), &err);
    EXPECT_OK(store_link_make(bench.store, 1000, two, &err), &err);
    struct account_change change = {.name = "admin", .disabled = &is_disabled, .actor = "tester"};
    EXPECT_OK(store_account_set(bench.store, &change, &err), &err);

    EXPECT_STATUS(STATUS_DENIED, store_link_use(bench.store, arena, two, &account, &err), &err);
    EXPECT_STATUS(STATUS_CONFLICT, store_link_make(bench.store, 1000, two, &err), &err);
}

STORE_TEST(account, what_is_over_is_removed_after_a_while)
{
    struct err err = {0};
    char text[TOKEN_TEXT_MAX];
    int64_t gone = 0;
    struct grants grants = grants_of("viewer");
    add("anna", "viewer");
    make_token((struct token_request){.name = "brief",
                                      .grants = &grants,
                                      .expires_at_us = bench_now_us + 1},
               text);
    make_token((struct token_request){.name = "lasting", .grants = &grants}, text);
    begin("anna", text);
    bench_now_us += INT64_C(3600) * 1000000;
    static const enum old_rows KINDS[] = {OLD_TOKENS, OLD_SESSIONS};
    for (size_t i = 0; i < ARRAY_LEN(KINDS); i++) {
        EXPECT_OK(store_old_rows_count(bench.store, KINDS[i], bench_now_us, &gone, &err), &err);
        cr_expect_eq(gone, 1);
        EXPECT_OK(store_old_rows_remove(bench.store, KINDS[i], bench_now_us, 10, &gone, &err),
                  &err);
        cr_expect_eq(gone, 1);
    }
    cr_expect_eq(bench_number(&bench, "SELECT count(*) FROM token WHERE id > $1", 0), 1);
}

/* --- namespaces ------------------------------------------------------------------------------ */

STORE_TEST(account, a_namespace_is_there_by_hand_or_by_what_is_in_it)
{
    struct err err = {0};
    struct space *spaces = NULL;
    size_t count = 0;
    const struct space_change lab = {.name = "lab", .doc = "trials", .actor = "tester"};
    const struct vault_change variable = {
        .kind = VAULT_VARIABLE, .space = "sales", .name = "x", .value = "1", .actor = "tester"};
    EXPECT_OK(store_space_add(bench.store, &lab, &err), &err);
    EXPECT_STATUS(STATUS_CONFLICT, store_space_add(bench.store, &lab, &err), &err);
    EXPECT_OK(store_vault_set(bench.store, &variable, &err), &err);
    EXPECT_OK(store_space_list(bench.store, arena, &spaces, &count, &err), &err);
    cr_assert_eq(count, 3);
    cr_expect_str_eq(spaces[0].name, "default");
    cr_expect_str_eq(spaces[1].name, "lab");
    cr_expect(spaces[1].is_made);
    cr_expect_str_eq(spaces[2].name, "sales");
    cr_expect_eq(spaces[2].variables, 1);
    cr_expect_not(spaces[2].is_made);

    add("anna", "lab=viewer");
    EXPECT_STATUS(STATUS_CONFLICT, store_space_remove(bench.store, &lab, &err), &err);
    EXPECT_OK(store_account_remove(bench.store, "anna", "tester", &err), &err);
    EXPECT_OK(store_space_remove(bench.store, &lab, &err), &err);
    EXPECT_STATUS(STATUS_NOT_FOUND, store_space_remove(bench.store, &lab, &err), &err);
    const struct space_change sales = {.name = "sales", .actor = "tester"};
    EXPECT_STATUS(STATUS_CONFLICT, store_space_remove(bench.store, &sales, &err), &err);
}

/* --- sight ----------------------------------------------------------------------------------- */

STORE_TEST(account, a_list_shows_what_is_seen_and_no_name_that_looks_like_it)
{
    static const char *const SPACES[] = {"a_b", "axb", "a", "b", "a.b"};
    static const struct {
        const char *sight;
        size_t count;
    } CASES[] = {{"", 6}, {"  ", 0}, {"  axb  ", 1}, {"  a_b  ", 1}, {"  a  b  ", 2}, {"  x  ", 0}};
    struct err err = {0};
    int64_t slots = 1;
    for (size_t i = 0; i < ARRAY_LEN(SPACES); i++) {
        const struct pool_change pool = {
            .namespace_ = SPACES[i], .name = "desk", .slots = &slots, .actor = "tester"};
        EXPECT_OK(store_pool_set(bench.store, &pool, &err), &err);
    }
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct pool_info *pools = NULL;
        size_t count = 0;
        store_set_sight(bench.store, CASES[i].sight);
        EXPECT_OK(store_pool_list(bench.store, arena, &pools, &count, &err), &err);
        cr_expect_eq(count, CASES[i].count, "'%s': %zu", CASES[i].sight, count);
    }
    store_set_sight(bench.store, NULL);
}

STORE_TEST(account, a_name_is_seen_only_as_a_whole)
{
    static const struct {
        const char *sight, *space;
        bool seen;
    } CASES[] = {
        {"", "sales", true},          {NULL, "sales", true},        {"  ", "sales", false},
        {"  sales  ", "sales", true}, {"  sales  ", "sale", false}, {"  sales  ", "s", false},
        {"  a_b  ", "axb", false},    {"  axb  ", "a_b", false},    {"  a  b  ", "b", true},
        {"  a  b  ", "a  b", false},  {"  sales  ", "", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        store_set_sight(bench.store, CASES[i].sight);
        cr_expect_eq(store_sees(bench.store, CASES[i].space), CASES[i].seen, "'%s' in '%s'",
                     CASES[i].space, CASES[i].sight);
    }
    store_set_sight(bench.store, NULL);
}
