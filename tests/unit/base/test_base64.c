#include "base/base64.h"
#include "expect.h"

/* RFC 4648, section 10. */
static const struct {
    const char *plain, *coded;
} VECTORS[] = {
    {"", ""},
    {"f", "Zg=="},
    {"fo", "Zm8="},
    {"foo", "Zm9v"},
    {"foob", "Zm9vYg=="},
    {"fooba", "Zm9vYmE="},
    {"foobar", "Zm9vYmFy"},
};

Test(base64, the_vectors_of_the_standard_both_ways)
{
    for (size_t i = 0; i < ARRAY_LEN(VECTORS); i++) {
        struct strbuf coded;
        struct strbuf plain;
        strbuf_init(&coded, 100);
        strbuf_init(&plain, 100);

        base64_encode(&coded, VECTORS[i].plain, strlen(VECTORS[i].plain));
        cr_assert(base64_decode(&plain, VECTORS[i].coded, strlen(VECTORS[i].coded)));

        EXPECT_STR(VECTORS[i].coded, coded.text);
        EXPECT_STR(VECTORS[i].plain, plain.text);
        strbuf_fini(&coded);
        strbuf_fini(&plain);
    }
}

Test(base64, every_byte_at_every_place_survives)
{
    for (size_t length = 0; length <= 260; length++) {
        unsigned char bytes[260];
        for (size_t i = 0; i < length; i++)
            bytes[i] = (unsigned char)(i * 7 + length);
        struct strbuf coded;
        struct strbuf plain;
        strbuf_init(&coded, 1000);
        strbuf_init(&plain, 1000);

        base64_encode(&coded, bytes, length);
        cr_assert(base64_decode(&plain, coded.text, coded.length));

        cr_assert_eq(plain.length, length);
        cr_assert_eq(memcmp(plain.text, bytes, length), 0);
        strbuf_fini(&coded);
        strbuf_fini(&plain);
    }
}

Test(base64, junk_is_refused)
{
    static const struct {
        const char *text;
        size_t length;
    } JUNK[] = {
        {"Z", 1},        {"Zg", 2},         {"Zg=", 3},   {"Zm9", 3},      {"=", 1},
        {"==", 2},       {"====", 4},       {"Z===", 4},  {"Zg==Zg==", 8}, {"Zm9v=", 5},
        {"Zm9v====", 8}, {"Zm 9", 4},       {"Zm9\n", 4}, {"Zm-_", 4},     {"Z\0==", 4},
        {"=Zm9", 4},     {"\xc3\xa9==", 4}, {"Zh==", 4},  {"Zm9=", 4},
    };
    for (size_t i = 0; i < ARRAY_LEN(JUNK); i++) {
        struct strbuf out;
        strbuf_init(&out, 100);
        cr_assert(!base64_decode(&out, JUNK[i].text, JUNK[i].length), "'%s'", JUNK[i].text);
        strbuf_fini(&out);
    }
}
