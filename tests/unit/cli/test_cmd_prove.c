#include "expect.h"
#include "fake_host.h"

/* A prover that finds what it is told to find. */
struct script {
    bool ok;
    bool interrupted;
    int64_t kills;
    int64_t tasks;
};

static enum status play(void *context, const struct prove_request *request, json_t **out_report,
                        struct err *err)
{
    struct script *script = context;
    (void)err;
    script->kills = request->kills;
    script->tasks = request->tasks;
    request->say(request->say_context, "killing");
    *out_report = json_pack("{s:s,s:b,s:b,s:[{s:s,s:i,s:i,s:b}],s:[s]}", "proof", "adoption", "ok",
                            script->ok, "interrupted", script->interrupted, "checks", "what",
                            "tasks lost", "expected", 0, "seen", script->ok ? 0 : 2, "ok",
                            script->ok, "notes", "at least once");
    return STATUS_OK;
}

static int run(struct fake_host *fake, struct script *script, const char *line)
{
    fake->host.prover = (struct prover){.context = script, .run = play};
    return fake_host_run(fake, line);
}

Test(cmd_prove, the_exit_code_says_what_was_found)
{
    struct fake_host fake;
    struct script script = {.ok = true};
    fake_host_init(&fake);

    cr_expect_eq(run(&fake, &script, "prove adoption"), 0);
    EXPECT_STR("killing\nat least once\nadoption: proved\n", fake.err);
    EXPECT_STR("WHAT        EXPECTED  SEEN  OK\n"
               "tasks lost         0     0  true\n",
               fake.out);
    cr_expect_eq(script.kills, PROVE_KILLS);
    cr_expect_eq(script.tasks, PROVE_TASKS);

    script.ok = false;
    cr_expect_eq(run(&fake, &script, "prove adoption --kills 5 --tasks 40"), 1);
    EXPECT_STR("killing\nat least once\nadoption: NOT proved\n", fake.err);
    cr_expect_eq(script.kills, 5);
    cr_expect_eq(script.tasks, 40);

    script.interrupted = true;
    cr_expect_eq(run(&fake, &script, "prove adoption -q"), 130);
    EXPECT_STR("", fake.out);
    fake_host_fini(&fake);
}

Test(cmd_prove, nonsense_is_refused_before_anything_is_killed)
{
    struct fake_host fake;
    struct script script = {.ok = true};
    fake_host_init(&fake);

    cr_expect_eq(run(&fake, &script, "prove adaption"), 2);
    cr_expect_eq(run(&fake, &script, "prove adoption --kills 1"), 2);
    cr_expect_eq(run(&fake, &script, "prove adoption --tasks 0"), 2);
    cr_expect_eq(run(&fake, &script, "prove waiting --count 1"), 2);
    cr_expect_eq(script.kills, 0);
    cr_expect_eq(run(&fake, &script, "prove -o name"), 0);
    EXPECT_STR("adoption\nbackfill\nwaiting\n", fake.out);
    fake_host_fini(&fake);
}
