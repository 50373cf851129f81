/*
 * The scripts are data with little code: for every command its verbs, options and the kind of
 * its arguments. DAGs and runs are asked from `eider` itself, which prints names only.
 */
#include "cli/completion.h"

#include <string.h>

#include "cli/command.h"

static bool is_visible(const struct command *command)
{
    return !(command->flags & COMMAND_HIDDEN);
}

/* Is this row the first with its first word? Then print that word once. */
static bool is_first_of_noun(size_t row)
{
    const char *path = command_at(&COMMANDS, row)->path;
    size_t length = strcspn(path, " ");
    for (size_t i = 0; i < row; i++) {
        const char *earlier = command_at(&COMMANDS, i)->path;
        if (strcspn(earlier, " ") == length && strncmp(earlier, path, length) == 0)
            return false;
    }
    return true;
}

static void print_first_words(FILE *out)
{
    for (size_t i = 0; i < command_count(&COMMANDS); i++)
        if (is_visible(command_at(&COMMANDS, i)) && is_first_of_noun(i))
            (void)fprintf(out, " %.*s", (int)strcspn(command_at(&COMMANDS, i)->path, " "),
                          command_at(&COMMANDS, i)->path);
}

static void print_verbs(FILE *out, const char *noun, size_t length)
{
    for (size_t i = 0; i < command_count(&COMMANDS); i++) {
        const struct command *command = command_at(&COMMANDS, i);
        if (is_visible(command) && strncmp(command->path, noun, length) == 0 &&
            command->path[length] == ' ')
            (void)fprintf(out, " %s", command->path + length + 1);
    }
}

static void print_option_words(FILE *out, const struct command *command)
{
    const struct command_option *option;
    for (size_t i = 0; (option = command_option_at(command, i)) != NULL; i++) {
        if (option->letter != 0)
            (void)fprintf(out, " -%c", option->letter);
        (void)fprintf(out, " --%s", option->name);
    }
}

/* --- bash --- */

static const char BASH_HEAD[] =
    "# bash completion for eider\n"
    "_eider_ask() { COMPREPLY=($(compgen -W \"$(eider \"$@\" -o name 2>/dev/null)\" -- \"$cur\")); "
    "}\n"
    "_eider_words() { COMPREPLY=($(compgen -W \"$1\" -- \"$cur\")); }\n"
    "_eider_files() { COMPREPLY=($(compgen -f -- \"$cur\")); compopt -o filenames 2>/dev/null; }\n"
    "_eider_folders() { COMPREPLY=($(compgen -d -- \"$cur\")); compopt -o filenames 2>/dev/null; "
    "}\n"
    "_eider()\n"
    "{\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} path= word i\n"
    "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "        word=${COMP_WORDS[i]}\n"
    "        [[ $word == -* ]] && continue\n"
    "        case \"$path\" in\n"
    "        '') path=$word ;;\n";

static void print_bash_kind(FILE *out, enum complete_kind kind, const char *choices)
{
    switch (kind) {
    case COMPLETE_FILE:
        (void)fputs("_eider_files", out);
        return;
    case COMPLETE_FOLDER:
        (void)fputs("_eider_folders", out);
        return;
    case COMPLETE_CHOICE:
        (void)fprintf(out, "_eider_words '%s'", choices);
        return;
    case COMPLETE_DAG:
        (void)fputs("_eider_ask dags list", out);
        return;
    case COMPLETE_RUN:
        (void)fputs("_eider_ask runs list", out);
        return;
    case COMPLETE_COMMAND:
        (void)fputs("_eider_words '", out);
        print_first_words(out);
        (void)fputs("'", out);
        return;
    case COMPLETE_NONE:
        break;
    }
    (void)fputs("COMPREPLY=()", out);
}

static void print_bash_option_values(FILE *out, const struct command *command)
{
    const struct command_option *option;
    for (size_t i = 0; (option = command_option_at(command, i)) != NULL; i++) {
        if (option->argument == NULL)
            continue;
        (void)fprintf(out, "    '%s:--%s'", command->path, option->name);
        if (option->letter != 0)
            (void)fprintf(out, " | '%s:-%c'", command->path, option->letter);
        (void)fputs(") ", out);
        print_bash_kind(out, option->complete, option->choices);
        (void)fputs("; return ;;\n", out);
    }
}

static void print_bash_command(FILE *out, const struct command *command)
{
    (void)fprintf(out, "    '%s')\n        if [[ $cur == -* ]]; then _eider_words '",
                  command->path);
    print_option_words(out, command);
    (void)fputs("'\n        else ", out);
    print_bash_kind(out, command->complete, command->choices);
    (void)fputs("; fi ;;\n", out);
}

