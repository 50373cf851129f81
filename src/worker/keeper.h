#pragma once
/*
 * keeper: the small process beside the daemon that runs the tasks.
 *
 * It starts them, owns their pipes, writes their logs, measures them and ends their
 * trees: when the task ends, when it takes too long, when it is told to and when the lease
 * deadline passes. It knows no store and no loop. What it is told and what it tells is in
 * keeper_wire.h; the other end is keeper_client.
 *
 * With a connected socket it works for that daemon and ends everything when it is gone. With
 * one that listens it stays: it leaves the session and the family of whoever started it,
 * serves one daemon after another, and goes on without (keeper_book, keeper_stay).
 */

/* Serve until nobody needs it and all trees are ended; an exit code. */
int keeper_main(int socket_fd);
