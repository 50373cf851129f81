/*
 * replay_main: feeds every file of the folders named on the command line to a fuzz target.
 *
 * Fails when a folder cannot be read or is empty, so that a lost corpus is noticed.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fuzz.h"

enum { INPUT_BYTES_MAX = 4 << 20 };

static bool replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        return false;
    }
    CLEANUP(mem_freep) uint8_t *buffer = mem_alloc(INPUT_BYTES_MAX);
    size_t size = fread(buffer, 1, INPUT_BYTES_MAX, file);
    (void)fclose(file);
    /* An exact copy on the heap: reading past its end is then seen. */
    CLEANUP(mem_freep) uint8_t *data = mem_alloc(size > 0 ? size : 1);
    memcpy(data, buffer, size);
    (void)LLVMFuzzerTestOneInput(data, size);
    return true;
}

static int replay_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    if (dir == NULL) {
        perror(folder);
        return -1;
    }
    int count = 0;
    const struct dirent *entry = NULL;
    while (count >= 0 && (entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        CLEANUP(mem_freep) char *path = mem_format("%s/%s", folder, entry->d_name);
        count = replay_file(path) ? count + 1 : -1;
    }
    (void)closedir(dir);
    return count;
}

int main(int argc, char **argv)
{
    int total = 0;
    for (int i = 1; i < argc; i++) {
        int count = replay_folder(argv[i]);
        if (count < 0)
            return EXIT_FAILURE;
        total += count;
    }
    (void)printf("%d inputs\n", total);
    return total > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
