#include "os/privacy.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/check.h"
#include "os/secret_box.h"

void privacy_begin(void)
{
    CHECK(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0);
}

void privacy_forget_variable(const char *name)
{
    /* The bytes are those that the kernel shows in /proc/PID/environ. */
    char *value = getenv(name);
    if (value == NULL)
        return;
    secret_wipe(value, strlen(value));
    (void)unsetenv(name);
}
