#pragma once
/*
 * preference: what a client says of one thing in `Accept`, `Accept-Encoding` and the like.
 */

enum preference {
    PREFERENCE_NONE,    /* not named */
    PREFERENCE_REFUSED, /* named with the weight 0 */
    PREFERENCE_TAKEN,
};

/* `list` NULL: the header was not sent. Names have no case; patterns are names like others. */
enum preference preference_of(const char *list, const char *name);
