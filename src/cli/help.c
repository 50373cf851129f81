#include "cli/help.h"

#include <string.h>

#include "cli/exit_code.h"
#include "cli/reference.h"
#include "model/settings.h"

enum { LEFT_COLUMN = 34 };

static bool is_visible(const struct command *command)
{
    return !(command->flags & COMMAND_HIDDEN);
}

static void print_row(FILE *out, const struct command *command)
{
    int used =
        fprintf(out, "  %s%s%s", command->path, command->args[0] != '\0' ? " " : "", command->args);
    (void)fprintf(out, "%*s  %s\n", used < LEFT_COLUMN ? LEFT_COLUMN - used : 0, "",
                  command->summary);
}

/* Widest "-x, --name ARG" of the global options fits; longer ones push their text right. */
static void print_option(FILE *out, const struct command_option *option)
{
    int used =
        option->letter != 0 ? fprintf(out, "  -%c, ", option->letter) : fprintf(out, "      ");
    used += fprintf(out, "--%s%s%s", option->name, option->argument != NULL ? " " : "",
                    option->argument != NULL ? option->argument : "");
    (void)fprintf(out, "%*s  %s%s\n", used < LEFT_COLUMN ? LEFT_COLUMN - used : 0, "", option->doc,
                  option->repeatable && strstr(option->doc, "repeatable") == NULL ? " (repeatable)"
                                                                                  : "");
}

static void print_title(FILE *out, const struct style *style, const char *title)
{
    (void)fprintf(out, "\n%s%s%s\n", style_bold(style), title, style_reset(style));
}

static void print_globals(FILE *out, const struct style *style)
{
    print_title(out, style, "Global options");
    for (size_t i = 0; i < GLOBAL_OPTIONS.count; i++)
        print_option(out, &GLOBAL_OPTIONS.rows[i]);
}

void help_overview(FILE *out, const struct style *style)
{
    (void)fprintf(out, "Eider runs workflows: DAGs of tasks, from one file to a fleet.\n\n"
                       "Usage: eider COMMAND [ARGUMENTS] [OPTIONS]\n");
    for (enum command_group group = 0; group < GROUP_COUNT; group++) {
        print_title(out, style, command_group_title(group));
        for (size_t i = 0; i < command_count(&COMMANDS); i++)
            if (command_at(&COMMANDS, i)->group == group && is_visible(command_at(&COMMANDS, i)))
                print_row(out, command_at(&COMMANDS, i));
    }
    print_globals(out, style);
    (void)fprintf(out, "\nRUN is a number, DAG/RUN_ID, or a DAG, which stands for its latest run.\n"
                       "`eider help COMMAND` tells more; `eider init` starts a project.\n");
}

void help_noun(FILE *out, const struct style *style, const char *noun)
{
    size_t length = strlen(noun);
    (void)fprintf(out, "Usage: eider %s VERB [ARGUMENTS] [OPTIONS]\n", noun);
    print_title(out, style, "Verbs");
    for (size_t i = 0; i < command_count(&COMMANDS); i++) {
        const struct command *command = command_at(&COMMANDS, i);
        if (strncmp(command->path, noun, length) == 0 && command->path[length] == ' ' &&
            is_visible(command))
            print_row(out, command);
    }
}

