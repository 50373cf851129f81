#include "blob/log_pattern.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

enum { REPEATS_MAX = 255, WEIGHT_MAX = 5000, DEPTH_MAX = 32 };

/* What a pattern is once it is written out, so far. */
struct weighing {
    const char *at;
    int64_t sums[DEPTH_MAX]; /* of each open group, the outermost first */
    size_t depth;
    int64_t last; /* of the piece that a repetition would repeat, which is not in the sum yet */
};

static enum status too_much(struct err *err)
{
    return err_set(err, STATUS_LIMIT,
                   "the pattern is too much once its repetitions are written out: nest fewer");
}

/* `weight` 0: nothing that could be repeated. */
static void next_piece(struct weighing *weighing, int64_t weight)
{
    weighing->sums[weighing->depth] += weighing->last;
    weighing->last = weight;
}

/* Behind "[...]", in which "]" may come first, and classes have brackets of their own. */
static const char *after_set(const char *at)
{
    at += at[1] == '^' ? 2 : 1;
    if (*at == ']')
        at++;
    while (*at != '\0' && *at != ']') {
        char kind = at[0] == '[' ? at[1] : '\0';
        if (kind == ':' || kind == '.' || kind == '=') {
            const char closing[] = {kind, ']', '\0'};
            const char *end = strstr(at + 2, closing);
            if (end == NULL)
                return at + strlen(at);
            at = end + 1;
        }
        at++;
    }
    return *at == ']' ? at + 1 : at;
}

/* "{9}", "{1,9}", "{9,}": as often as the greatest number, and once more for what has no end. */
static enum status repeat_counted(struct weighing *weighing, struct err *err)
{
    int64_t most = 1;
    int64_t number = 0;
    for (weighing->at++; isdigit((unsigned char)*weighing->at) || *weighing->at == ',';
         weighing->at++) {
        number = *weighing->at == ',' ? 0 : number * 10 + (*weighing->at - '0');
        most = number > most ? number : most;
        if (number > REPEATS_MAX)
            return err_set(err, STATUS_LIMIT, "the pattern repeats more than %d times",
                           REPEATS_MAX);
    }
    weighing->last *= most + 1;
    return STATUS_OK;
}

static enum status open_group(struct weighing *weighing, struct err *err)
{
    next_piece(weighing, 0);
    if (++weighing->depth == DEPTH_MAX)
        return err_set(err, STATUS_LIMIT, "the pattern has groups more than %d deep",
                       DEPTH_MAX - 1);
    weighing->sums[weighing->depth] = 0;
    weighing->at++;
    return STATUS_OK;
}

/* One that was not opened is for the compiler to judge. */
static void close_group(struct weighing *weighing)
{
    next_piece(weighing, 0);
    if (weighing->depth > 0) {
        weighing->last = weighing->sums[weighing->depth] + 1;
        weighing->depth--;
    }
    weighing->at++;
}

static enum status escaped(struct weighing *weighing, struct err *err)
{
    char next = weighing->at[1];
    if (next >= '1' && next <= '9')
        return err_set(err, STATUS_LIMIT, "the pattern refers back with \\%c, which takes too long",
                       next);
    next_piece(weighing, 1);
    weighing->at += next != '\0' ? 2 : 1;
    return STATUS_OK;
}

static enum status weigh_one(struct weighing *weighing, struct err *err)
{
    switch (*weighing->at) {
    case '\\':
        return escaped(weighing, err);
    case '(':
        return open_group(weighing, err);
    case '{':
        return repeat_counted(weighing, err);
    case ')':
        close_group(weighing);
        return STATUS_OK;
    case '[':
        next_piece(weighing, 1);
        weighing->at = after_set(weighing->at);
        return STATUS_OK;
    case '+':
        weighing->last *= 2;
        break;
    case '*':
    case '?':
        weighing->last += 1;
        break;
    default:
        next_piece(weighing, 1);
        break;
    }
    weighing->at++;
    return STATUS_OK;
}

enum status log_pattern_check(const char *pattern, struct err *err)
{
    struct weighing weighing = {.at = pattern};
    if (strlen(pattern) > LOG_PATTERN_MAX)
        return err_set(err, STATUS_LIMIT, "the pattern is longer than %d bytes", LOG_PATTERN_MAX);
    while (*weighing.at != '\0') {
        if (weigh_one(&weighing, err) != STATUS_OK)
            return err->code;
        if (weighing.last > WEIGHT_MAX || weighing.sums[weighing.depth] > WEIGHT_MAX)
            return too_much(err);
    }
    return STATUS_OK;
}
