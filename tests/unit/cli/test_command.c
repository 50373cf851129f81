#include <ctype.h>

#include "cli/command.h"
#include "cli/parsed.h"
#include "expect.h"
#include "fake_host.h"
#include "model/settings.h"

Test(command, the_table_is_sound)
{
    for (size_t i = 0; i < command_count(&COMMANDS); i++) {
        const struct command *command = command_at(&COMMANDS, i);
        cr_expect_not_null(command->run, "%s", command->path);
        cr_expect(command->summary[0] != '\0' && islower((unsigned char)command->summary[0]));
        cr_expect_leq(command->args_min, command->args_max, "%s", command->path);
        cr_expect_eq(command_find(&COMMANDS, command->path), command, "%s twice", command->path);
        cr_expect(command->complete != COMPLETE_CHOICE || command->choices != NULL);
        const struct command_option *option;
        for (size_t k = 0; (option = command_option_at(command, k)) != NULL; k++) {
            cr_expect_eq(command_find_option(command, option->name), option, "%s --%s twice",
                         command->path, option->name);
            cr_expect(option->letter == 0 || command_find_letter(command, option->letter) == option,
                      "%s -%c twice", command->path, option->letter);
            cr_expect(option->complete != COMPLETE_CHOICE || option->choices != NULL);
        }
    }
}

static bool is_taken_somewhere(const char *flag, const char *key)
{
    for (size_t i = 0; i < command_count(&COMMANDS); i++) {
        const struct command_option *option =
            command_find_option(command_at(&COMMANDS, i), flag + 2);
        if (option != NULL && option->setting != NULL && strcmp(option->setting, key) == 0)
            return true;
    }
    return false;
}

Test(command, every_flag_of_a_setting_is_an_option_and_the_other_way_round)
{
    for (size_t i = 0; i < SETTING_COUNT; i++)
        cr_expect(SETTINGS[i].flag == NULL || is_taken_somewhere(SETTINGS[i].flag, SETTINGS[i].key),
                  "%s", SETTINGS[i].key);
    for (size_t i = 0; i < command_count(&COMMANDS); i++) {
        const struct command_option *option;
        for (size_t k = 0; (option = command_option_at(command_at(&COMMANDS, i), k)) != NULL; k++) {
            enum setting_key key;
            if (option->setting == NULL)
                continue;
            cr_expect(setting_parse_key(option->setting, &key), "%s", option->setting);
            cr_expect_str_eq(SETTINGS[key].flag + 2, option->name);
        }
    }
}

Test(command, words_and_options_are_told_apart)
{
    static const char *const ARGV[] = {"eider",   "-o",     "json",   "logs", "-fn", "3",
                                       "--try=2", "orders", "--grep", "a b",  "--",  "-x"};
    struct parsed parsed = {0};
    struct err err = {0};

    EXPECT_OK(parsed_read(&COMMANDS, ARRAY_LEN(ARGV), ARGV, &parsed, &err), &err);
    EXPECT_STR("logs", parsed.command->path);
    cr_expect_eq(parsed.args_count, 2);
    EXPECT_STR("orders", parsed.args[0]);
    EXPECT_STR("-x", parsed.args[1]);
    cr_expect(parsed_has(&parsed, "follow"));
    EXPECT_STR("3", parsed_get(&parsed, "tail", ""));
    EXPECT_STR("2", parsed_get(&parsed, "try", ""));
    EXPECT_STR("a b", parsed_get(&parsed, "grep", ""));
    EXPECT_STR("json", parsed_get(&parsed, "output", ""));
    parsed_fini(&parsed);
    parsed_fini(&parsed);
}

Test(command, repeated_options_are_kept_in_order_and_the_last_single_one_wins)
{
    static const char *const ARGV[] = {"eider", "run",    "-pa=1", "f.yaml",  "-p",
                                       "b=2",   "--date", "x",     "--date=y"};
    struct parsed parsed = {0};
    struct err err = {0};

    EXPECT_OK(parsed_read(&COMMANDS, ARRAY_LEN(ARGV), ARGV, &parsed, &err), &err);
    EXPECT_STR("a=1", parsed_get_nth(&parsed, "param", 0));
    EXPECT_STR("b=2", parsed_get_nth(&parsed, "param", 1));
    cr_expect_null(parsed_get_nth(&parsed, "param", 2));
    EXPECT_STR("y", parsed_get(&parsed, "date", ""));
    parsed_fini(&parsed);
}

