#include "model/metric.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"

const struct metric_row METRICS[METRIC_COUNT] = {
#define X(name, text, type, labels, unit, buckets, source, help)                                   \
    [METRIC_##name] = {text,   METRIC_##type, LABELS_##labels, UNIT_##unit, BUCKETS_##buckets,     \
                       source, help},
    METRIC_MAP(X)
#undef X
};

static const struct {
    const char *text;
    enum metric_family family;
} LABEL_SETS[] = {
#define X(name, text, family) [LABELS_##name] = {text, METRIC_FAMILY_##family},
    METRIC_LABELS_MAP(X)
#undef X
};

static const struct {
    const char *text;
    double scale;
} UNITS[] = {
#define X(name, text, scale) [UNIT_##name] = {text, scale},
    METRIC_UNIT_MAP(X)
#undef X
};

#define MS  ((int64_t)1000)
#define SEC ((int64_t)1000000)
static const int64_t WORK_BOUNDS[] = {
    100 * MS,  500 * MS,  SEC,        5 * SEC,    10 * SEC,    30 * SEC,    60 * SEC,
    300 * SEC, 600 * SEC, 1800 * SEC, 3600 * SEC, 14400 * SEC, 86400 * SEC,
};
static const int64_t QUICK_BOUNDS[] = {
    MS / 2,   MS,      5 * MS / 2,  5 * MS,  10 * MS,  25 * MS,  50 * MS,  100 * MS,  250 * MS,
    500 * MS, 1 * SEC, 5 * SEC / 2, 5 * SEC, 10 * SEC, 30 * SEC, 60 * SEC, 300 * SEC,
};
static const int64_t SIZE_BOUNDS[] = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000};
_Static_assert(ARRAY_LEN(WORK_BOUNDS) < METRIC_BUCKETS_MAX, "room for the last bucket");
_Static_assert(ARRAY_LEN(QUICK_BOUNDS) < METRIC_BUCKETS_MAX, "room for the last bucket");
_Static_assert(ARRAY_LEN(SIZE_BOUNDS) < METRIC_BUCKETS_MAX, "room for the last bucket");

const char *metric_type_name(enum metric_type type)
{
    static const char *const NAMES[] = {
        [METRIC_COUNTER] = "counter", [METRIC_GAUGE] = "gauge", [METRIC_HISTOGRAM] = "histogram"};
    CHECK(type < ARRAY_LEN(NAMES));
    return NAMES[type];
}

const char *metric_label_names(enum metric metric)
{
    CHECK(metric < METRIC_COUNT);
    return LABEL_SETS[METRICS[metric].labels].text;
}

const char *metric_unit_name(enum metric_unit unit)
{
    CHECK(unit < UNIT_COUNT);
    return UNITS[unit].text;
}

double metric_scale(enum metric metric)
{
    CHECK(metric < METRIC_COUNT);
    return UNITS[METRICS[metric].unit].scale;
}

enum metric_family metric_family_of(enum metric metric)
{
    CHECK(metric < METRIC_COUNT);
    return LABEL_SETS[METRICS[metric].labels].family;
}

bool metric_has_state(enum metric metric)
{
    enum metric_labels labels = METRICS[metric].labels;
    return labels == LABELS_DAG_STATE || labels == LABELS_TASK_STATE ||
           labels == LABELS_QUEUE_STATE;
}

const int64_t *metric_bounds(enum metric metric, size_t *out_count)
{
    static const struct {
        const int64_t *items;
        size_t count;
    } BOUNDS[BUCKETS_COUNT] = {
        [BUCKETS_NONE] = {NULL, 0},
        [BUCKETS_WORK] = {WORK_BOUNDS, ARRAY_LEN(WORK_BOUNDS)},
        [BUCKETS_QUICK] = {QUICK_BOUNDS, ARRAY_LEN(QUICK_BOUNDS)},
        [BUCKETS_SIZE] = {SIZE_BOUNDS, ARRAY_LEN(SIZE_BOUNDS)},
    };
    enum metric_buckets buckets = METRICS[metric].buckets;
    *out_count = BOUNDS[buckets].count;
    return BOUNDS[buckets].items;
}

/* --- samples --------------------------------------------------------------------------------- */

