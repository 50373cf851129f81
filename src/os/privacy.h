#pragma once
/*
 * privacy: what a process has in memory is nobody else's to look at.
 */

/*
 * From here on this process leaves no core dump, and other processes of its user can neither trace
 * it nor read its memory and environment. Programs that it starts are not concerned. Calling it
 * again is fine, and it cannot be undone.
 */
void privacy_begin(void);

/* Take a variable out of the environment, and its value out of memory. */
void privacy_forget_variable(const char *name);
