/*
 * sensor_task: what to wait for, with its templates filled in; what is there already is no wait.
 *
 * A command is a process like any other: how it ended tells whether to look again. In poke
 * mode the process is a shell that does the looking again itself.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "model/duration.h"
#include "model/zone.h"
#include "os/file.h"
#include "os/zone_file.h"
#include "tasks/argv.h"
#include "tasks/kinds.h"
#include "tasks/sensor_file.h"

/*
 * $1 command, $2 interval and $3 longest interval in ms, $4 growth in thousandths, then the exit
 * codes that mean: not yet. The keeper's timeout ends it.
 */
static const char POKE_LOOP[] = "command=$1 wait=$2 most=$3 growth=$4\n"
                                "shift 4\n"
                                "while :; do\n"
                                "    /bin/sh -c \"$command\"\n"
                                "    code=$?\n"
                                "    again=no\n"
                                "    for known do [ \"$code\" = \"$known\" ] && again=yes; done\n"
                                "    [ $again = yes ] || exit $code\n"
                                "    sleep \"$((wait / 1000)).$(printf %03d $((wait % 1000)))\"\n"
                                "    [ $wait -ge $most ] || wait=$((wait * growth / 1000))\n"
                                "    [ $growth -le 1000 ] || [ $wait -le $most ] || wait=$most\n"
                                "done\n";

enum { CODES_MAX = 256 };

static const char *number(const struct plan_request *request, int64_t value)
{
    return arena_format(request->arena, "%" PRId64, value);
}

static void poke_argv(const struct plan_request *request, const struct sensor *sensor,
                      const char *command, struct task_plan *out)
{
    struct argv argv;
    size_t codes = json_array_size(sensor->not_yet);
    argv_init(&argv, request, 10 + MIN(codes, (size_t)CODES_MAX));
    argv_add(&argv, "/bin/sh");
    argv_add(&argv, "-c");
    argv_add(&argv, POKE_LOOP);
    argv_add(&argv, "sensor");
    argv_add(&argv, command);
    argv_add(&argv, number(request, sensor->every_ms));
    argv_add(&argv, number(request, sensor->every_max_ms));
    argv_add(&argv, number(request, (int64_t)(sensor->backoff * 1000)));
    for (size_t i = 0; i < codes && i < CODES_MAX; i++)
        argv_add(&argv, number(request, json_integer_value(json_array_get(sensor->not_yet, i))));
    if (sensor->not_yet == NULL) {
        argv_add(&argv, "1");
        argv_add(&argv, "99");
    }
    out->argv = argv.items;
    out->timeout_ms = sensor->timeout_ms;
}

static void command_argv(const struct plan_request *request, const char *command,
                         struct task_plan *out)
{
    struct argv argv;
    argv_init(&argv, request, 3);
    argv_add(&argv, "/bin/sh");
    argv_add(&argv, "-c");
    argv_add(&argv, command);
    out->argv = argv.items;
}

/* --- what it waits for ----------------------------------------------------------------------- */

static void fill_file(const struct plan_request *request, struct wait_plan *wait)
{
    char *path = file_path_join(request->dag_dir, wait->subject);
    wait->subject = arena_strdup(request->arena, path);
    free(path);
}

static enum status fill_time(const struct plan_request *request, const struct sensor *sensor,
                             struct wait_plan *wait, struct err *err)
{
    const struct zone *zone = NULL;
    if (zone_find(request->arena, sensor->tz, zone_file_read, &zone, err) != STATUS_OK)
        return err_wrap(err, "sensor");
    if (!sensor_time_parse(wait->subject, zone, request->now_us, &wait->target_us))
        return err_set(err, STATUS_INVALID,
                       "sensor: '%.60s' is no time such as 06:30 and no instant such as "
                       "2026-01-31T06:00:00",
                       wait->subject);
    return STATUS_OK;
}

static enum status fill_duration(struct wait_plan *wait, struct err *err)
{
    if (!duration_parse(wait->subject, &wait->after_ms))
        return err_set(err, STATUS_INVALID, "sensor: '%.60s' is no duration such as 30s, 5m or 2h",
                       wait->subject);
    return STATUS_OK;
}

