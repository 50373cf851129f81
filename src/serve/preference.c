#include "serve/preference.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

static const char BLANKS[] = " \t";

/* "q=0", "q=0.000": nothing but zeros. */
static enum preference weigh(const char *parameters, size_t length)
{
    const char *end = parameters + length;
    for (const char *at = parameters; at < end; at++) {
        at += strspn(at, "; \t");
        size_t size = strcspn(at, ";,");
        if (size > 2 && (at[0] == 'q' || at[0] == 'Q') && at[1] == '=') {
            size_t zeros = strspn(at + 2, "0.");
            return zeros > 0 && zeros + strspn(at + 2 + zeros, BLANKS) == size - 2
                       ? PREFERENCE_REFUSED
                       : PREFERENCE_TAKEN;
        }
        at += size;
    }
    return PREFERENCE_TAKEN;
}

enum preference preference_of(const char *list, const char *name)
{
    size_t name_length = strlen(name);
    for (const char *at = list; at != NULL && *at != '\0';) {
        at += strspn(at, ", \t");
        size_t length = strcspn(at, ",");
        size_t named = strcspn(at, ";, \t");
        if (named == name_length && strncasecmp(at, name, named) == 0)
            return weigh(at + named, length - named);
        at += length;
    }
    return PREFERENCE_NONE;
}
