#pragma once
/*
 * json_pool: memory of JSON values, kept by each thread for its next ones.
 *
 * A list of some hundred objects takes ten thousand small pieces, and gives them all back at once;
 * the system's allocator is made for other habits, and half of the time went there.
 */

/* Before the first JSON value is made, by a program's start. With sanitizers it does nothing. */
void json_pool_start(void);
