#include "cli/command.h"

#include <string.h>

#include "base/check.h"

static const char *const TITLES[] = {
#define X(name, title) [GROUP_##name] = (title),
    COMMAND_GROUP_MAP(X)
#undef X
};

const char *command_group_title(enum command_group group)
{
    CHECK(group < GROUP_COUNT);
    return TITLES[group];
}

size_t command_count(const struct command_table *table)
{
    size_t count = 0;
    for (; table != NULL; table = table->more)
        count += table->count;
    return count;
}

const struct command *command_at(const struct command_table *table, size_t i)
{
    for (; i >= table->count; table = table->more)
        i -= table->count;
    return &table->rows[i];
}

const struct command *command_find(const struct command_table *table, const char *path)
{
    for (size_t i = 0; i < command_count(table); i++)
        if (strcmp(command_at(table, i)->path, path) == 0)
            return command_at(table, i);
    return NULL;
}

bool command_is_noun(const struct command_table *table, const char *word)
{
    size_t length = strlen(word);
    for (size_t i = 0; i < command_count(table); i++) {
        const char *path = command_at(table, i)->path;
        if (strncmp(path, word, length) == 0 && path[length] == ' ')
            return true;
    }
    return false;
}

static bool has_own(const struct command *command, const char *name)
{
    for (size_t i = 0; command != NULL && i < command->options.count; i++)
        if (strcmp(command->options.rows[i].name, name) == 0)
            return true;
    return false;
}

const struct command_option *command_option_at(const struct command *command, size_t i)
{
    if (command != NULL) {
        if (i < command->options.count)
            return &command->options.rows[i];
        i -= command->options.count;
        if (command->flags & COMMAND_WATCH) {
            if (i == 0)
                return &WATCH_OPTION;
            i--;
        }
    }
    for (size_t k = 0; k < GLOBAL_OPTIONS.count; k++)
        if (!has_own(command, GLOBAL_OPTIONS.rows[k].name) && i-- == 0)
            return &GLOBAL_OPTIONS.rows[k];
    return NULL;
}

const struct command_option *command_find_option(const struct command *command, const char *name)
{
    const struct command_option *option;
    for (size_t i = 0; (option = command_option_at(command, i)) != NULL; i++)
        if (strcmp(option->name, name) == 0)
            return option;
    return NULL;
}

const struct command_option *command_find_letter(const struct command *command, char letter)
{
    const struct command_option *option;
    for (size_t i = 0; (option = command_option_at(command, i)) != NULL; i++)
        if (option->letter != 0 && option->letter == letter)
            return option;
    return NULL;
}
