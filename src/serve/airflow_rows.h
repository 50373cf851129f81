#pragma once
/*
 * airflow_rows: what the tables of Airflow's paths share. Private to them.
 */
#include "serve/routes.h"

#define SCHEMA(name, ...)                                                                          \
    static const struct operation_field name##_FIELDS[] = {__VA_ARGS__};                           \
    static const struct operation_schema name = {name##_FIELDS, ARRAY_LEN(name##_FIELDS)}

#define V1 "/api/v1"

/* Airflow gives these as text to who does not ask for JSON. */
#define TEXT_TOO .media = "application/json text/plain"

/* An answer with a list of what another answer has one of. */
#define LIST(many, one) .response = &many##_RESPONSE, .items = &one##_RESPONSE

#define PAGE_FIELDS                                                                                \
    {"limit", FIELD_INTEGER, false, "at most so many; 100 by default, at most 1000"},              \
    {                                                                                              \
        "offset", FIELD_INTEGER, false, "leave out the first"                                      \
    }
#define ORDER_FIELD                                                                                \
    {                                                                                              \
        "order_by", FIELD_STRING, false, "a member to order by, with - in front from its end"      \
    }
#define ONLY_FIELDS                                                                                \
    {                                                                                              \
        "fields", FIELD_STRINGS, false, "only these members"                                       \
    }
#define MASK_FIELD                                                                                 \
    {                                                                                              \
        "update_mask", FIELD_STRINGS, false, "only these members of the body count"                \
    }
#define TOTAL_FIELD                                                                                \
    {                                                                                              \
        "total_entries", FIELD_INTEGER, true, "how many match on all pages"                        \
    }
#define RANGE_FIELDS(name)                                                                         \
    {name "_gte", FIELD_INSTANT, false, "then or later"},                                          \
    {                                                                                              \
        name "_lte", FIELD_INSTANT, false, "then or earlier"                                       \
    }
#define ALL_RANGES                                                                                 \
    RANGE_FIELDS("execution_date"), RANGE_FIELDS("logical_date"), RANGE_FIELDS("start_date"),      \
        RANGE_FIELDS("end_date"), RANGE_FIELDS("updated_at")
