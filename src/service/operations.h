#pragma once
/*
 * operations: every use case, as one table sorted by name.
 */
#include "service/operation.h"

extern const struct operation_table OPERATIONS;
