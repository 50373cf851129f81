#pragma once
/*
 * keeper: the small process beside the daemon that runs the tasks.
 *
 * It starts them, owns their pipes, writes their logs, measures them and ends their
 * trees: when the task ends, when it takes too long, when it is told to, when the lease
 * deadline passes, and when the daemon is gone. It knows no store and no loop. What it
 * is told and what it tells is in keeper_wire.h; the other end is keeper_client.
 */

/* Serve until the other side of the socket is gone and all trees are ended; an exit code. */
int keeper_main(int socket_fd);
