#pragma once
/*
 * sabotage: mistakes made on purpose, to see that the tests find them.
 *
 * SABOTAGE("name") stands where a real mistake would. It is constant false, and leaves nothing in
 * the program, unless that is configured with EIDER_SABOTAGE=ON; then it is true in processes
 * whose environment says EIDER_SABOTAGE=name. SABOTAGE_PAUSE("name") then waits, where the mistake
 * needs something to happen in between. tests/chaos/saboteurs.py says what finds which.
 */
#include <stdbool.h>

#ifdef EIDER_SABOTAGE
bool sabotage_is(const char *name);
void sabotage_pause(const char *name);
#define SABOTAGE(name)       sabotage_is(name)
#define SABOTAGE_PAUSE(name) sabotage_pause(name)
#else
#define SABOTAGE(name)       false
#define SABOTAGE_PAUSE(name) ((void)0)
#endif
