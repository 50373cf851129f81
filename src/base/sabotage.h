#pragma once
/*
 * sabotage: mistakes made on purpose, to see that the tests find them.
 *
 * SABOTAGE("name") stands where a real mistake would. It is constant false, and leaves nothing in
 * the program, unless that is configured with EIDER_SABOTAGE=ON; then it is true in processes
 * whose environment says EIDER_SABOTAGE=name. tests/chaos/saboteurs.py says what finds which.
 */
#include <stdbool.h>

#ifdef EIDER_SABOTAGE
bool sabotage_is(const char *name);
#define SABOTAGE(name) sabotage_is(name)
#else
#define SABOTAGE(name) false
#endif
