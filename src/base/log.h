#pragma once
/*
 * log: one line per event on standard error, an event name and fields.
 *
 *     log_warn("lease lost", LOG_ID("task", id), LOG_STR("host", name));
 *
 * Layers base to service never log above debug; sched, worker, serve and app log
 * once, where the error is handled. Text by default, JSON lines on request.
 */
#include <stdbool.h>
#include <stdint.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG, LOG_LEVEL_COUNT };

struct log_field {
    const char *key;
    const char *text; /* NULL: the field is `number` */
    int64_t number;
};

#define LOG_STR(name, value) ((struct log_field){.key = (name), .text = (value)})
#define LOG_INT(name, value) ((struct log_field){.key = (name), .number = (value)})
#define LOG_ID(name, value)  LOG_INT(name, value)

void log_configure(enum log_level most_verbose, bool json);
bool log_is_on(enum log_level level);

/* Fields end at the first one without a key. Use the macros below. */
void log_write(enum log_level level, const char *event, const struct log_field *fields);

#define LOG_AT(level, event, ...)                                                                  \
    log_write(level, event, (const struct log_field[]){__VA_ARGS__ __VA_OPT__(, ){.key = 0}})
#define log_error(event, ...) LOG_AT(LOG_ERROR, event, __VA_ARGS__)
#define log_warn(event, ...)  LOG_AT(LOG_WARN, event, __VA_ARGS__)
#define log_info(event, ...)  LOG_AT(LOG_INFO, event, __VA_ARGS__)
#define log_debug(event, ...) LOG_AT(LOG_DEBUG, event, __VA_ARGS__)
