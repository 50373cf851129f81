#include "notify/alert_source.h"

#include <string.h>

#include "base/str.h"
#include "os/zone_file.h"

enum status alert_connection(const struct alert_source *source, const char *name,
                             struct connection *out, struct err *err)
{
    const json_t *found = json_object_get(source->connections, name);
    if (found == NULL)
        return err_set(err, STATUS_NOT_FOUND,
                       "there is no connection '%s': add it to connections.yaml, or set "
                       "EIDER_CONN_NAME",
                       name);
    const char *uri = json_get_string(found, "uri", NULL);
    enum status status =
        uri != NULL ? connection_parse(uri, out, err) : connection_read(found, out, err);
    return status == STATUS_OK ? STATUS_OK : err_wrap(err, "connection '%s'", name);
}

static enum status find_variable(const struct alert_source *source, const char *const *path,
                                 json_t **out, struct err *err)
{
    const json_t *found = json_object_get(source->variables, path[2]);
    if (found == NULL)
        return err_set(err, STATUS_NOT_FOUND, "there is no variable '%s'", path[2]);
    const char *text = json_string_value(found);
    if (str_equal(path[1], "json") && text != NULL)
        return json_parse(text, strlen(text), out, err);
    *out = json_deep_copy(found);
    return STATUS_OK;
}

static enum status find_connection(const struct alert_source *source, const char *name,
                                   json_t **out, struct err *err)
{
    struct connection connection = {0};
    if (alert_connection(source, name, &connection, err) != STATUS_OK)
        return err->code;
    *out = connection_to_json(&connection);
    connection_fini(&connection);
    return STATUS_OK;
}

static enum status lookup(void *context, const char *const *path, size_t count, size_t *out_used,
                          json_t **out, struct err *err)
{
    const struct alert_source *source = context;
    if (str_equal(path[0], "var") && count >= 3) {
        *out_used = 3;
        return find_variable(source, path, out, err);
    }
    if (str_equal(path[0], "conn") && count >= 2) {
        *out_used = 2;
        return find_connection(source, path[1], out, err);
    }
    return err_set(err, STATUS_NOT_FOUND, "'%s' is not known here", path[0]);
}

struct template_scope alert_source_scope(const struct alert_source *source)
{
    return (struct template_scope){
        .context = (void *)(uintptr_t)source,
        .lookup = lookup,
        .zones = zone_file_read,
    };
}
