#include "expect.h"
#include "serve/upload.h"

enum { BODY = 128 * 1024 };

static const char BYTES[BODY + 1];

Test(upload, large_bodies_share_a_room_and_small_ones_need_none)
{
    struct upload_room room;
    struct upload large[UPLOAD_LARGE_AT_ONCE + 1];
    struct upload small;
    upload_room_init(&room, BODY);
    for (size_t i = 0; i < ARRAY_LEN(large); i++) {
        upload_init(&large[i], &room, BODY);
        upload_add(&large[i], BYTES, BODY / 2);
        upload_add(&large[i], BYTES, BODY / 2);
        cr_expect_eq(large[i].is_crowded_out, i == UPLOAD_LARGE_AT_ONCE, "body %zu", i);
    }
    cr_expect_eq(large[0].body.length, BODY);
    cr_expect_eq(large[UPLOAD_LARGE_AT_ONCE].body.length, 0);
    upload_init(&small, &room, BODY);
    upload_add(&small, BYTES, UPLOAD_SMALL_BYTES);
    cr_expect_not(small.is_crowded_out);
    upload_add(&large[UPLOAD_LARGE_AT_ONCE], BYTES, 1);
    cr_expect_eq(large[UPLOAD_LARGE_AT_ONCE].body.length, 0, "what was dropped stays so");
    upload_fini(&large[0]);
    upload_add(&small, BYTES, 1);
    cr_expect_not(small.is_crowded_out, "there is room again");
    upload_fini(&small);
    for (size_t i = 1; i < ARRAY_LEN(large); i++)
        upload_fini(&large[i]);
    cr_expect_eq(room.held, 0);
}

Test(upload, what_is_too_large_is_told_from_what_has_no_room)
{
    struct upload_room room;
    struct upload upload;
    upload_room_init(&room, BODY);
    upload_init(&upload, &room, BODY);
    upload_add(&upload, BYTES, BODY + 1);
    cr_expect(upload.body.overflow);
    cr_expect_not(upload.is_crowded_out);
    upload_fini(&upload);
    cr_expect_eq(room.held, 0);
}
