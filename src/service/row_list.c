#include "service/row_list.h"

#include "service/json_build.h"
#include "service/service.h"

void row_list_init(struct row_list *list, const struct service *service)
{
    *list = (struct row_list){.taker = service->row_taker, .gathered = json_build_array()};
    if (list->taker != NULL)
        list->taker->begin(list->taker->context);
}

void row_list_fini(struct row_list *list)
{
    json_decref(list->gathered);
    list->gathered = NULL;
}

void row_list_add(struct row_list *list, struct json_row *row)
{
    list->count++;
    if (list->taker != NULL)
        list->taker->take(list->taker->context, row);
    else
        json_build_append(list->gathered, json_row_object(row));
}