Test(command, wrong_usage_exits_2_and_says_what_was_meant)
{
    static const struct {
        const char *line;
        const char *problem;
    } CASES[] = {
        {"rnu x.yaml", "unknown command 'rnu', did you mean 'run'?"},
        {"runs lst", "unknown command 'runs lst', did you mean 'runs list'?"},
        {"daggs", "did you mean 'dags'?"},
        {"qqqqqqqqqq", "unknown command 'qqqqqqqqqq'\n"},
        {"logs x --folow", "unknown option '--folow' of 'logs', did you mean '--follow'?"},
        {"logs x -Z", "unknown option '-Z'"},
        {"--frobnicate", "unknown option '--frobnicate'"},
        {"logs", "usage: eider logs RUN [TASK]"},
        {"logs a b c", "'c' is one argument too many"},
        {"logs a --try", "option '--try' needs a value: N"},
        {"logs a --follow=1", "option '--follow' takes no value"},
        {"runs list -o jsno", "--output: 'jsno' is none of"},
        {"runs list -ojsno", "--output: 'jsno' is none of"},
        {"logs a --try x", "--try: 'x' is not a whole number"},
        {"logs a --try -1", "--try: '-1' is not a whole number"},
        {"mark a b done", "'done' is no state to set"},
        {"run x.yaml -p novalue", "write KEY=VALUE"},
        {"run x.yaml --conf [1]", "--conf must be a JSON object"},
        {"run x.yaml --conf {", "--conf"},
        {"run x.yaml --date soon", "'soon' is no date"},
        {"logs a -o json", "'logs' has no output formats"},
        {"runs delete a", "say --yes"},
        {"store restore a", "say --yes"},
        {"completion tcsh", "no completion for 'tcsh'"},
        {"help nothing", "no command 'nothing'"},
        {"runs", "Usage: eider runs VERB"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct fake_host fake;
        fake_host_init(&fake);
        int code = fake_host_run(&fake, CASES[i].line);
        cr_expect_eq(code, 2, "%s: exit %d", CASES[i].line, code);
        cr_expect_not_null(strstr(fake.err, CASES[i].problem), "%s: %s", CASES[i].line, fake.err);
        cr_expect_eq(fake.out[0], '\0', "%s prints on stdout", CASES[i].line);
        cr_expect_eq(fake.calls, 0, "%s calls", CASES[i].line);
        fake_host_fini(&fake);
    }
}

Test(command, every_command_has_help_and_the_rest_is_generated)
{
    struct fake_host fake;
    fake_host_init(&fake);
    for (size_t i = 0; i < command_count(&COMMANDS); i++) {
        char line[128];
        (void)snprintf(line, sizeof line, "%s --help", command_at(&COMMANDS, i)->path);
        cr_expect_eq(fake_host_run(&fake, line), 0, "%s", line);
        EXPECT_CONTAINS(fake.out, command_at(&COMMANDS, i)->summary);
        EXPECT_CONTAINS(fake.out, "--output FORMAT");
    }
    static const struct {
        const char *line;
        const char *part;
    } CASES[] = {
        {"", "  run FILE|DAG "},
        {"help", "Store and settings"},
        {"help runs list", "--state STATE"},
        {"help runs", "runs gantt"},
        {"runs --help", "runs gantt"},
        {"--version", "eider " EIDER_VERSION},
        {"version -o json", "\"version\": \"" EIDER_VERSION "\""},
        {"man", ".SS eider runs list"},
        {"__docs cli", "### eider runs list"},
        {"completion bash", "complete -F _eider eider"},
        {"completion zsh", "#compdef eider"},
        {"completion fish", "complete -c eider"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        cr_expect_eq(fake_host_run(&fake, CASES[i].line), 0, "%s", CASES[i].line);
        EXPECT_CONTAINS(fake.out, CASES[i].part);
        cr_expect_eq(fake.err[0], '\0', "%s", fake.err);
    }
    (void)fake_host_run(&fake, "help");
    cr_expect_null(strstr(fake.out, "__docs"), "hidden commands stay hidden");
    fake_host_fini(&fake);
}
