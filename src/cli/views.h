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
extern const struct view VIEW_VERSIONS;
extern const struct view VIEW_VERSION_OF_DAG;
extern const struct view VIEW_DAG_ERRORS;
extern const struct view VIEW_DAG_DELETED;
extern const struct view VIEW_TASKS;
extern const struct view VIEW_TASK;
extern const struct view VIEW_FIELDS;
extern const struct view VIEW_QUEUES;
extern const struct view VIEW_QUEUE;
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
extern const struct view VIEW_CHECKS;
extern const struct view VIEW_PROOFS;
extern const struct view VIEW_PROOF;
extern const struct view VIEW_BACKUP;
extern const struct view VIEW_PRUNE;
extern const struct view VIEW_MOVE;
extern const struct view VIEW_MIGRATION;
extern const struct view VIEW_SETTINGS;
extern const struct view VIEW_VERSION;
