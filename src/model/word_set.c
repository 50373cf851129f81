#include "model/word_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const char SEPARATORS[] = ", \t\n";

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

char *word_set_parse(const char *text)
{
    CLEANUP(mem_freep) char *copy = mem_strdup(text);
    size_t length = strlen(text);
    CLEANUP(mem_freep) char **words = mem_zalloc(length / 2 + 1, sizeof(char *));
    size_t count = 0;
    char *rest = NULL;
    for (char *word = strtok_r(copy, SEPARATORS, &rest); word != NULL;
         word = strtok_r(NULL, SEPARATORS, &rest))
        words[count++] = word;
    if (count > 0)
        qsort(words, count, sizeof(char *), by_text); /* NOLINT(bugprone-sizeof-expression) */
    char *set = mem_zalloc(length + 1, 1);
    char *end = set;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && strcmp(words[i], words[i - 1]) == 0)
            continue;
        if (end != set)
            *end++ = ' ';
        end = stpcpy(end, words[i]);
    }
    return set;
}

static bool has(const char *set, const char *word, size_t length)
{
    for (const char *at = set; *at != '\0';) {
        size_t size = strcspn(at, " ");
        if (size == length && strncmp(at, word, size) == 0)
            return true;
        at += size + (at[size] == ' ');
    }
    return false;
}

bool word_set_has(const char *set, const char *word)
{
    return has(set, word, strlen(word));
}

bool word_set_is_part(const char *set, const char *of)
{
    for (const char *at = set; *at != '\0';) {
        size_t size = strcspn(at, " ");
        if (!has(of, at, size))
            return false;
        at += size + (at[size] == ' ');
    }
    return true;
}
