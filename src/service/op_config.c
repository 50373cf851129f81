#include "base/str.h"
#include "model/settings.h"
#include "service/json_build.h"
#include "service/op_handlers.h"
#include "service/service.h"

enum status op_config_list(struct service *service, const json_t *request, json_t **out,
                           struct err *err)
{
    (void)request;
    (void)err;
    json_t *settings = json_build_array();
    for (enum setting_key key = 0; key < SETTING_COUNT; key++)
        json_build_append(settings, settings_describe(service->settings, key));
    *out = json_build_object();
    json_put(*out, "settings", settings);
    json_put_int(*out, "total_entries", SETTING_COUNT);
    return STATUS_OK;
}

static const char *key_at(const void *context, size_t i)
{
    (void)context;
    return SETTINGS[i].key;
}

enum status op_config_get(struct service *service, const json_t *request, json_t **out,
                          struct err *err)
{
    const char *name = json_get_string(request, "key", "");
    enum setting_key key = SETTING_HOME;
    if (!setting_parse_key(name, &key)) {
        const char *near = str_nearest(name, SETTING_COUNT, key_at, NULL);
        return err_set(err, STATUS_NOT_FOUND, "there is no setting '%.100s'%s%s%s", name,
                       near != NULL ? ", did you mean '" : "", near != NULL ? near : "",
                       near != NULL ? "'?" : "");
    }
    *out = settings_describe(service->settings, key);
    return STATUS_OK;
}
