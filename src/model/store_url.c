#include "model/store_url.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

/* Whatever stands between the name and the host; parameters could hold one too. */
char *store_url_shown(const char *url)
{
    const char *scheme = strstr(url, "://");
    if (scheme == NULL)
        return mem_strdup(url);
    const char *authority = scheme + 3;
    /* The last one: who forgets to encode a password must not see it here. */
    const char *at = strrchr(authority, '@');
    const char *colon = at != NULL ? memchr(authority, ':', (size_t)(at - authority)) : NULL;
    const char *secret = strstr(authority, "password=");
    bool is_in_front = colon != NULL && (secret == NULL || colon < secret);
    if (is_in_front)
        secret = strstr(at, "password=");
    const char *end = secret != NULL ? secret : url + strlen(url);
    const char *dots = secret != NULL ? "..." : "";
    if (!is_in_front)
        return mem_format("%.*s%s", (int)(end - url), url, dots);
    return mem_format("%.*s:...%.*s%s", (int)(colon - url), url, (int)(end - at), at, dots);
}
