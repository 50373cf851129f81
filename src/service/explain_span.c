#include "service/explain_span.h"

#include "base/attrs.h"

void explain_add_span(struct strbuf *out, int64_t span_us)
{
    int64_t seconds = MAX(span_us, (int64_t)0) / 1000000;
    if (seconds < 120)
        strbuf_addf(out, "%lld s", (long long)seconds);
    else if (seconds < 7200)
        strbuf_addf(out, "%lld min", (long long)seconds / 60);
    else if (seconds < 172800)
        strbuf_addf(out, "%lld h", (long long)seconds / 3600);
    else
        strbuf_addf(out, "%lld days", (long long)seconds / 86400);
}

void explain_add_count(struct strbuf *out, int64_t count, const char *one, const char *several)
{
    strbuf_addf(out, "%lld %s", (long long)count, count == 1 ? one : several);
}