static void fill_dag(const struct plan_request *request, const struct sensor *sensor,
                     struct wait_plan *wait)
{
    wait->dag = wait->subject;
    wait->dag_task = sensor->task;
    if (sensor->date != SENSOR_DATE_LATEST)
        wait->date_us = request->logical_at_us + sensor->offset_ms * 1000;
}

static enum status fill(const struct plan_request *request, const struct sensor *sensor,
                        struct wait_plan *wait, struct err *err)
{
    switch (sensor->kind) {
    case SENSOR_FILE:
        fill_file(request, wait);
        return STATUS_OK;
    case SENSOR_TIME:
        return fill_time(request, sensor, wait, err);
    case SENSOR_DURATION:
        return fill_duration(wait, err);
    case SENSOR_DAG:
        fill_dag(request, sensor, wait);
        return STATUS_OK;
    case SENSOR_RUN:
    case SENSOR_KIND_COUNT:
        break;
    }
    return STATUS_OK;
}

static bool is_there(const struct plan_request *request, const struct wait_plan *wait)
{
    if (wait->kind == SENSOR_FILE)
        return sensor_file_is_there(wait->subject);
    return wait->kind == SENSOR_TIME && wait->target_us <= request->now_us;
}

/* --- keeping a slot -------------------------------------------------------------------------- */

/* How long it waits at most, as far as that is known. */
static int64_t longest_ms(const struct plan_request *request, const struct sensor *sensor,
                          const struct wait_plan *wait)
{
    int64_t wait_ms = INT64_MAX;
    if (wait->kind == SENSOR_TIME)
        wait_ms = MAX((wait->target_us - request->now_us + 999) / 1000, (int64_t)1);
    else if (wait->kind == SENSOR_DURATION)
        wait_ms = MAX(wait->after_ms, (int64_t)1);
    return sensor->timeout_ms > 0 ? MIN(wait_ms, sensor->timeout_ms) : wait_ms;
}

static enum status check_poke(const struct plan_request *request, int64_t hold_ms, struct err *err)
{
    char wanted[DURATION_TEXT_MAX];
    char most[DURATION_TEXT_MAX];
    if (request->poke_max_ms == 0 || hold_ms <= request->poke_max_ms)
        return STATUS_OK;
    return err_set(err, STATUS_LIMIT,
                   "sensor: it may keep its slot for %s, and this platform allows %s (setting "
                   "poke_max): leave out 'mode: poke', or set a shorter 'timeout'",
                   duration_format(MIN(hold_ms, DURATION_MS_MAX), wanted),
                   duration_format(request->poke_max_ms, most));
}

enum status sensor_plan(const struct plan_request *request, struct task_plan *out, struct err *err)
{
    const struct renderer *renderer = request->renderer;
    struct sensor sensor;
    sensor_load(request->task->settings, &sensor);
    struct wait_plan *wait = arena_alloc(request->arena, sizeof *wait);
    *wait = (struct wait_plan){
        .kind = sensor.kind,
        .states = sensor.states,
        .every_ms = sensor.every_ms,
        .every_max_ms = sensor.every_max_ms,
        .backoff = sensor.backoff,
    };
    const char *field = arena_format(request->arena, "sensor.%s", sensor_kind_key(sensor.kind));
    if (renderer->text(renderer->context, field, sensor.text, &wait->subject, err) != STATUS_OK ||
        fill(request, &sensor, wait, err) != STATUS_OK)
        return err->code;
    int64_t hold_ms = longest_ms(request, &sensor, wait);
    if (sensor.is_poke && check_poke(request, hold_ms, err) != STATUS_OK)
        return err->code;
    out->is_process = sensor.kind == SENSOR_RUN;
    if (out->is_process && sensor.is_poke)
        poke_argv(request, &sensor, wait->subject, out);
    else if (out->is_process)
        command_argv(request, wait->subject, out);
    else if (is_there(request, wait))
        out->end = (struct attempt_end){.reason = REASON_RESULT, .result = TASK_SUCCESS};
    else
        out->wait = wait;
    out->hold_ms = out->wait != NULL && sensor.is_poke ? hold_ms : 0;
    return STATUS_OK;
}
