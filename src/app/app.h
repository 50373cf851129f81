#pragma once
/*
 * app: wiring. Gives the command line its streams, terminal, settings, operations and engine.
 */

/* Run one command line; returns the exit code. */
int app_main(int argc, const char *const *argv);
