#include <stdlib.h>

#include "base/mem.h"
#include "expect.h"
#include "worker/keeper_wire.h"

static const struct keeper_task TASK = {
    .id = 42,
    .nonce = "abcdef",
    .argv = (const char *const[]){"sh", "-c", "", NULL},
    .env = (const char *const[]){"A=1", NULL},
    .workdir = "/w",
    .limits = {.cpu_s = 1, .memory_bytes = 2, .processes = 3},
    .timeout_ms = 4,
    .grace_ms = 5,
    .output_bytes = 6,
    .blob_root = "/b",
    .log_key = {.kind = BLOB_LOG, .ids = {7, 8}, .id_count = 2},
    .script = "echo",
    .script_path = "/s",
    .protocol = true,
    .request = "{}",
    .context = "mine",
    .survives_deadline = true,
    .secrets = (const char *const[]){"hunter2!", "", NULL},
};

Test(keeper_wire, a_task_comes_out_as_it_went_in_with_its_claim)
{
    struct err err = {0};
    struct strbuf out;
    strbuf_init(&out, 1 << 20);
    EXPECT_OK(keeper_wire_put_task(&out, &TASK, &err), &err);
    struct arena *arena = arena_new();
    struct keeper_wire_reader packet = {.at = out.text, .left = out.length};
    struct keeper_wire_reader fields;
    enum keeper_frame_type type = KEEPER_FRAME_TYPE_COUNT;
    struct keeper_task task;

    cr_assert(keeper_wire_next(&packet, &type, &fields));
    cr_assert_eq(type, KEEPER_FRAME_SPAWN);
    cr_assert(keeper_wire_get_task(&fields, arena, &task));

    cr_assert_eq(task.id, 42);
    EXPECT_STR("", task.argv[2]);
    cr_assert_null(task.argv[3]);
    EXPECT_STR("A=1", task.env[0]);
    EXPECT_STR("EIDER_CLAIM=abcdef", task.env[1]);
    cr_assert_null(task.env[2]);
    EXPECT_STR("/w", task.workdir);
    cr_assert_null(task.user);
    cr_assert_null(task.outputs_dir);
    EXPECT_STR("echo", task.script);
    EXPECT_STR("{}", task.request);
    cr_assert_eq(task.limits.processes, 3);
    cr_assert_eq(task.grace_ms, 5);
    cr_assert_eq(task.log_key.ids[1], 8);
    cr_assert(task.protocol);
    EXPECT_STR("mine", task.context);
    cr_assert(task.survives_deadline);
    EXPECT_STR("hunter2!", task.secrets[0]);
    EXPECT_STR("", task.secrets[1]);
    cr_assert_null(task.secrets[2]);
    cr_assert_not(keeper_wire_next(&packet, &type, &fields));
    arena_free(arena);
    strbuf_fini(&out);
}

Test(keeper_wire, a_frame_that_is_cut_or_spoiled_is_refused_without_reading_beyond_it)
{
    struct err err = {0};
    struct strbuf out;
    strbuf_init(&out, 1 << 20);
    EXPECT_OK(keeper_wire_put_task(&out, &TASK, &err), &err);
    for (size_t length = 0; length < out.length; length++) {
        /* A copy of exactly that size, so that a read beyond it is noticed. */
        char *cut = mem_alloc(MAX(length, (size_t)1));
        memcpy(cut, out.text, length);
        struct keeper_wire_reader packet = {.at = cut, .left = length};
        struct keeper_wire_reader fields;
        enum keeper_frame_type type;
        cr_assert_not(keeper_wire_next(&packet, &type, &fields));
        struct arena *arena = arena_new();
        struct keeper_task task;
        struct keeper_wire_reader inner = {.at = cut, .left = length};
        (void)!keeper_wire_get_task(&inner, arena, &task);
        arena_free(arena);
        free(cut);
    }
    for (size_t at = 8; at < out.length; at++) {
        char *spoiled = mem_alloc(out.length);
        memcpy(spoiled, out.text, out.length);
        spoiled[at] ^= (char)0xff;
        struct keeper_wire_reader packet = {.at = spoiled, .left = out.length};
        struct keeper_wire_reader fields;
        enum keeper_frame_type type;
        struct arena *arena = arena_new();
        struct keeper_task task;
        cr_assert(keeper_wire_next(&packet, &type, &fields));
        (void)!keeper_wire_get_task(&fields, arena, &task);
        arena_free(arena);
        free(spoiled);
    }
    strbuf_fini(&out);
}

