#pragma once
/*
 * cli: one command line from its words to its exit code.
 *
 * Everything outside (streams, terminal, environment, time, operations, engine) is handed in, so
 * that a test runs a whole command in memory. Data goes to `out`, everything else to `err`.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/json.h"
#include "cli/engine.h"
#include "cli/output.h"
#include "cli/prover.h"
#include "service/operation.h"

struct client;
struct parsed;

/* The world, given by the application. Members without a remark must be set. */
struct cli_host {
    void *context;
    FILE *in;
    FILE *out;
    FILE *err;
    bool out_is_terminal;
    bool err_is_terminal;
    /* Size of the terminal now; asked again for every frame. */
    void (*terminal_size)(void *context, size_t *out_columns, size_t *out_rows);
    const char *(*environment)(void *context, const char *name);
    int64_t (*now_us)(void *context);
    /* Wait; false: interrupted, stop. */
    bool (*pause)(void *context, int64_t ms);
    /*
     * Called once, before the first operation or run: `flags` holds the settings given on the
     * command line, by key. Borrowed. NULL: nothing to prepare.
     */
    enum status (*configure)(void *context, const json_t *flags, struct err *err);
    struct operation_caller operations;
    /* The same on this machine, whichever server is in use; NULL `call`: as `operations`. */
    struct operation_caller here;
    /* After `configure`: where the operations go; NULL, or gives NULL: nowhere, they are done here.
     */
    const char *(*server)(void *context);
    /* After `configure`: the server, or the daemon of this machine. Borrowed. */
    enum status (*connect)(void *context, struct client **out, struct err *err);
    /* The server's description of itself; a new reference. */
    json_t *(*openapi)(void);
    struct engine engine;
    /* Be the daemon, until it is told to stop. */
    enum status (*serve)(void *context, struct err *err);
    struct prover prover;
};

struct cli {
    struct cli_host host;
    struct output output; /* format, colours and symbols for standard output */
    bool quiet;
    bool verbose;
    bool is_configured;
    bool is_here; /* the command is about this machine, whichever server is in use */
    json_t *flags;
    const char *reason; /* --reason, for operations that keep one; or NULL */
};

/* Runs the command that argv names; returns the exit code. argv[0] is the program. */
int cli_main(const struct cli_host *host, int argc, const char *const *argv);

/* For handlers: print "eider: text" and give the exit code of the status. */
int cli_fail(struct cli *cli, const struct err *err);
/* A message for people, on standard error, unless --quiet. */
void cli_say(struct cli *cli, const char *fmt, ...) PRINTF(2, 3);

/* Call an operation; the request is taken, NULL stands for an empty one. */
NODISCARD enum status cli_call(struct cli *cli, const char *operation, json_t *taken_request,
                               json_t **out_response, struct err *err);
/* Print a response by a view; people are told when it is empty. */
void cli_print(struct cli *cli, const struct view *view, const json_t *response);
/* Call an operation and print its response by a view; returns the exit code. */
int cli_show(struct cli *cli, const char *operation, json_t *taken_request,
             const struct view *view);
/* As cli_show, of a change that --dry-run only rehearses; then that is said. */
int cli_change(struct cli *cli, const struct parsed *parsed, const char *operation,
               json_t *taken_request, const struct view *view);
/* As cli_show, over and over every two seconds until interrupted. */
int cli_watch(struct cli *cli, const char *operation, json_t *taken_request,
              const struct view *view);
/* One of the two: with --watch over and over. */
int cli_list(struct cli *cli, const struct parsed *parsed, const char *operation,
             json_t *taken_request, const struct view *view);
/*
 * Changes that cannot be undone ask for --yes rather than for a key press, so that scripts and
 * people see the same. True with --yes or --dry-run; else it says what would happen.
 */
bool cli_is_confirmed(struct cli *cli, const struct parsed *parsed, const char *what);
/* Prepare settings and engine; then run. */
NODISCARD enum status cli_run_engine(struct cli *cli, const struct engine_request *request,
                                     const struct engine_observer *observer,
                                     struct engine_result *out_result, struct err *err);

/* The same for the daemon. */
NODISCARD enum status cli_serve(struct cli *cli, struct err *err);
/* The same for a proof. */
NODISCARD enum status cli_prove(struct cli *cli, const struct prove_request *request,
                                json_t **out_report, struct err *err);

/*
 * The server that operations go to, or NULL. Prepares settings; what is wrong with those is told by
 * whoever needs them.
 */
const char *cli_server(struct cli *cli);
/* That server, or the daemon of this machine; borrowed. */
NODISCARD enum status cli_connect(struct cli *cli, struct client **out, struct err *err);

size_t cli_columns(struct cli *cli);
