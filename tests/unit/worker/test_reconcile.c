/*
 * The store's word against ours, and notes by which attempts are found again.
 */
#include <string.h>

#include "expect.h"
#include "worker/attempt_held.h"
#include "worker/reconcile.h"

static struct claim claim_of(int64_t task, int64_t attempt, int nonce)
{
    return (struct claim){
        .task = task, .attempt = attempt, .nonce = {.bytes = {(unsigned char)nonce}}};
}

static struct reconcile_item item_of(int64_t task, int64_t attempt, int nonce)
{
    return (struct reconcile_item){task, attempt, {.bytes = {(unsigned char)nonce}}};
}

Test(reconcile, tells_what_nobody_knows_and_what_is_not_ours)
{
    struct arena *arena = arena_new();
    const struct claim held[] = {
        claim_of(1, 1, 1), /* the same here */
        claim_of(2, 1, 1), /* unknown */
        claim_of(3, 2, 1), /* another attempt of what runs here */
        claim_of(4, 1, 9), /* the same number, another nonce */
    };
    const struct reconcile_item ours[] = {
        item_of(4, 1, 1),
        item_of(1, 1, 1),
        item_of(5, 1, 1),
        item_of(3, 1, 1),
    };
    struct reconcile_result result;
    reconcile(held, ARRAY_LEN(held), ours, ARRAY_LEN(ours), arena, &result);
    cr_assert_eq(result.unknown_count, 3);
    cr_expect_eq(held[result.unknown[0]].task, 2);
    cr_expect_eq(held[result.unknown[1]].task, 3);
    cr_expect_eq(held[result.unknown[2]].task, 4);
    cr_assert_eq(result.foreign_count, 3);
    cr_expect_eq(ours[result.foreign[0]].task, 4);
    cr_expect_eq(ours[result.foreign[1]].task, 5);
    cr_expect_eq(ours[result.foreign[2]].task, 3);

    reconcile(NULL, 0, ours, 2, arena, &result);
    cr_expect_eq(result.unknown_count, 0);
    cr_expect_eq(result.foreign_count, 2);
    reconcile(held, 2, NULL, 0, arena, &result);
    cr_expect_eq(result.unknown_count, 2);
    cr_expect_eq(result.foreign_count, 0);
    arena_free(arena);
}

Test(attempt, is_found_again_by_its_note)
{
    struct err err = {0};
    struct claim claim = {
        .task = 1LL << 60,
        .run = 12,
        .node = 3,
        .map_index = -1,
        .expander = 5,
        .generation = 2,
        .attempt = 4,
    };
    for (size_t i = 0; i < sizeof claim.nonce.bytes; i++)
        claim.nonce.bytes[i] = (unsigned char)(i * 17);
    struct attempt *attempt = attempt_new(&claim);
    struct attempt *again = NULL;
    attempt->slot = 7;
    attempt->is_finally = true;
    attempt->label = "north \"1\"";
    attempt->outputs_dir = "/tmp/x.out";
    attempt->datasets = (const char *const[]){"a", "b"};
    attempt->datasets_count = 2;
    EXPECT_OK(attempt_from_note(attempt_note(attempt), &again, &err), &err);
    cr_expect_eq(again->claim.task, claim.task);
    cr_expect_eq(again->claim.run, 12);
    cr_expect_eq(again->claim.node, 3);
    cr_expect_eq(again->claim.map_index, -1);
    cr_expect_eq(again->claim.expander, 5);
    cr_expect_eq(again->claim.generation, 2);
    cr_expect_eq(again->claim.attempt, 4);
    cr_expect(nonce_equal(&again->claim.nonce, &claim.nonce));
    cr_expect_null(again->claim.job);
    cr_expect_eq(again->slot, 7);
    cr_expect(again->is_finally);
    cr_expect(again->is_adopted);
    EXPECT_STR("north \"1\"", again->label);
    EXPECT_STR("/tmp/x.out", again->outputs_dir);
    cr_assert_eq(again->datasets_count, 2);
    EXPECT_STR("b", again->datasets[1]);
    EXPECT_STR(attempt->nonce, again->nonce);
    attempt_free(again);
    attempt_free(attempt);

    struct claimed_job job = {.queue = "mail", .handler = "send", .payload = "{}"};
    claim.run = 0;
    claim.job = &job;
    attempt = attempt_new(&claim);
    EXPECT_OK(attempt_from_note(attempt_note(attempt), &again, &err), &err);
    cr_assert_not_null(again->claim.job);
    EXPECT_STR("mail", again->claim.job->queue);
    EXPECT_STR("send", again->claim.job->handler);
    cr_expect_null(again->label);
    attempt_free(again);
    attempt_free(attempt);
}

Test(attempt, a_foreign_note_is_refused)
{
    static const char *const NOTES[] = {
        "",
        "x",
        "[]",
        "{}",
        "{\"task\":1}",
        "{\"task\":1,\"nonce\":\"00\"}",
        "{\"task\":1,\"nonce\":\"0000000000000000000000000000000g\"}",
        "{\"nonce\":\"00000000000000000000000000000000\"}",
    };
    for (size_t i = 0; i < ARRAY_LEN(NOTES); i++) {
        struct err err = {0};
        struct attempt *attempt = NULL;
        EXPECT_STATUS(STATUS_INVALID, attempt_from_note(NOTES[i], &attempt, &err), &err);
        cr_expect_null(attempt);
    }
}
