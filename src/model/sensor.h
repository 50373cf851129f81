#pragma once
/*
 * sensor: a task that waits for something outside: what it waits for, how often it looks, when it
 * gives up. Pure.
 *
 * The settings of such a task are kept in canonical form (dag_read_sensor.c writes it); this
 * is the one place that reads them back. While a sensor waits, the store acts at one instant,
 * wait_due_us; wait_decide says what is to be done then.
 *
 * Tests  tests/unit/model/test_sensor.c
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/json.h"

struct attempt_end;
struct task_def;
struct zone;

/*    name      key         looked at by */
#define SENSOR_KIND_MAP(X)                                                                         \
    X(FILE, "file")         /* a host that serves the task's queue */                              \
    X(TIME, "time")         /* nobody: the store acts at the instant */                            \
    X(DURATION, "duration") /* the same */                                                         \
    X(DAG, "dag")           /* a host, by asking the store */                                      \
    X(RUN, "run")           /* a process, in a slot while it runs */

/* Stored as a number: add at the end only. */
enum sensor_kind {
#define X(name, key) SENSOR_##name,
    SENSOR_KIND_MAP(X)
#undef X
        SENSOR_KIND_COUNT
};

const char *sensor_kind_key(enum sensor_kind kind);

enum sensor_date { SENSOR_DATE_SAME, SENSOR_DATE_LATEST, SENSOR_DATE_OFFSET };

struct sensor {
    enum sensor_kind kind;
    const char *text;      /* path, time, duration, DAG or command: a template */
    const char *tz;        /* of a time without an offset */
    const char *task;      /* of the DAG; NULL: its run as a whole */
    enum sensor_date date; /* which run of the DAG */
    int64_t offset_ms;     /* SENSOR_DATE_OFFSET: from the own logical date */
    unsigned states;       /* that are waited for: bits of enum task_state, or of enum run_state */
    const json_t *not_yet; /* exit codes of the command; NULL: 1 and 99 */
    int64_t every_ms;
    double backoff; /* each interval is so many times the one before */
    int64_t every_max_ms;
    int64_t timeout_ms; /* 0: none */
    bool soft_fail;     /* a timeout skips */
    bool is_poke;       /* it keeps its slot */
};

/* From canonical settings; texts are borrowed from them. */
void sensor_load(const json_t *settings, struct sensor *out);

/* Whether a task is a sensor that waits in a slot, or needs one to look. */
bool sensor_needs_slot(const struct task_def *task);

/* How long a sensor that keeps its slot may do so; 0: it keeps none, or that is not known. */
int64_t sensor_hold_ms(const struct task_def *task);

/* Ways to say a state, as bits; false: it is no final state of a run, or of a task. */
NODISCARD bool sensor_state_parse(const char *name, bool of_task, unsigned *out_bit);

/* "same", "latest", or a signed duration such as -1d. False leaves the outputs alone. */
NODISCARD bool sensor_date_parse(const char *text, enum sensor_date *out, int64_t *out_offset_ms);

/*
 * "06:30" or "06:30:15": the instant at which clocks of the zone show that on the day of `now_us`,
 * which may be over. Or an instant, which without an offset is what those clocks show.
 */
NODISCARD bool sensor_time_parse(const char *text, const struct zone *zone, int64_t now_us,
                                 int64_t *out_us);

/* How long to wait after look number `looks`, from 0. */
int64_t sensor_interval_ms(const struct sensor *sensor, int64_t looks);
/* How long to wait after an interval of `before_ms`. */
int64_t sensor_interval_after_ms(int64_t before_ms, double backoff, int64_t every_max_ms);

/* The command says that it is not there yet: the task waits on. */
bool sensor_is_not_yet(const struct task_def *task, const struct attempt_end *end);
/* The attempt ended because the sensor, not one look, took too long. */
bool sensor_is_timeout(const struct task_def *task, const struct attempt_end *end);

/* --- while it waits -------------------------------------------------------------------------- */

/* What a task that begins to wait knows by then: its templates are rendered. */
struct wait_plan {
    enum sensor_kind kind;
    const char *subject;  /* path, time, command: for people, and of a file to look at */
    int64_t target_us;    /* of a time; of a process that wants to run again */
    int64_t after_ms;     /* of a duration, since the task became ready */
    const char *dag;      /* NULL: it waits for something else */
    const char *dag_task; /* NULL: the run as a whole */
    int64_t date_us;      /* of its run; 0: the latest */
    /* For who looks. */
    unsigned states;
    int64_t every_ms;
    int64_t every_max_ms;
    double backoff;
};

struct wait_times {
    int64_t target_us;   /* of a time or duration; the next look of a command; else 0 */
    int64_t deadline_us; /* 0: none */
};

enum wait_verdict {
    WAIT_ON,
    WAIT_LOOK, /* its command is to be run */
    WAIT_MET,
    WAIT_TIMEOUT,
};

/* When the store must act by itself; 0: never. */
int64_t wait_due_us(enum sensor_kind kind, const struct wait_times *times);
/* What was due before the deadline is not too late, whenever somebody comes to see it. */
enum wait_verdict wait_decide(enum sensor_kind kind, const struct wait_times *times,
                              int64_t now_us);
