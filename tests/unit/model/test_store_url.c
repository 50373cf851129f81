#include <stdlib.h>

#include "base/check.h"
#include "expect.h"
#include "model/store_url.h"

Test(store_url, is_shown_without_its_password)
{
    static const struct {
        const char *url, *shown;
    } CASES[] = {
        {"sqlite:/a:b@c.db", "sqlite:/a:b@c.db"},
        {"postgresql://host/db", "postgresql://host/db"},
        {"postgresql://me@host/db", "postgresql://me@host/db"},
        {"postgresql://me:secret@host:5432/db?x=y", "postgresql://me:...@host:5432/db?x=y"},
        {"postgresql://me:s/e?c@host/db?x=y", "postgresql://me:...@host/db?x=y"},
        {"postgresql://h/db?password=a&user=x@y", "postgresql://h/db?..."},
        {"postgresql://h/db?password=a:b@y", "postgresql://h/db?..."},
        {"postgresql://me:password=1@h/db", "postgresql://me:...@h/db"},
        {"postgresql://me:se@cret@host/db", "postgresql://me:...@host/db"},
        {"postgresql://host/db?user=me&password=secret", "postgresql://host/db?user=me&..."},
        {"postgresql://me:a@h/db?password=b&x=y", "postgresql://me:...@h/db?..."},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        char *shown = store_url_shown(CASES[i].url);
        EXPECT_STR(CASES[i].shown, shown);
        free(shown);
    }
}
