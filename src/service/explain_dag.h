#pragma once
/*
 * explain_dag: why a DAG does not start a run now: what its schedule and its triggers wait for, and
 * what is in the way. In words, and as conditions (explanation.h). Pure.
 */
#include "model/timetable.h"
#include "service/explanation.h"
#include "store/backfill_store.h"
#include "store/schedule.h"
#include "store/trigger_store.h"

struct explain_dag_backfill {
    int64_t id;
    enum backfill_state state;
};

enum { EXPLAIN_BACKFILLS_MAX = 5 };

struct explain_dag_facts {
    const char *dag_id;
    const char *by_hand; /* what follows `eider dags trigger`: its id, and params it needs */
    int64_t now_us;
    bool is_known;      /* to the store; else only its file is */
    bool is_active;     /* some file offers it */
    const char *path;   /* of its file, or "" */
    const char *broken; /* what is wrong with the file, or NULL */
    int64_t broken_at_us;
    bool has_scheduler;                  /* a living host has that role */
    struct schedule_info schedule;       /* of one that is known */
    const struct timetable *timetable;   /* NULL: cannot be worked out here */
    const char *timetable_problem;       /* and why */
    const struct trigger_state *trigger; /* NULL: it does not start by events */
    int64_t last_run_us;                 /* when its newest run was made; 0: there is none */
    int64_t going;                       /* limited runs */
    int64_t waiting;
    const struct missed_info *missed;                             /* the last, or NULL */
    struct explain_dag_backfill backfills[EXPLAIN_BACKFILLS_MAX]; /* that wait for somebody */
    size_t backfills_count;
};

void explain_dag(const struct explain_dag_facts *facts, struct explanation *out);