static void print_bash(FILE *out)
{
    (void)fputs(BASH_HEAD, out);
    for (size_t i = 0; i < command_count(&COMMANDS); i++) {
        const char *path = command_at(&COMMANDS, i)->path;
        size_t length = strcspn(path, " ");
        if (is_visible(command_at(&COMMANDS, i)) && path[length] == ' ' && is_first_of_noun(i))
            (void)fprintf(out, "        %.*s) path=\"$path $word\" ;;\n", (int)length, path);
    }
    (void)fputs("        esac\n    done\n    case \"$path:$prev\" in\n", out);
    for (size_t i = 0; i < command_count(&COMMANDS); i++)
        if (is_visible(command_at(&COMMANDS, i)))
            print_bash_option_values(out, command_at(&COMMANDS, i));
    (void)fputs("    esac\n    case \"$path\" in\n    '') _eider_words '", out);
    print_first_words(out);
    (void)fputs(" --help --version' ;;\n", out);
    for (size_t i = 0; i < command_count(&COMMANDS); i++) {
        const struct command *command = command_at(&COMMANDS, i);
        size_t length = strcspn(command->path, " ");
        if (!is_visible(command))
            continue;
        if (command->path[length] == ' ' && is_first_of_noun(i)) {
            (void)fprintf(out, "    '%.*s') _eider_words '", (int)length, command->path);
            print_verbs(out, command->path, length);
            (void)fputs("' ;;\n", out);
        }
        print_bash_command(out, command);
    }
    (void)fputs("    esac\n}\ncomplete -F _eider eider\n", out);
}

/* --- zsh --- */

/* Inside single quotes, and with the colons and brackets that _arguments would read escaped. */
static void print_zsh_text(FILE *out, const char *text)
{
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '\'')
            (void)fputs("'\\''", out);
        else if (strchr(":[]\\", *p) != NULL)
            (void)fprintf(out, "\\%c", *p);
        else
            (void)fputc(*p, out);
    }
}

static void print_zsh_kind(FILE *out, enum complete_kind kind, const char *choices)
{
    switch (kind) {
    case COMPLETE_FILE:
        (void)fputs("_files", out);
        return;
    case COMPLETE_FOLDER:
        (void)fputs("_files -/", out);
        return;
    case COMPLETE_CHOICE:
        (void)fprintf(out, "(%s)", choices);
        return;
    case COMPLETE_DAG:
        (void)fputs("_eider_dags", out);
        return;
    case COMPLETE_RUN:
        (void)fputs("_eider_runs", out);
        return;
    case COMPLETE_COMMAND:
        (void)fputs("(", out);
        print_first_words(out);
        (void)fputs(")", out);
        return;
    case COMPLETE_NONE:
        break;
    }
    (void)fputs(" ", out);
}

static void print_zsh_option(FILE *out, const struct command_option *option, const char *dashes,
                             const char *name)
{
    (void)fprintf(out, " \\\n            '%s%s%s%s[", option->repeatable ? "*" : "", dashes, name,
                  option->argument != NULL && dashes[1] != '\0' ? "=" : "");
    print_zsh_text(out, option->doc);
    (void)fputs("]", out);
    if (option->argument != NULL) {
        (void)fprintf(out, ":%s:", option->argument);
        print_zsh_kind(out, option->complete, option->choices);
    }
    (void)fputs("'", out);
}

static void print_zsh_command(FILE *out, const struct command *command)
{
    const struct command_option *option;
    (void)fprintf(out, "    '%s')\n        _arguments -s", command->path);
    for (size_t i = 0; (option = command_option_at(command, i)) != NULL; i++) {
        char letter[2] = {option->letter, '\0'};
        print_zsh_option(out, option, "--", option->name);
        if (option->letter != 0)
            print_zsh_option(out, option, "-", letter);
    }
    (void)fputs(" \\\n            '*:argument:", out);
    print_zsh_kind(out, command->complete, command->choices);
    (void)fputs("' ;;\n", out);
}

static void print_zsh_words(FILE *out, const char *noun, size_t length)
{
    for (size_t i = 0; i < command_count(&COMMANDS); i++) {
        const struct command *command = command_at(&COMMANDS, i);
        size_t first = strcspn(command->path, " ");
        bool belongs = noun == NULL ? is_first_of_noun(i)
                                    : strncmp(command->path, noun, length) == 0 &&
                                          command->path[length] == ' ';
        if (!is_visible(command) || !belongs)
            continue;
        bool is_noun = noun == NULL && command->path[first] == ' ';
        if (noun == NULL)
            (void)fprintf(out, " '%.*s:", (int)first, command->path);
        else
            (void)fprintf(out, " '%s:", command->path + length + 1);
        print_zsh_text(out, is_noun ? command_group_title(command->group) : command->summary);
        (void)fputs("'", out);
    }
}

