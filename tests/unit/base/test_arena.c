#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "expect.h"

static bool is_zero(const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

Test(arena, every_piece_is_aligned_zeroed_and_its_own)
{
    static const size_t SIZES[] = {0, 1, 15, 16, 17, 4095, 4096, 4097, 100000, (3 << 20) + 1, 1};
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    unsigned char *pieces[200][ARRAY_LEN(SIZES)];
    size_t least = 0;

    for (size_t round = 0; round < 20; round++) {
        for (size_t i = 0; i < ARRAY_LEN(SIZES); i++) {
            unsigned char *piece = arena_alloc(arena, SIZES[i]);
            cr_assert_eq((uintptr_t)piece % 16, 0, "%zu bytes", SIZES[i]);
            cr_assert(is_zero(piece, SIZES[i]), "%zu bytes", SIZES[i]);
            memset(piece, (int)(round + i + 1), SIZES[i]);
            pieces[round][i] = piece;
            least += SIZES[i];
        }
    }

    for (size_t round = 0; round < 20; round++)
        for (size_t i = 0; i < ARRAY_LEN(SIZES); i++)
            for (size_t k = 0; k < SIZES[i]; k += 97)
                cr_assert_eq(pieces[round][i][k], (unsigned char)(round + i + 1));
    cr_assert_geq(arena_used(arena), least);
}

Test(arena, texts_are_copied_and_closed)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    char from[] = "abc";

    char *copy = arena_strdup(arena, from);
    char *part = arena_strndup(arena, "a\0b", 3);
    from[0] = 'X';

    EXPECT_STR("abc", copy);
    cr_assert_eq(memcmp(part, "a\0b", 4), 0);
    EXPECT_STR("7 and x", arena_format(arena, "%d and %s", 7, "x"));
    EXPECT_STR("", arena_format(arena, "%s", ""));
    EXPECT_STR("", arena_strndup(arena, "abc", 0));
    cr_assert_not_null(arena_array(arena, 0, 8));
    arena_free(NULL);
}

Test(arena, what_is_taken_lives_on_in_the_taker)
{
    static const struct {
        bool taker_has_blocks, taken_has_blocks;
    } CASES[] = {{false, false}, {false, true}, {true, false}, {true, true}};
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        CLEANUP(arena_freep) struct arena *taker = arena_new();
        struct arena *taken = arena_new();
        const char *ours = CASES[i].taker_has_blocks ? arena_strdup(taker, "ours") : "ours";
        const char *theirs = CASES[i].taken_has_blocks ? arena_strdup(taken, "theirs") : "theirs";
        char *big = CASES[i].taken_has_blocks ? arena_alloc(taken, 1 << 20) : NULL;
        size_t used = arena_used(taker) + arena_used(taken);

        arena_take(taker, taken);

        cr_assert_eq(arena_used(taker), used);
        for (int k = 0; k < 1000; k++)
            memset(arena_alloc(taker, 64), 0xFF, 64);
        EXPECT_STR("ours", ours);
        EXPECT_STR("theirs", theirs);
        cr_assert(big == NULL || big[(1 << 20) - 1] == 0);
    }
}