Test(keeper_wire, small_frames_come_out_as_they_went_in_and_cut_ones_not_at_all)
{
    struct strbuf out;
    strbuf_init(&out, 1 << 20);
    for (int type = 0; type < KEEPER_FRAME_TYPE_COUNT; type++) {
        strbuf_clear(&out);
        keeper_wire_put(&out, &(struct keeper_frame){.type = (enum keeper_frame_type)type,
                                                     .numbers = {type, -1, INT64_MAX, INT64_MIN},
                                                     .text = "con\0text",
                                                     .text_length = 8});
        struct keeper_wire_reader packet = {.at = out.text, .left = out.length};
        struct keeper_wire_reader fields;
        struct keeper_frame frame = {.type = KEEPER_FRAME_TYPE_COUNT};
        cr_assert(keeper_wire_next(&packet, &frame.type, &fields));
        for (size_t length = 0; length < fields.left; length++) {
            char *cut = mem_alloc(MAX(length, (size_t)1));
            memcpy(cut, fields.at, length);
            struct keeper_wire_reader inner = {.at = cut, .left = length};
            cr_assert_not(keeper_wire_get(&inner, &frame));
            free(cut);
        }
        cr_assert(keeper_wire_get(&fields, &frame));
        cr_assert_eq((int)frame.type, type);
        cr_assert_eq(frame.numbers[0], type);
        cr_assert_eq(frame.numbers[1], -1);
        cr_assert_eq(frame.numbers[2], INT64_MAX);
        cr_assert_eq(frame.numbers[3], INT64_MIN);
        cr_assert_eq(frame.text_length, 8);
        cr_assert_arr_eq(frame.text, "con\0text", 9);
    }
    strbuf_fini(&out);
}

Test(keeper_wire, an_exit_comes_out_as_it_went_in_and_an_unknown_kind_not_at_all)
{
    struct keeper_exit exit = {
        .kind = KEEPER_TIMEOUT,
        .code = 1,
        .signal = 2,
        .text = "why",
        .wall_us = 3,
        .user_us = 4,
        .system_us = 5,
        .rss_kb = 6,
        .log = {.bytes = 7, .lines = 8, .dropped_bytes = 9, .error = "full"},
        .outputs_left = true,
    };
    struct strbuf out;
    strbuf_init(&out, 1 << 20);
    keeper_wire_put_exit(&out, 77, &exit);
    struct keeper_wire_reader packet = {.at = out.text, .left = out.length};
    struct keeper_wire_reader fields;
    enum keeper_frame_type type;
    cr_assert(keeper_wire_next(&packet, &type, &fields));
    struct keeper_exit again;
    int64_t id = 0;

    struct keeper_wire_reader copy = fields;
    cr_assert(keeper_wire_get_exit(&copy, &id, &again));
    cr_assert_eq(id, 77);
    cr_assert_eq(again.kind, KEEPER_TIMEOUT);
    EXPECT_STR("why", again.text);
    EXPECT_STR("full", again.log.error);
    cr_assert_eq(again.log.dropped_bytes, 9);
    cr_assert(again.outputs_left);

    out.text[out.length - fields.left + 8] = 99; /* the kind */
    cr_assert_not(keeper_wire_get_exit(&fields, &id, &again));
    strbuf_fini(&out);
}

Test(keeper_wire, a_task_beyond_the_bound_is_refused_and_nothing_is_added)
{
    struct err err = {0};
    struct strbuf out;
    strbuf_init(&out, 1 << 20);
    char *large = mem_alloc(KEEPER_WIRE_FRAME_MAX + 1);
    memset(large, 'x', KEEPER_WIRE_FRAME_MAX);
    large[KEEPER_WIRE_FRAME_MAX] = '\0';
    struct keeper_task task = TASK;
    task.script = large;
    EXPECT_STATUS(STATUS_LIMIT, keeper_wire_put_task(&out, &task, &err), &err);
    cr_assert_eq(out.length, 0);
    large[KEEPER_CONTEXT_MAX + 1] = '\0';
    task.script = NULL;
    task.context = large;
    EXPECT_STATUS(STATUS_LIMIT, keeper_wire_put_task(&out, &task, &err), &err);
    cr_assert_eq(out.length, 0);
    large[KEEPER_CONTEXT_MAX] = '\0';
    EXPECT_OK(keeper_wire_put_task(&out, &task, &err), &err);
    free(large);
    strbuf_fini(&out);
}
