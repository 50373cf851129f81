#include "app/measuring.h"

#include <stdlib.h>

#include "app/local_service.h"
#include "base/mem.h"
#include "model/word_set.h"

void measuring_init(struct measuring *measuring, const struct settings *settings)
{
    CLEANUP(mem_freep) char *roles = word_set_parse(settings_text(settings, SETTING_ROLES));
    const char *endpoint = settings_text(settings, SETTING_OTLP_ENDPOINT);
    *measuring = (struct measuring){
        .meters = meters_new((size_t)settings_number(settings, SETTING_METRICS_SERIES)),
    };
    meters_set_host(measuring->meters, settings_text(settings, SETTING_HOST_NAME));
    measuring->observer = observer_new(&(struct observer_options){
        .meters = measuring->meters,
        .settings = settings,
        .schedules = word_set_has(roles, "scheduler"),
    });
    if (endpoint[0] != '\0')
        measuring->tracer = tracer_new(&(struct tracer_options){
            .endpoint = endpoint,
            .headers = settings_text(settings, SETTING_OTLP_HEADERS),
            .host = settings_text(settings, SETTING_HOST_NAME),
            .meters = measuring->meters,
        });
}

/* In the thread that sends. */
static enum status collect(void *context, struct metric_samples *out, struct err *err)
{
    struct measuring *measuring = context;
    return observer_samples(&measuring->service->service, out, err);
}

static enum status begin_statsd(struct measuring *measuring,
                                const struct measuring_options *options, struct err *err)
{
    const struct settings *settings = &options->config->settings;
    const char *address = settings_text(settings, SETTING_STATSD);
    if (address[0] == '\0')
        return STATUS_OK;
    measuring->service = mem_zalloc(1, sizeof *measuring->service);
    local_service_init(measuring->service, options->config, options->home);
    measuring->service->service.observer = measuring->observer;
    return statsd_start(
        &(struct statsd_options){
            .address = address,
            .prefix = settings_text(settings, SETTING_STATSD_PREFIX),
            .period_ms = settings_number(settings, SETTING_STATSD_PERIOD),
            .collect = collect,
            .context = measuring,
        },
        &measuring->statsd, err);
}

enum status measuring_begin(struct measuring *measuring, const struct measuring_options *options,
                            struct err *err)
{
    if (begin_statsd(measuring, options, err) != STATUS_OK)
        return err->code;
    return measuring->tracer != NULL
               ? tracer_start(measuring->tracer, options->spare, options->store_uuid, err)
               : STATUS_OK;
}

void measuring_end(struct measuring *measuring)
{
    statsd_stop(TAKE(measuring->statsd));
    if (measuring->service != NULL)
        service_fini(&measuring->service->service);
    mem_freep(&measuring->service);
    tracer_stop(measuring->tracer);
}

void measuring_fini(struct measuring *measuring)
{
    tracer_free(TAKE(measuring->tracer));
    observer_free(TAKE(measuring->observer));
    meters_free(TAKE(measuring->meters));
}

const struct span_sink *measuring_spans(const struct measuring *measuring)
{
    return measuring->tracer != NULL ? tracer_sink(measuring->tracer) : NULL;
}