struct metric_sample *metric_samples_push(struct metric_samples *samples, enum metric metric)
{
    if (samples->count == samples->capacity) {
        size_t capacity = MAX(samples->capacity * 2, (size_t)64);
        struct metric_sample *items = arena_array(samples->arena, capacity, sizeof *items);
        if (samples->count > 0)
            memcpy(items, samples->items, samples->count * sizeof *items);
        samples->items = items;
        samples->capacity = capacity;
    }
    struct metric_sample *sample = &samples->items[samples->count++];
    *sample = (struct metric_sample){.metric = metric};
    return sample;
}

void metric_samples_add(struct metric_samples *samples, enum metric metric, double value,
                        const char *first, const char *second)
{
    struct metric_sample *sample = metric_samples_push(samples, metric);
    sample->value = value;
    sample->labels[0] = arena_strdup_null(samples->arena, first);
    sample->labels[1] = arena_strdup_null(samples->arena, second);
}

/* --- text ------------------------------------------------------------------------------------ */

static void add_value(struct strbuf *out, double value)
{
    bool is_whole = fabs(value) < 1e15 && floor(value) == value;
    if (is_whole)
        strbuf_addf(out, " %lld\n", (long long)value);
    else
        strbuf_addf(out, " %.9g\n", value);
}

static void add_quoted(struct strbuf *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '\n')
            strbuf_add(out, "\\n");
        else if (*text == '"' || *text == '\\')
            strbuf_addf(out, "\\%c", *text);
        else
            strbuf_add_char(out, *text);
    }
}

/* {a="x",b="y"}, and `le` as the last where there is one. */
static void add_labels(struct strbuf *out, const struct metric_sample *sample, const char *bound)
{
    const char *names = metric_label_names(sample->metric);
    char separator = '{';
    for (size_t i = 0; *names != '\0' && i < METRIC_LABELS_MAX; i++) {
        size_t length = strcspn(names, " ");
        strbuf_add_char(out, separator);
        strbuf_add_bytes(out, names, length);
        strbuf_add(out, "=\"");
        add_quoted(out, sample->labels[i] != NULL ? sample->labels[i] : "");
        strbuf_add_char(out, '"');
        separator = ',';
        names += length + (names[length] == ' ');
    }
    if (bound != NULL)
        strbuf_addf(out, "%cle=\"%s\"", separator, bound);
    if (bound != NULL || separator == ',')
        strbuf_add_char(out, '}');
}

static void add_histogram(struct strbuf *out, const struct metric_sample *sample)
{
    const struct metric_row *row = &METRICS[sample->metric];
    size_t count = 0;
    int64_t below = 0;
    const int64_t *bounds = metric_bounds(sample->metric, &count);
    for (size_t i = 0; i <= count; i++) {
        char bound[32] = "+Inf";
        below += sample->buckets[i];
        if (i < count)
            (void)snprintf(bound, sizeof bound, "%.9g",
                           (double)bounds[i] / metric_scale(sample->metric));
        strbuf_addf(out, "%s_bucket", row->name);
        add_labels(out, sample, bound);
        strbuf_addf(out, " %lld\n", (long long)below);
    }
    strbuf_addf(out, "%s_sum", row->name);
    add_labels(out, sample, NULL);
    add_value(out, sample->value);
    strbuf_addf(out, "%s_count", row->name);
    add_labels(out, sample, NULL);
    strbuf_addf(out, " %lld\n", (long long)below);
}

static void add_sample(struct strbuf *out, const struct metric_sample *sample)
{
    const struct metric_row *row = &METRICS[sample->metric];
    if (row->type == METRIC_HISTOGRAM) {
        add_histogram(out, sample);
        return;
    }
    strbuf_add(out, row->name);
    add_labels(out, sample, NULL);
    add_value(out, sample->value);
}

void metric_text(const struct metric_samples *samples, struct strbuf *out)
{
    for (size_t metric = 0; metric < METRIC_COUNT; metric++) {
        const struct metric_row *row = &METRICS[metric];
        strbuf_addf(out, "# HELP %s %s\n# TYPE %s %s\n", row->name, row->help, row->name,
                    metric_type_name(row->type));
        for (size_t i = 0; i < samples->count; i++)
            if (samples->items[i].metric == metric)
                add_sample(out, &samples->items[i]);
    }
}
