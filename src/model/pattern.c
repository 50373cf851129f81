#include "model/pattern.h"

#include <string.h>

#include "model/limits.h"

/*
 * The size of the compiled form: a repeat copies what it repeats, `{m,n}` n times and the others
 * about twice, and repeats around repeats multiply.
 */
struct weight {
    long open[PATTERN_DEPTH_MAX + 1]; /* of each group that is open, outermost first */
    size_t depth;
    long last;     /* of the last thing, which a repeat would multiply; 0: nothing there */
    bool repeated; /* it was repeated already */
};

static void weigh_thing(struct weight *weight, long size)
{
    weight->open[weight->depth] += weight->last;
    weight->last = size;
    weight->repeated = false;
}

static enum status weigh_repeat(struct weight *weight, long times, struct err *err)
{
    if (weight->repeated)
        return err_set(err, STATUS_INVALID, "pattern: a repeat directly after a repeat");
    weight->last *= times;
    weight->repeated = true;
    if (weight->last > PATTERN_WEIGHT_MAX)
        return err_set(err, STATUS_LIMIT, "pattern: its repeats multiply to more than %d",
                       PATTERN_WEIGHT_MAX);
    return STATUS_OK;
}

static enum status weigh_open(struct weight *weight, struct err *err)
{
    weigh_thing(weight, 0);
    if (weight->depth == PATTERN_DEPTH_MAX)
        return err_set(err, STATUS_LIMIT, "pattern: more than %d groups in each other",
                       PATTERN_DEPTH_MAX);
    weight->open[++weight->depth] = 0;
    return STATUS_OK;
}

static void weigh_close(struct weight *weight)
{
    weigh_thing(weight, 0);
    if (weight->depth == 0)
        return; /* regcomp takes a lone ')' literally or refuses it */
    weight->last = weight->open[weight->depth--] + 1;
}

/* The largest number between the braces at `p`, and where they end. */
static long repeat_times(const char *p, const char **out_end)
{
    long most = 0;
    long number = 0;
    for (p++; *p != '\0' && *p != '}'; p++) {
        if (*p >= '0' && *p <= '9')
            number = MIN(number * 10 + (*p - '0'), 100000L);
        else
            number = 0;
        most = MAX(most, number);
    }
    *out_end = *p == '}' ? p : p - 1;
    return most + 1;
}

/* The last character of the bracket expression that begins at `p`. */
static const char *bracket_end(const char *p)
{
    p++;
    if (*p == '^')
        p++;
    if (*p == ']')
        p++;
    while (*p != '\0' && *p != ']') {
        if (p[0] == '[' && (p[1] == ':' || p[1] == '.' || p[1] == '=')) {
            const char close[] = {p[1], ']', '\0'};
            const char *end = strstr(p + 2, close);
            p = end != NULL ? end + 1 : p;
        }
        p++;
    }
    return *p == ']' ? p : p - 1;
}

/* Weigh what stands at *cursor and leave the cursor at its last character. */
static enum status weigh_next(struct weight *weight, const char **cursor, struct err *err)
{
    const char *p = *cursor;
    switch (*p) {
    case '(':
        return weigh_open(weight, err);
    case ')':
        weigh_close(weight);
        return STATUS_OK;
    case '*':
    case '+':
    case '?':
        return weigh_repeat(weight, 2, err);
    case '{':
        return weigh_repeat(weight, repeat_times(p, cursor), err);
    case '[':
        *cursor = bracket_end(p);
        break;
    case '\\':
        if (p[1] >= '1' && p[1] <= '9')
            return err_set(err, STATUS_INVALID, "pattern: back-references are not supported");
        *cursor = p + (p[1] != '\0');
        break;
    default:
        break;
    }
    weigh_thing(weight, 1);
    return STATUS_OK;
}

static enum status check_cost(const char *text, struct err *err)
{
    struct weight weight = {0};
    for (const char *p = text; *p != '\0'; p++)
        if (weigh_next(&weight, &p, err) != STATUS_OK)
            return err->code;
    while (weight.depth > 0)
        weigh_close(&weight);
    weigh_thing(&weight, 0);
    if (weight.open[0] > PATTERN_WEIGHT_MAX)
        return err_set(err, STATUS_LIMIT, "pattern: its repeats add up to more than %d",
                       PATTERN_WEIGHT_MAX);
    return STATUS_OK;
}

enum status pattern_init(struct pattern *pattern, const char *text, struct err *err)
{
    if (strlen(text) > PATTERN_BYTES_MAX)
        return err_set(err, STATUS_LIMIT, "pattern: longer than %d bytes", PATTERN_BYTES_MAX);
    if (check_cost(text, err) != STATUS_OK)
        return err->code;
    int failed = regcomp(&pattern->regex, text, REG_EXTENDED);
    if (failed != 0) {
        char why[128];
        (void)regerror(failed, &pattern->regex, why, sizeof why);
        return err_set(err, STATUS_INVALID, "pattern '%.100s': %s", text, why);
    }
    pattern->ready = true;
    return STATUS_OK;
}

void pattern_fini(struct pattern *pattern)
{
    if (pattern->ready)
        regfree(&pattern->regex);
    pattern->ready = false;
}

enum status pattern_find(const struct pattern *pattern, const char *subject, regmatch_t *groups,
                         size_t count, bool *out_found, struct err *err)
{
    if (strlen(subject) > LIMIT_VALUE_INLINE_BYTES)
        return err_set(err, STATUS_LIMIT, "pattern: the text is longer than %d bytes",
                       LIMIT_VALUE_INLINE_BYTES);
    int result = regexec(&pattern->regex, subject, count, groups, 0);
    if (result != 0 && result != REG_NOMATCH)
        return err_set(err, STATUS_LIMIT, "pattern: matching took too much memory");
    *out_found = result == 0;
    return STATUS_OK;
}
