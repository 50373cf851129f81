#pragma once
/*
 * operations: every use case, in tables sorted by name.
 */
#include "service/operation.h"

/* Where a server takes them: POST to this path with the name behind it. */
#define OPERATIONS_PATH "/api/v1/x/operations/"

/* All of them: the others follow as `more`. */
extern const struct operation_table OPERATIONS;
extern const struct operation_table OPERATIONS_AROUND;
extern const struct operation_table OPERATIONS_HEALTH;
extern const struct operation_table OPERATIONS_LOGS;
extern const struct operation_table OPERATIONS_LISTS;
extern const struct operation_table OPERATIONS_USERS;
extern const struct operation_table OPERATIONS_VIEWS;
extern const struct operation_table OPERATIONS_WORKERS;
