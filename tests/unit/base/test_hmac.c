#include "base/hmac.h"
#include "expect.h"

static void expect_code(const char *key, size_t key_length, const char *text, const char *wanted)
{
    char hex[SHA256_HEX_MAX];
    struct hmac hmac;
    hmac_init(&hmac, key, key_length);
    hmac_add(&hmac, text, strlen(text) / 2);
    hmac_add(&hmac, text + strlen(text) / 2, strlen(text) - strlen(text) / 2);
    EXPECT_STR(wanted, hmac_finish_hex(&hmac, hex));
}

/* RFC 4231, cases 1, 2, 6 and 7: short keys, and keys longer than a block. */
Test(hmac, codes_are_those_of_the_standard)
{
    char key[131];
    memset(key, 0x0b, 20);
    expect_code(key, 20, "Hi There",
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    expect_code("Jefe", 4, "what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof key);
    expect_code(key, sizeof key, "Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    expect_code(key, sizeof key,
                "This is a test using a larger than block-size key and a larger than block-size "
                "data. The key needs to be hashed before being used by the HMAC algorithm.",
                "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
}

Test(hmac, a_key_of_no_bytes_is_a_key)
{
    expect_code("", 0, "", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}
