#include "base/sha256.h"
#include "expect.h"

Test(sha256, published_vectors)
{
    static const struct {
        const char *text;
        const char *hex;
    } CASES[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqr"
         "lmnopqrsmnopqrstnopqrstu",
         "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        char hex[SHA256_HEX_MAX];
        EXPECT_STR(CASES[i].hex, sha256_hex(CASES[i].text, strlen(CASES[i].text), hex));
    }
}

Test(sha256, pieces_of_any_size_give_the_hash_of_the_whole)
{
    /* A million times 'a' is the published long vector; every piece size crosses blocks elsewhere.
     */
    static const uint8_t WANTED[4] = {0xcd, 0xc7, 0x6e, 0x5c};
    char piece[997];
    memset(piece, 'a', sizeof piece);
    for (size_t step = 1; step <= sizeof piece; step += 83) {
        struct sha256 hash;
        uint8_t digest[SHA256_BYTES];
        sha256_init(&hash);
        for (size_t left = 1000000; left > 0;) {
            size_t part = MIN(left, step);
            sha256_add(&hash, piece, part);
            left -= part;
        }
        sha256_finish(&hash, digest);
        cr_expect_eq(memcmp(digest, WANTED, sizeof WANTED), 0, "step %zu", step);
    }
}
