#pragma once
/*
 * routes: every path that the server knows.
 *
 * The rows of the files routes_*.c, and one for each operation:
 * POST /api/v1/x/operations/{name of the operation}, which is how the program talks to a server.
 */
#include "serve/route.h"

/* One table of all rows; routes_free ends it. */
NODISCARD struct route_table *routes_new(void);
void routes_free(struct route_table *table);

/* The parts. */
extern const struct route_table ROUTES_HOOK;
extern const struct route_table ROUTES_WORKER;
extern const struct route_table ROUTES_AIRFLOW_AROUND;
extern const struct route_table ROUTES_AIRFLOW_DAGS;
extern const struct route_table ROUTES_AIRFLOW_TASKS;
extern const struct route_table ROUTES_SIGN_IN;
extern const struct route_table ROUTES_NATIVE;
extern const struct route_table ROUTES_NATIVE_AROUND;
extern const struct route_table ROUTES_SERVER;
extern const struct route_table ROUTES_UI;
extern const struct route_table ROUTES_LIVE;
extern const struct route_table ROUTES_LOG;
