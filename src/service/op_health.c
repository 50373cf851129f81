#include "service/observer.h"
#include "service/op_handlers.h"

enum status op_health_show(struct service *service, const json_t *request, json_t **out,
                           struct err *err)
{
    (void)request;
    (void)err;
    *out = observer_health(service);
    return STATUS_OK;
}

enum status op_metrics_show(struct service *service, const json_t *request, json_t **out,
                            struct err *err)
{
    (void)request;
    CLEANUP(strbuf_fini) struct strbuf text;
    strbuf_init(&text, OBSERVER_TEXT_MAX);
    if (observer_text(service, &text, err) != STATUS_OK)
        return err->code;
    if (text.overflow)
        return err_set(err, STATUS_LIMIT, "the metrics are too long: lower metrics_series");
    *out = json_object();
    json_put_string(*out, "text", text.text);
    return STATUS_OK;
}
