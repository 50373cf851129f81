#include "cli/parsed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"

enum { PATH_MAX_BYTES = 128 };

/* Walks over argv: words one by one, options as pairs. */
struct walk {
    int argc;
    const char *const *argv;
    int at;
    const char *cluster; /* rest of a group of short options, or NULL */
    bool only_words;     /* after -- */
};

struct item {
    const char *word;                    /* a word, or NULL */
    const struct command_option *option; /* an option, or NULL */
    const char *value;
};

static const char *option_name_at(const void *command, size_t i)
{
    return command_option_at(command, i)->name;
}

static enum status unknown_option(const struct command *command, const char *name, struct err *err)
{
    size_t count = 0;
    while (command_option_at(command, count) != NULL)
        count++;
    const char *near = str_nearest(name, count, option_name_at, command);
    const char *path = command != NULL ? command->path : "eider";
    if (near != NULL)
        return err_set(err, STATUS_INVALID,
                       "unknown option '--%.60s' of '%s', did you mean '--%s'?", name, path, near);
    return err_set(err, STATUS_INVALID, "unknown option '--%.60s' of '%s'", name, path);
}

static bool is_choice(const char *choices, const char *value)
{
    size_t length = strlen(value);
    for (const char *at = choices; *at != '\0';) {
        size_t word = strcspn(at, " ");
        if (word == length && strncmp(at, value, length) == 0)
            return true;
        at += word + strspn(at + word, " ");
    }
    return false;
}

static enum status check_choice(const struct item *item, struct err *err)
{
    const struct command_option *option = item->option;
    if (option->choices == NULL || item->value == NULL || is_choice(option->choices, item->value))
        return STATUS_OK;
    return err_set(err, STATUS_INVALID, "--%s: '%.60s' is none of: %s", option->name, item->value,
                   option->choices);
}

static enum status take_value(struct walk *walk, struct item *item, struct err *err)
{
    if (walk->at >= walk->argc)
        return err_set(err, STATUS_INVALID, "option '--%s' needs a value: %s", item->option->name,
                       item->option->argument);
    item->value = walk->argv[walk->at++];
    return check_choice(item, err);
}

static enum status next_long(struct walk *walk, const struct command *command, const char *text,
                             struct item *out, struct err *err)
{
    const char *equals = strchr(text, '=');
    size_t length = equals != NULL ? (size_t)(equals - text) : strlen(text);
    CLEANUP(mem_freep) char *name = mem_strndup(text, length);
    struct item item = {.option = command_find_option(command, name)};
    if (item.option == NULL)
        return unknown_option(command, name, err);
    if (item.option->argument == NULL && equals != NULL)
        return err_set(err, STATUS_INVALID, "option '--%s' takes no value", item.option->name);
    if (equals != NULL) {
        item.value = equals + 1;
        if (check_choice(&item, err) != STATUS_OK)
            return err->code;
    } else if (item.option->argument != NULL && take_value(walk, &item, err) != STATUS_OK) {
        return err->code;
    }
    *out = item;
    return STATUS_OK;
}

static enum status next_short(struct walk *walk, const struct command *command, struct item *out,
                              struct err *err)
{
    char letter = *walk->cluster++;
    struct item item = {.option = command_find_letter(command, letter)};
    if (item.option == NULL)
        return err_set(err, STATUS_INVALID, "unknown option '-%c' of '%s'", letter,
                       command != NULL ? command->path : "eider");
    if (item.option->argument != NULL) {
        item.value = walk->cluster[0] == '=' ? walk->cluster + 1 : walk->cluster;
        bool joined = walk->cluster[0] != '\0';
        walk->cluster = NULL;
        enum status status = joined ? check_choice(&item, err) : take_value(walk, &item, err);
        if (status != STATUS_OK)
            return status;
    }
    if (walk->cluster != NULL && walk->cluster[0] == '\0')
        walk->cluster = NULL;
    *out = item;
    return STATUS_OK;
}

