#include "service/event_filter.h"

#include <string.h>

#include "base/str.h"
#include "service/principal.h"

struct event_facts event_facts_of(const json_t *event)
{
    struct event_facts facts = {
        .dag_id = json_get_string(event, "dag_id", NULL),
        .task_id = json_get_string(event, "task_id", NULL),
        .host = json_get_string(json_object_get(event, "details"), "host", NULL),
        .space = json_get_string(event, "namespace", NULL),
    };
    (void)!event_kind_parse(json_get_string(event, "kind", ""), &facts.kind);
    (void)!str_parse_i64(json_get_string(event, "number", ""), 0, INT64_MAX, &facts.run);
    return facts;
}

static bool is_of_topic(const char *kind, const char *topic)
{
    size_t length = strlen(topic);
    return strncmp(kind, topic, length) == 0 && (kind[length] == '\0' || kind[length] == '_');
}

static enum status add_topic(struct event_filter *filter, const char *topic, struct err *err)
{
    bool is_known = false;
    for (unsigned kind = EVENT_NONE + 1; kind < EVENT_KIND_COUNT; kind++) {
        if (!is_of_topic(event_kind_name((enum event_kind)kind), topic))
            continue;
        filter->kinds[kind / 64] |= UINT64_C(1) << (kind % 64);
        is_known = true;
    }
    if (!is_known)
        return err_set(err, STATUS_INVALID,
                       "no kind of event is called or begins with '%.60s'; kinds are such as "
                       "task_ended, or task for all of tasks",
                       topic);
    return STATUS_OK;
}

enum status event_filter_read(const json_t *request, struct event_filter *out, struct err *err)
{
    const json_t *kinds = json_object_get(request, "kinds");
    struct event_filter filter = {
        .has_kinds = json_array_size(kinds) > 0,
        .dag_id = json_get_string(request, "dag", NULL),
        .task_id = json_get_string(request, "task", NULL),
        .host = json_get_string(request, "host", NULL),
    };
    size_t i;
    const json_t *topic;
    json_array_foreach(kinds, i, topic)
    {
        if (add_topic(&filter, json_string_value(topic), err) != STATUS_OK)
            return err->code;
    }
    *out = filter;
    return STATUS_OK;
}

static bool is_wanted(const struct event_filter *filter, const struct event_facts *facts)
{
    unsigned kind = facts->kind;
    if (filter->has_kinds && (filter->kinds[kind / 64] >> (kind % 64) & 1) == 0)
        return false;
    return (filter->dag_id == NULL || str_equal(filter->dag_id, facts->dag_id)) &&
           (filter->run == 0 || filter->run == facts->run) &&
           (filter->task_id == NULL || str_equal(filter->task_id, facts->task_id)) &&
           (filter->host == NULL || str_equal(filter->host, facts->host));
}

/* What is of no namespace, or of one that is not known any more, is for those who see all. */
static bool may_see(const struct principal *principal, const char *space)
{
    return space != NULL && space[0] != '\0' ? principal_sees(principal, space)
                                             : principal_sees_all(principal);
}

bool event_filter_passes(const struct event_filter *filter, const struct event_facts *facts)
{
    return is_wanted(filter, facts) &&
           (filter->principal == NULL || may_see(filter->principal, facts->space));
}
