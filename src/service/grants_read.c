#include "service/grants_read.h"

#include "base/strbuf.h"

enum status grants_read(struct arena *arena, const json_t *list, struct grants *out,
                        struct err *err)
{
    CLEANUP(strbuf_fini) struct strbuf words;
    strbuf_init(&words, 1 << 16);
    size_t i;
    json_t *word;
    json_array_foreach(list, i, word)
    {
        struct grant ignored;
        if (grant_parse(arena, json_string_value(word), &ignored, err) != STATUS_OK)
            return err->code;
        strbuf_addf(&words, "%s%s", i > 0 ? " " : "", json_string_value(word));
    }
    if (words.overflow)
        return err_set(err, STATUS_LIMIT, "nobody has more than %d grants", GRANTS_MAX);
    return grants_parse(arena, words.text, out, err);
}