/* The next word or option; an item with neither at the end. */
static enum status walk_next(struct walk *walk, const struct command *command, struct item *out,
                             struct err *err)
{
    *out = (struct item){0};
    if (walk->cluster != NULL)
        return next_short(walk, command, out, err);
    if (walk->at >= walk->argc)
        return STATUS_OK;
    const char *text = walk->argv[walk->at++];
    if (walk->only_words || text[0] != '-' || text[1] == '\0') {
        out->word = text;
        return STATUS_OK;
    }
    if (strcmp(text, "--") == 0) {
        walk->only_words = true;
        if (walk->at < walk->argc)
            out->word = walk->argv[walk->at++];
        return STATUS_OK;
    }
    if (text[1] == '-')
        return next_long(walk, command, text + 2, out, err);
    walk->cluster = text + 1;
    return next_short(walk, command, out, err);
}

/* Candidates for a suggestion: every visible path and every noun. */
struct names {
    const char **items;
    size_t count;
};

static const char *name_at(const void *context, size_t i)
{
    return ((const struct names *)context)->items[i];
}

static enum status unknown_command(const struct command_table *table, const char *first,
                                   const char *second, struct err *err)
{
    char typed[PATH_MAX_BYTES];
    bool noun = command_is_noun(table, first);
    int length = noun && second != NULL
                     ? snprintf(typed, sizeof typed, "%.60s %.60s", first, second)
                     : snprintf(typed, sizeof typed, "%.60s", first);
    CHECK(length > 0 || first[0] == '\0');
    CLEANUP(mem_freep) const char **items = mem_zalloc(command_count(table) * 2 + 1, sizeof *items);
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct names names = {.items = items};
    for (size_t i = 0; i < command_count(table); i++) {
        const char *path = command_at(table, i)->path;
        if (command_at(table, i)->flags & COMMAND_HIDDEN)
            continue;
        items[names.count++] = path;
        if (strchr(path, ' ') != NULL)
            items[names.count++] = arena_strndup(arena, path, strcspn(path, " "));
    }
    const char *near = str_nearest(typed, names.count, name_at, &names);
    if (near != NULL)
        return err_set(err, STATUS_INVALID, "unknown command '%s', did you mean '%s'?", typed,
                       near);
    return err_set(err, STATUS_INVALID, "unknown command '%s'", typed);
}

/* The next word past any global options; NULL at the end. */
static enum status next_word(struct walk *walk, const char **out_word, struct err *err)
{
    struct item item = {0};
    do {
        if (walk_next(walk, NULL, &item, err) != STATUS_OK)
            return err->code;
    } while (item.option != NULL);
    *out_word = item.word;
    return STATUS_OK;
}

/*
 * Find the command by the first words. Only global options may stand before them, because
 * whether an option takes a value is known only with its command.
 */
static enum status find_command(const struct command_table *table, struct walk walk,
                                struct parsed *parsed, struct err *err)
{
    const char *first = NULL;
    const char *second = NULL;
    if (next_word(&walk, &first, err) != STATUS_OK)
        return err->code;
    if (first == NULL)
        return STATUS_OK;
    if (command_is_noun(table, first)) {
        char path[PATH_MAX_BYTES];
        if (next_word(&walk, &second, err) != STATUS_OK)
            return err->code;
        if (second == NULL) {
            parsed->noun = first;
            return STATUS_OK;
        }
        int length = snprintf(path, sizeof path, "%s %s", first, second);
        if (length > 0 && (size_t)length < sizeof path)
            parsed->command = command_find(table, path);
    } else {
        parsed->command = command_find(table, first);
    }
    if (parsed->command == NULL)
        return unknown_command(table, first, second, err);
    return STATUS_OK;
}