static void print_examples(FILE *out, const char *examples)
{
    for (const char *line = examples; line[0] != '\0';) {
        size_t length = strcspn(line, "\n");
        (void)fprintf(out, "  %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

void help_command(FILE *out, const struct style *style, const struct command *command)
{
    (void)fprintf(out, "eider %s: %s\n\nUsage: eider %s%s%s [OPTIONS]\n", command->path,
                  command->summary, command->path, command->args[0] != '\0' ? " " : "",
                  command->args);
    if (command->help != NULL)
        (void)fprintf(out, "\n%s\n", command->help);
    size_t own = command->options.count + ((command->flags & COMMAND_WATCH) != 0);
    if (own > 0)
        print_title(out, style, "Options");
    for (size_t i = 0; i < own; i++)
        print_option(out, command_option_at(command, i));
    print_globals(out, style);
    if (command->examples != NULL) {
        print_title(out, style, "Examples");
        print_examples(out, command->examples);
    }
}

/* --- the manual page --- */

/* Text for roff: backslashes doubled, hyphens kept as typed, no line starts a request. */
static void roff(FILE *out, const char *text)
{
    bool at_start = true;
    for (const char *p = text; *p != '\0'; p++) {
        if (at_start && (*p == '.' || *p == '\''))
            (void)fputs("\\&", out);
        if (*p == '\\')
            (void)fputs("\\e", out);
        else if (*p == '-')
            (void)fputs("\\-", out);
        else
            (void)fputc(*p, out);
        at_start = *p == '\n';
    }
}

static void roff_option(FILE *out, const struct command_option *option)
{
    (void)fputs(".TP\n.B ", out);
    if (option->letter != 0)
        (void)fprintf(out, "\\-%c, ", option->letter);
    (void)fputs("\\-\\-", out);
    roff(out, option->name);
    if (option->argument != NULL)
        (void)fprintf(out, " \\fI%s\\fR", option->argument);
    (void)fputc('\n', out);
    roff(out, option->doc);
    (void)fputc('\n', out);
}

static void roff_command(FILE *out, const struct command *command)
{
    (void)fputs(".SS eider ", out);
    roff(out, command->path);
    (void)fprintf(out, " %s\n", command->args);
    roff(out, command->summary);
    (void)fputs(".\n", out);
    if (command->help != NULL) {
        (void)fputs(".PP\n", out);
        roff(out, command->help);
        (void)fputc('\n', out);
    }
    size_t own = command->options.count + ((command->flags & COMMAND_WATCH) != 0);
    for (size_t i = 0; i < own; i++)
        roff_option(out, command_option_at(command, i));
    if (command->examples != NULL) {
        (void)fputs(".PP\n.nf\n", out);
        roff(out, command->examples);
        (void)fputs("\n.fi\n", out);
    }
}

static const struct {
    int value;
    const char *meaning;
} EXIT_CODES[] = {
#define X(name, number, text) {number, text},
    EXIT_CODE_MAP(X)
#undef X
};

void help_manual(FILE *out)
{
    (void)fputs(".TH EIDER 1 \"\" \"Eider " EIDER_VERSION "\" \"User commands\"\n.SH NAME\n"
                "eider \\- run workflows\n.SH SYNOPSIS\n.B eider\n.I command\n"
                "[\\fIarguments\\fR] [\\fIoptions\\fR]\n.SH GLOBAL OPTIONS\n",
                out);
    for (size_t i = 0; i < GLOBAL_OPTIONS.count; i++)
        roff_option(out, &GLOBAL_OPTIONS.rows[i]);
    (void)fputs(".SH COMMANDS\n", out);
    for (size_t i = 0; i < command_count(&COMMANDS); i++)
        if (is_visible(command_at(&COMMANDS, i)))
            roff_command(out, command_at(&COMMANDS, i));
    (void)fputs(".SH ENVIRONMENT\n", out);
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        (void)fprintf(out, ".TP\n.B %s\n", SETTINGS[i].environment);
        roff(out, SETTINGS[i].help);
        (void)fputc('\n', out);
    }
    (void)fputs(".SH EXIT STATUS\n", out);
    for (size_t i = 0; i < ARRAY_LEN(EXIT_CODES); i++)
        (void)fprintf(out, ".TP\n.B %d\n%s\n", EXIT_CODES[i].value, EXIT_CODES[i].meaning);
}

/* --- docs/cli.md --- */

static void markdown_options(FILE *out, const struct command *command, size_t count)
{
    (void)fputs("\n| option | meaning |\n|---|---|\n", out);
    for (size_t i = 0; i < count; i++) {
        const struct command_option *option = command_option_at(command, i);
        (void)fputs("| `", out);
        if (option->letter != 0)
            (void)fprintf(out, "-%c`, `", option->letter);
        (void)fprintf(out, "--%s%s%s` | ", option->name, option->argument != NULL ? " " : "",
                      option->argument != NULL ? option->argument : "");
        reference_cell(out, option->doc);
        (void)fprintf(
            out, "%s |\n",
            option->repeatable && strstr(option->doc, "repeatable") == NULL ? " (repeatable)" : "");
    }
}

static void markdown_command(FILE *out, const struct command *command)
{
    (void)fprintf(out, "\n### eider %s\n\n`eider %s%s%s`: %s.\n", command->path, command->path,
                  command->args[0] != '\0' ? " " : "", command->args, command->summary);
    if (command->help != NULL)
        (void)fprintf(out, "\n%s\n", command->help);
    size_t own = command->options.count + ((command->flags & COMMAND_WATCH) != 0);
    if (own > 0)
        markdown_options(out, command, own);
    if (command->examples != NULL)
        (void)fprintf(out, "\n```\n%s\n```\n", command->examples);
}

void help_reference(FILE *out)
{
    (void)fputs("# Command line\n\nGenerated by `eider __docs cli`.\n\n## Global options\n", out);
    markdown_options(out, NULL, GLOBAL_OPTIONS.count);
    for (enum command_group group = 0; group < GROUP_COUNT; group++) {
        (void)fprintf(out, "\n## %s\n", command_group_title(group));
        for (size_t i = 0; i < command_count(&COMMANDS); i++)
            if (command_at(&COMMANDS, i)->group == group && is_visible(command_at(&COMMANDS, i)))
                markdown_command(out, command_at(&COMMANDS, i));
    }
    (void)fputs("\n## Settings\n\nA flag wins over the environment, that over the project file "
                "`eider.yaml`,\nthat over the user's file, that over the default.\n\n",
                out);
    (void)reference_print(out, "settings");
    (void)fputs("\n## Exit codes\n\n", out);
    (void)reference_print(out, "exit-codes");
}
