#include <stdlib.h>

#include "base/strbuf.h"
#include "expect.h"

Test(strbuf, a_new_one_is_empty_text_and_ends_twice)
{
    struct strbuf buf;
    strbuf_init(&buf, 10);

    EXPECT_STR("", buf.text);
    strbuf_clear(&buf);
    strbuf_truncate(&buf, 0);
    strbuf_add(&buf, "");
    strbuf_add_repeat(&buf, 'x', 0);
    strbuf_addf(&buf, "%s", "");
    cr_assert_eq(buf.length, 0);
    strbuf_fini(&buf);
    strbuf_fini(&buf);
    EXPECT_STR("", buf.text);
}

/* Every way of adding at, one below and one above the room that is left. */
Test(strbuf, the_cap_cuts_and_says_so)
{
    enum { CAP = 200 };
    static const char TEXT[] = "0123456789";
    for (int way = 0; way < 4; way++) {
        for (size_t before = CAP - 11; before <= CAP; before++) {
            struct strbuf buf;
            strbuf_init(&buf, CAP);
            strbuf_add_repeat(&buf, 'a', before);
            cr_assert(!buf.overflow);
            size_t wanted = before + 10;

            switch (way) {
            case 0:
                strbuf_add(&buf, TEXT);
                break;
            case 1:
                strbuf_addf(&buf, "%s", TEXT);
                break;
            case 2:
                strbuf_add_repeat(&buf, '0', 10);
                break;
            default:
                for (size_t i = 0; i < 10; i++)
                    strbuf_add_char(&buf, TEXT[i]);
            }

            cr_assert_eq(buf.overflow, wanted > CAP, "way %d, %zu before", way, before);
            cr_assert_eq(buf.length, MIN(wanted, (size_t)CAP));
            cr_assert_eq(strlen(buf.text), buf.length);
            strbuf_add(&buf, "more than there is room for at all");
            cr_assert(buf.overflow);
            strbuf_clear(&buf);
            cr_assert(!buf.overflow);
            strbuf_add(&buf, "again");
            EXPECT_STR("again", buf.text);
            strbuf_fini(&buf);
        }
    }
}

Test(strbuf, bytes_may_be_anything)
{
    struct strbuf buf;
    strbuf_init(&buf, 1 << 20);

    for (int i = 0; i < 10000; i++)
        strbuf_add_bytes(&buf, "a\0b", 3);

    cr_assert_eq(buf.length, 30000);
    cr_assert_eq(memcmp(buf.text + 29997, "a\0b", 4), 0);
    strbuf_truncate(&buf, 1);
    EXPECT_STR("a", buf.text);
    strbuf_fini(&buf);
}

Test(strbuf, taking_hands_the_text_over_and_leaves_an_empty_buffer)
{
    struct strbuf buf;
    strbuf_init(&buf, 3);

    char *nothing = strbuf_take(&buf);
    strbuf_add(&buf, "abcd");
    char *something = strbuf_take(&buf);
    strbuf_add(&buf, "xyz");

    EXPECT_STR("", nothing);
    EXPECT_STR("abc", something);
    EXPECT_STR("xyz", buf.text);
    cr_assert(!buf.overflow);
    free(nothing);
    free(something);
    strbuf_fini(&buf);
}
