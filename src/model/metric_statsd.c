#include "model/metric_statsd.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/strmap.h"

enum { NAME_MAX_BYTES = 2048 };

/* What was sent of a series. */
struct sent {
    double value;
    int64_t buckets[METRIC_BUCKETS_MAX];
};

struct metric_statsd {
    char *prefix;
    struct strmap *series; /* name to its place in the list */
    struct sent *sent;
    size_t count;
    size_t capacity;
    struct arena *arena; /* of names */
};

struct metric_statsd *metric_statsd_new(const char *prefix)
{
    struct metric_statsd *statsd = mem_zalloc(1, sizeof *statsd);
    statsd->prefix = mem_strdup(prefix);
    statsd->series = strmap_new();
    statsd->arena = arena_new();
    return statsd;
}

void metric_statsd_free(struct metric_statsd *statsd)
{
    if (statsd == NULL)
        return;
    strmap_free(statsd->series);
    arena_free(statsd->arena);
    free(statsd->sent);
    free(statsd->prefix);
    free(statsd);
}

/* What would end a name, or a part of it. */
static void add_part(struct strbuf *out, const char *text)
{
    strbuf_add_char(out, '.');
    for (; *text != '\0'; text++)
        strbuf_add_char(out, strchr(".:|@#/\n ", *text) != NULL ? '_' : *text);
}

/* Without what every name begins with, and without what the kind of the line says. */
static void add_name(struct strbuf *out, const struct metric_sample *sample, const char *prefix)
{
    static const char *const ENDS[] = {"_total", "_seconds"};
    const char *name = METRICS[sample->metric].name + strlen("eider_");
    size_t length = strlen(name);
    for (size_t i = 0; i < ARRAY_LEN(ENDS); i++)
        if (str_ends_with(name, ENDS[i])) {
            length -= strlen(ENDS[i]);
            break;
        }
    if (prefix[0] != '\0')
        strbuf_addf(out, "%s.", prefix);
    strbuf_add_bytes(out, name, length);
    const char *labels = metric_label_names(sample->metric);
    for (size_t i = 0; labels[0] != '\0' && i < METRIC_LABELS_MAX; i++) {
        size_t word = strcspn(labels, " ");
        bool is_set = sample->labels[i] != NULL && sample->labels[i][0] != '\0';
        add_part(out, is_set ? sample->labels[i] : "none");
        labels += word + (labels[word] == ' ');
    }
}

struct writing {
    void (*line)(void *context, const char *text);
    void *context;
    struct strbuf *name;
};

static void write_line(const struct writing *to, double value, const char *kind)
{
    size_t length = to->name->length;
    strbuf_addf(to->name, ":%.9g|%s", value, kind);
    if (!to->name->overflow)
        to->line(to->context, to->name->text);
    strbuf_truncate(to->name, length);
}

static void write_histogram(const struct writing *to, const struct metric_sample *sample,
                            struct sent *sent)
{
    size_t count = 0;
    const int64_t *bounds = metric_bounds(sample->metric, &count);
    bool is_time = METRICS[sample->metric].unit == UNIT_SECONDS;
    for (size_t i = 0; i <= count; i++) {
        int64_t grown = sample->buckets[i] - sent->buckets[i];
        sent->buckets[i] = sample->buckets[i];
        if (grown <= 0)
            continue;
        double bound = (double)bounds[MIN(i, count - 1)];
        CLEANUP(mem_freep)
        char *kind = grown == 1 ? mem_strdup("ms") : mem_format("ms|@%.9g", 1.0 / (double)grown);
        write_line(to, is_time ? bound / 1000 : bound, kind);
    }
}

static void write_sample(const struct writing *to, const struct metric_sample *sample,
                         struct sent *sent)
{
    switch (METRICS[sample->metric].type) {
    case METRIC_HISTOGRAM:
        write_histogram(to, sample, sent);
        return;
    case METRIC_GAUGE:
        write_line(to, sample->value, "g");
        return;
    case METRIC_COUNTER:
        if (sample->value > sent->value)
            write_line(to, sample->value - sent->value, "c");
        sent->value = sample->value;
        return;
    }
}

static struct sent *sent_of(struct metric_statsd *statsd, const struct metric_sample *sample,
                            const char *name)
{
    int64_t place = 0;
    if (strmap_find(statsd->series, name, &place))
        return &statsd->sent[place];
    (void)strmap_add(statsd->series, arena_strdup(statsd->arena, name), (int64_t)statsd->count);
    statsd->sent = mem_grow(statsd->sent, &statsd->capacity, statsd->count, sizeof *statsd->sent);
    struct sent *sent = &statsd->sent[statsd->count++];
    *sent = (struct sent){.value = 0};
    /* Of the store's counters only what comes from now on is ours to send. */
    if (METRICS[sample->metric].source == OF_STORE)
        sent->value = sample->value;
    return sent;
}

void metric_statsd_write(struct metric_statsd *statsd, const struct metric_samples *samples,
                         void (*line)(void *context, const char *text), void *context)
{
    for (size_t i = 0; i < samples->count; i++) {
        const struct metric_sample *sample = &samples->items[i];
        CLEANUP(strbuf_fini) struct strbuf name;
        strbuf_init(&name, NAME_MAX_BYTES);
        add_name(&name, sample, statsd->prefix);
        write_sample(&(struct writing){line, context, &name}, sample,
                     sent_of(statsd, sample, name.text));
    }
}
