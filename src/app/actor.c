#include "app/actor.h"

#include <pthread.h>
#include <pwd.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

enum { NAME_MAX_BYTES = 256, ENTRY_BYTES = 4096 };

/* Looked up once, as workers of the server ask at the same time. */
static pthread_once_t is_known = PTHREAD_ONCE_INIT;
static char name[NAME_MAX_BYTES];

static void look_up(void)
{
    char entry[ENTRY_BYTES];
    struct passwd user;
    struct passwd *found = NULL;
    (void)getpwuid_r(getuid(), &user, entry, sizeof entry, &found);
    (void)snprintf(name, sizeof name, "%s", found != NULL ? found->pw_name : "unknown");
}

const char *actor_name(void)
{
    (void)pthread_once(&is_known, look_up);
    return name;
}
