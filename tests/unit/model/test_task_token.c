/*
 * Tokens of tasks: one text each, and a proof that follows from everything that they stand for.
 */
#include <string.h>

#include "expect.h"
#include "model/task_token.h"

static const struct task_token_key KEY = {{1, 2, 3}};
static const struct nonce NONCE = {{9, 8, 7}};

Test(task_token, what_is_written_is_read_again)
{
    static const int64_t NUMBERS[][2] = {{1, 1}, {42, 3}, {INT64_MAX, INT64_MAX}};
    for (size_t i = 0; i < ARRAY_LEN(NUMBERS); i++) {
        char text[TASK_TOKEN_MAX];
        struct task_token made = task_token_make(&KEY, NUMBERS[i][0], NUMBERS[i][1], &NONCE);
        struct task_token read = {0};
        cr_assert(task_token_parse(task_token_format(&made, text), &read), "%s", text);
        cr_assert_eq(read.task, NUMBERS[i][0]);
        cr_assert_eq(read.attempt, NUMBERS[i][1]);
        EXPECT_STR(made.proof, read.proof);
    }
}

Test(task_token, the_proof_is_another_for_another_task_attempt_nonce_or_key)
{
    static const struct task_token_key OTHER_KEY = {{1, 2, 4}};
    static const struct nonce OTHER_NONCE = {{9, 8, 6}};
    struct task_token token = task_token_make(&KEY, 12, 3, &NONCE);
    const struct task_token others[] = {
        task_token_make(&OTHER_KEY, 12, 3, &NONCE), task_token_make(&KEY, 13, 3, &NONCE),
        task_token_make(&KEY, 12, 4, &NONCE),       task_token_make(&KEY, 1, 23, &NONCE),
        task_token_make(&KEY, 12, 3, &OTHER_NONCE),
    };
    struct task_token same = task_token_make(&KEY, 12, 3, &NONCE);
    EXPECT_STR(token.proof, same.proof);
    cr_assert_eq(strlen(token.proof), TASK_TOKEN_PROOF_MAX - 1);
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        cr_assert_str_neq(token.proof, others[i].proof, "%zu", i);
}

Test(task_token, other_texts_are_none)
{
#define PROOF "0123456789abcdef0123456789abcdef"
    static const char *const CASES[] = {
        "",
        "eda_",
        "eda_1",
        "eda_1_1",
        "eda_1_1_",
        "eda_1_" PROOF,
        "eda__1_" PROOF,
        "eda_1__" PROOF,
        "eda_1_1_0123456789abcdef0123456789abcde",
        "eda_1_1_" PROOF "0",
        "eda_1_1_0123456789ABCDEF0123456789ABCDEF",
        "eda_1_1_0123456789abcdef0123456789abcdeg",
        "eda_0_1_" PROOF,
        "eda_1_0_" PROOF,
        "eda_-1_1_" PROOF,
        "eda_+1_1_" PROOF,
        "eda_01_1_" PROOF,
        "eda_1_01_" PROOF,
        "eda_1_ 1_" PROOF,
        "eda_9223372036854775808_1_" PROOF,
        "eda_1_99999999999999999999_" PROOF,
        "EDA_1_1_" PROOF,
        "edt_1_1_" PROOF,
        " eda_1_1_" PROOF,
        "eda_1_1_" PROOF " ",
        "eda_1_1_1_" PROOF,
    };
    struct task_token token = {0};
    cr_assert(task_token_parse("eda_1_1_" PROOF, &token));
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
        cr_assert_not(task_token_parse(CASES[i], &token), "%s", CASES[i]);
    cr_assert_eq(token.task, 1);
}
