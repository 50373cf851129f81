#include "expect.h"
#include "model/task_state.h"

/* One row per state; which may follow, in the words of the user manual. */
static const char *const FOLLOWS[TASK_STATE_COUNT] = {
    [TASK_NONE] =
        "scheduled queued running success failed skipped upstream_failed cancelled removed",
    [TASK_SCHEDULED] = "queued running success failed skipped upstream_failed cancelled removed",
    [TASK_QUEUED] = "scheduled running success failed skipped upstream_failed cancelled removed",
    [TASK_RUNNING] = "queued success failed skipped up_for_retry up_for_reschedule deferred "
                     "awaiting_input cancelled",
    [TASK_UP_FOR_RETRY] = "queued running success failed skipped upstream_failed cancelled removed",
    [TASK_UP_FOR_RESCHEDULE] =
        "queued running success failed skipped upstream_failed cancelled removed",
    [TASK_DEFERRED] = "queued running success failed skipped upstream_failed cancelled removed",
    [TASK_AWAITING_INPUT] =
        "queued running success failed skipped upstream_failed cancelled removed",
    [TASK_SUCCESS] = "",
    [TASK_FAILED] = "",
    [TASK_SKIPPED] = "",
    [TASK_UPSTREAM_FAILED] = "",
    [TASK_CANCELLED] = "",
    [TASK_REMOVED] = "",
};

static bool has_word(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = strstr(words, word); at != NULL; at = strstr(at + 1, word))
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

Test(task_state, each_listed_change_is_allowed_and_every_other_refused)
{
    for (enum task_state from = 0; from < TASK_STATE_COUNT; from++) {
        for (enum task_state to = 0; to < TASK_STATE_COUNT; to++)
            cr_expect_eq(task_state_allows(from, to), has_word(FOLLOWS[from], task_state_name(to)),
                         "%s to %s", task_state_name(from), task_state_name(to));
        cr_expect_eq(task_state_is_final(from), FOLLOWS[from][0] == '\0');
    }
}

Test(task_state, names_are_parsed_back_and_others_refused)
{
    enum task_state state = TASK_STATE_COUNT;
    cr_expect(!task_state_parse("Success", &state));
    cr_expect(!task_state_parse("", &state));
    cr_expect_eq(state, TASK_STATE_COUNT);
    for (enum task_state each = 0; each < TASK_STATE_COUNT; each++) {
        cr_expect(task_state_parse(task_state_name(each), &state));
        cr_expect_eq(state, each);
    }
}
