#include "model/pattern.h"

#include <string.h>

#include "model/limits.h"

/*
 * How often the compiled form may copy the parts of a pattern: `{m,n}` copies n times and `+`
 * twice, multiplied over nested groups. Multiplying over all groups, nested or not, errs on the
 * safe side.
 */
struct weight {
    long groups;
    long atoms;
};

static void weigh_repeat(struct weight *weight, bool group, long times)
{
    if (times <= 1)
        return;
    if (!group)
        weight->atoms = MAX(weight->atoms, times);
    else if (weight->groups <= PATTERN_WEIGHT_MAX)
        weight->groups *= MIN(times, (long)PATTERN_WEIGHT_MAX + 1);
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

static enum status check_cost(const char *text, struct err *err)
{
    struct weight weight = {.groups = 1, .atoms = 1};
    bool group = false; /* the thing to repeat is a group */
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '\\') {
            if (p[1] >= '1' && p[1] <= '9')
                return err_set(err, STATUS_INVALID, "pattern: back-references are not supported");
            p += p[1] != '\0';
            group = false;
        } else if (*p == '[') {
            p = bracket_end(p);
            group = false;
        } else if (*p == '+') {
            weigh_repeat(&weight, group, 2);
            group = true; /* a repeat of a repeat multiplies */
        } else if (*p == '{') {
            weigh_repeat(&weight, group, repeat_times(p, &p));
            group = true;
        } else if (*p != '*' && *p != '?') {
            group = *p == ')';
        }
    }
    if (weight.groups * weight.atoms > PATTERN_WEIGHT_MAX)
        return err_set(err, STATUS_LIMIT, "pattern: its repeats multiply to more than %d",
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
