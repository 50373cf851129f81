#include "base/sabotage.h"

#ifdef EIDER_SABOTAGE
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PAUSE_SECONDS = 2 };

static const char *chosen;

/* Before main, so that no thread reads it while it is set. */
__attribute__((constructor)) static void choose(void)
{
    chosen = getenv("EIDER_SABOTAGE");
}

bool sabotage_is(const char *name)
{
    return chosen != NULL && strcmp(chosen, name) == 0;
}

void sabotage_pause(const char *name)
{
    if (sabotage_is(name))
        (void)nanosleep(&(struct timespec){.tv_sec = PAUSE_SECONDS}, NULL);
}
#else
typedef int sabotage_is_left_out; /* a file may not be empty */
#endif
