#include "base/sabotage.h"

#ifdef EIDER_SABOTAGE
#include <stdlib.h>
#include <string.h>

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
#else
typedef int sabotage_is_left_out; /* a file may not be empty */
#endif
