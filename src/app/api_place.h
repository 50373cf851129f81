#pragma once
/*
 * api_place: how programs of the same user find the API of a state folder's daemon and are let in.
 *
 * The daemon leaves its address and a key in the file `api` of its folder, which only its user may
 * read; the key is made anew at every start. Whoever can read it can open the store as well.
 */
#include "app/home.h"
#include "base/attrs.h"
#include "base/err.h"

struct api_place {
    char *url;
    char *key; /* goes where a token would */
};

/* A key, before anybody can ask. */
void api_place_init(struct api_place *place);
/* The address, for those who look. */
NODISCARD enum status api_place_leave(struct api_place *place, const struct home *home,
                                      const char *url, struct err *err);
/* Takes away what was left. */
void api_place_remove(const struct home *home);

/*
 * STATUS_UNREACHABLE: no daemon serves this folder. A daemon that was killed leaves its file; then
 * nobody answers there.
 */
NODISCARD enum status api_place_find(const struct home *home, struct api_place *out,
                                     struct err *err);
void api_place_fini(struct api_place *place); /* twice is fine */

/* Whether that is the key; takes as long for a wrong one. */
bool api_place_has_key(const struct api_place *place, const char *key);
