#pragma once
/*
 * views: which members of which response are columns.
 */
#include "cli/output.h"

extern const struct view VIEW_RUNS;
extern const struct view VIEW_RUN;
extern const struct view VIEW_TASK_INSTANCES;
extern const struct view VIEW_TASK_INSTANCE;
extern const struct view VIEW_ACTIVE;
extern const struct view VIEW_VALUES;
extern const struct view VIEW_EXPLAIN;
extern const struct view VIEW_DAGS;
extern const struct view VIEW_DAG;
extern const struct view VIEW_TICKS;
extern const struct view VIEW_MISSED;
extern const struct view VIEW_PAUSED;
extern const struct view VIEW_TASKS;
extern const struct view VIEW_TASK;
extern const struct view VIEW_FIELDS;
extern const struct view VIEW_QUEUES;
extern const struct view VIEW_QUEUE;
extern const struct view VIEW_POOLS;
extern const struct view VIEW_POOL;
extern const struct view VIEW_LIMITS;
extern const struct view VIEW_JOBS;
extern const struct view VIEW_JOB;
extern const struct view VIEW_ENQUEUED;
extern const struct view VIEW_BATCH;
extern const struct view VIEW_PURGED;
extern const struct view VIEW_LETTERS;
extern const struct view VIEW_LETTER;
extern const struct view VIEW_HOSTS;
extern const struct view VIEW_HOST;
extern const struct view VIEW_DESIRED;
extern const struct view VIEW_VARIABLES;
extern const struct view VIEW_VARIABLE;
extern const struct view VIEW_CONNECTIONS;
extern const struct view VIEW_CONNECTION;
extern const struct view VIEW_CONNECTION_TEST;
extern const struct view VIEW_SECRETS;
extern const struct view VIEW_SECRET;
extern const struct view VIEW_ROTATION;
extern const struct view VIEW_VAULT_DELETED;
extern const struct view VIEW_CHECKS;
extern const struct view VIEW_PROOFS;
extern const struct view VIEW_PROOF;
extern const struct view VIEW_BACKUP;
extern const struct view VIEW_PRUNE;
extern const struct view VIEW_FORECAST;
extern const struct view VIEW_FORECAST_DAGS;
extern const struct view VIEW_MOVE;
extern const struct view VIEW_MIGRATION;
extern const struct view VIEW_SETTINGS;
extern const struct view VIEW_VERSION;