static enum status check_args(const struct parsed *parsed, struct err *err)
{
    const struct command *command = parsed->command;
    if (command == NULL || parsed_has(parsed, "help"))
        return STATUS_OK;
    if (parsed->args_count < command->args_min)
        return err_set(err, STATUS_INVALID, "%s: %s missing; usage: eider %s %s", command->path,
                       parsed->args_count + 1 == command->args_min ? "an argument is"
                                                                   : "arguments are",
                       command->path, command->args);
    if (parsed->args_count > command->args_max)
        return err_set(err, STATUS_INVALID,
                       "%s: '%.60s' is one argument too many; usage: eider %s%s%s", command->path,
                       parsed->args[command->args_max], command->path,
                       command->args[0] != '\0' ? " " : "", command->args);
    return STATUS_OK;
}

static enum status collect(struct walk *walk, struct parsed *parsed, struct err *err)
{
    size_t skip = 0; /* words that name the command */
    if (parsed->noun != NULL)
        skip = 1;
    else if (parsed->command != NULL)
        skip = strchr(parsed->command->path, ' ') != NULL ? 2 : 1;
    for (;;) {
        struct item item;
        if (walk_next(walk, parsed->command, &item, err) != STATUS_OK)
            return err->code;
        if (item.option != NULL)
            parsed->options[parsed->options_count++] =
                (struct parsed_option){item.option, item.value};
        else if (item.word == NULL)
            return STATUS_OK;
        else if (skip > 0)
            skip--;
        else
            parsed->args[parsed->args_count++] = item.word;
        if (!walk->only_words)
            parsed->plain_count = parsed->args_count;
    }
}

enum status parsed_read(const struct command_table *table, int argc, const char *const *argv,
                        struct parsed *out, struct err *err)
{
    struct parsed parsed = {0};
    struct walk walk = {.argc = argc, .argv = argv, .at = MIN(1, argc)};
    size_t letters = 0; /* a joined group may hold as many options as it has letters */
    for (int i = 1; i < argc; i++)
        letters += strlen(argv[i]) + 1;
    parsed.args = mem_zalloc((size_t)argc + 1, sizeof *parsed.args);
    parsed.options = mem_zalloc(letters + 1, sizeof *parsed.options);
    if (find_command(table, walk, &parsed, err) != STATUS_OK ||
        collect(&walk, &parsed, err) != STATUS_OK || check_args(&parsed, err) != STATUS_OK) {
        parsed_fini(&parsed);
        return err->code;
    }
    *out = parsed;
    return STATUS_OK;
}

void parsed_fini(struct parsed *parsed)
{
    free(parsed->args);
    free(parsed->options);
    *parsed = (struct parsed){0};
}

static const struct parsed_option *find_last(const struct parsed *parsed, const char *name)
{
    for (size_t i = parsed->options_count; i-- > 0;)
        if (strcmp(parsed->options[i].option->name, name) == 0)
            return &parsed->options[i];
    return NULL;
}

bool parsed_has(const struct parsed *parsed, const char *option)
{
    return find_last(parsed, option) != NULL;
}

const char *parsed_get(const struct parsed *parsed, const char *option, const char *otherwise)
{
    const struct parsed_option *found = find_last(parsed, option);
    return found != NULL ? found->value : otherwise;
}

const char *parsed_get_nth(const struct parsed *parsed, const char *option, size_t n)
{
    for (size_t i = 0; i < parsed->options_count; i++)
        if (strcmp(parsed->options[i].option->name, option) == 0 && n-- == 0)
            return parsed->options[i].value;
    return NULL;
}

enum status parsed_get_int(const struct parsed *parsed, const char *option,
                           const struct int_bounds *bounds, int64_t *out, struct err *err)
{
    const char *text = parsed_get(parsed, option, NULL);
    int64_t value = bounds->otherwise;
    if (text != NULL && !str_parse_i64(text, bounds->least, bounds->most, &value))
        return err_set(err, STATUS_INVALID, "--%s: '%.60s' is not a whole number from %lld to %lld",
                       option, text, (long long)bounds->least, (long long)bounds->most);
    *out = value;
    return STATUS_OK;
}