static void print_zsh(FILE *out)
{
    (void)fputs("#compdef eider\n"
                "_eider_dags() { compadd -- ${(f)\"$(eider dags list -o name 2>/dev/null)\"} }\n"
                "_eider_runs() { compadd -- ${(f)\"$(eider runs list -o name 2>/dev/null)\"} }\n"
                "_eider()\n{\n    local path=$words[2] skip=1\n    local -a entries\n"
                "    if ((CURRENT == 2)); then\n        entries=(",
                out);
    print_zsh_words(out, NULL, 0);
    (void)fputs(" )\n        _describe command entries\n        return\n    fi\n"
                "    case $path in\n",
                out);
    for (size_t i = 0; i < command_count(&COMMANDS); i++) {
        const char *path = command_at(&COMMANDS, i)->path;
        size_t length = strcspn(path, " ");
        if (!is_visible(command_at(&COMMANDS, i)) || path[length] != ' ' || !is_first_of_noun(i))
            continue;
        (void)fprintf(out, "    %.*s)\n        if ((CURRENT == 3)); then\n            entries=(",
                      (int)length, path);
        print_zsh_words(out, path, length);
        (void)fputs(" )\n            _describe verb entries\n            return\n        fi\n"
                    "        path=\"$path $words[3]\" skip=2 ;;\n",
                    out);
    }
    (void)fputs("    esac\n    shift $skip words\n    ((CURRENT -= skip))\n    case $path in\n",
                out);
    for (size_t i = 0; i < command_count(&COMMANDS); i++)
        if (is_visible(command_at(&COMMANDS, i)))
            print_zsh_command(out, command_at(&COMMANDS, i));
    (void)fputs("    esac\n}\n"
                "if [ \"$funcstack[1]\" = _eider ]; then _eider \"$@\"; else compdef _eider eider; "
                "fi\n",
                out);
}

/* --- fish --- */

static void print_fish_text(FILE *out, const char *text)
{
    (void)fputc('\'', out);
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '\'' || *p == '\\')
            (void)fputc('\\', out);
        (void)fputc(*p, out);
    }
    (void)fputc('\'', out);
}

static void print_fish_kind(FILE *out, enum complete_kind kind, const char *choices)
{
    switch (kind) {
    case COMPLETE_FILE:
        (void)fputs(" -F", out);
        return;
    case COMPLETE_FOLDER:
        (void)fputs(" -f -a '(__fish_complete_directories)'", out);
        return;
    case COMPLETE_CHOICE:
        (void)fprintf(out, " -f -a '%s'", choices);
        return;
    case COMPLETE_DAG:
        (void)fputs(" -f -a '(eider dags list -o name 2>/dev/null)'", out);
        return;
    case COMPLETE_RUN:
        (void)fputs(" -f -a '(eider runs list -o name 2>/dev/null)'", out);
        return;
    case COMPLETE_COMMAND:
        (void)fputs(" -f -a '", out);
        print_first_words(out);
        (void)fputs("'", out);
        return;
    case COMPLETE_NONE:
        break;
    }
    (void)fputs(" -f", out);
}

static void print_fish_command(FILE *out, const struct command *command)
{
    const struct command_option *option;
    if (command->complete != COMPLETE_NONE) {
        (void)fprintf(out, "complete -c eider -n '__eider_at %s'", command->path);
        print_fish_kind(out, command->complete, command->choices);
        (void)fputc('\n', out);
    }
    for (size_t i = 0; (option = command_option_at(command, i)) != NULL; i++) {
        (void)fprintf(out, "complete -c eider -n '__eider_at %s' -l %s", command->path,
                      option->name);
        if (option->letter != 0)
            (void)fprintf(out, " -s %c", option->letter);
        (void)fputs(" -d ", out);
        print_fish_text(out, option->doc);
        if (option->argument != NULL) {
            (void)fputs(" -r", out);
            print_fish_kind(out, option->complete, option->choices);
        }
        (void)fputc('\n', out);
    }
}

static void print_fish(FILE *out)
{
    (void)fputs("# fish completion for eider\n"
                "function __eider_words\n"
                "    for word in (commandline -opc)[2..-1]\n"
                "        string match -q -- '-*' $word; or echo $word\n"
                "    end\nend\n"
                "function __eider_at\n"
                "    set -l words (__eider_words)\n"
                "    set -l count (count $argv)\n"
                "    test (count $words) -ge $count; and test \"$words[1..$count]\" = \"$argv\"\n"
                "end\n"
                "complete -c eider -f\n",
                out);
    for (size_t i = 0; i < command_count(&COMMANDS); i++) {
        const struct command *command = command_at(&COMMANDS, i);
        size_t length = strcspn(command->path, " ");
        bool is_noun = command->path[length] == ' ';
        if (!is_visible(command))
            continue;
        if (is_first_of_noun(i)) {
            (void)fprintf(out,
                          "complete -c eider -n 'test (count (__eider_words)) -eq 0' -a %.*s -d ",
                          (int)length, command->path);
            print_fish_text(out, is_noun ? command_group_title(command->group) : command->summary);
            (void)fputc('\n', out);
        }
        if (is_noun) {
            (void)fprintf(out, "complete -c eider -n 'test \"(__eider_words)\" = %.*s' -a %s -d ",
                          (int)length, command->path, command->path + length + 1);
            print_fish_text(out, command->summary);
            (void)fputc('\n', out);
        }
        print_fish_command(out, command);
    }
}

bool completion_print(FILE *out, const char *shell)
{
    static const struct {
        const char *shell;
        void (*print)(FILE *out);
    } SHELLS[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
    for (size_t i = 0; i < ARRAY_LEN(SHELLS); i++) {
        if (strcmp(SHELLS[i].shell, shell) == 0) {
            SHELLS[i].print(out);
            return true;
        }
    }
    return false;
}
