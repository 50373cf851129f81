#pragma once
/*
 * actor: who changes things, for the record.
 */

/* Name of the user that runs this process; static. */
const char *actor_name(void);
