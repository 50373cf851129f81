#pragma once
/*
 * supervisor: telling the program that watches over services (systemd) how we are.
 *
 * Lines such as "READY=1" go to the socket that NOTIFY_SOCKET names; without one nothing happens.
 */
#include <stdint.h>

void supervisor_tell(const char *lines);
/* How often it wants to hear "WATCHDOG=1": half of what it tolerates; 0: it does not care. */
int64_t supervisor_watchdog_ms(void);
