#include "app/actor.h"

#include <pwd.h>
#include <stddef.h>
#include <unistd.h>

const char *actor_name(void)
{
    const struct passwd *user = getpwuid(getuid());
    return user != NULL ? user->pw_name : "unknown";
}
