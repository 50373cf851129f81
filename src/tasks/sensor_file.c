#include "tasks/sensor_file.h"

#include <glob.h>
#include <string.h>
#include <sys/stat.h>

/* A link that leads nowhere is not the file. */
static bool exists(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0;
}

bool sensor_file_is_there(const char *path)
{
    glob_t found = {0};
    if (exists(path))
        return true;
    if (strpbrk(path, "*?[") == NULL)
        return false;
    bool is_there = glob(path, GLOB_NOSORT, NULL, &found) == 0;
    globfree(&found);
    return is_there;
}
