#pragma once
/*
 * handler_config: the section `handlers` of a project file, what plain jobs may run by name.
 *
 *     handlers:
 *       send: ./send-mail
 *       thumb: { run: "convert - out.png", env: { SIZE: 64 }, timeout: 5m }
 *
 * Values of `env` may be templates of var, conn and secrets.
 */
#include "base/attrs.h"
#include "base/err.h"
#include "base/json.h"

/*
 * {NAME: {"run": text, "env": {name: text}, "timeout_ms": number}} with every member there; empty
 * when there is no such file or section. STATUS_INVALID tells file, line and column.
 */
NODISCARD enum status handler_config_load(const char *path, json_t **out, struct err *err);
