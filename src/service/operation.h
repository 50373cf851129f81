#pragma once
/*
 * operation: use cases as rows of a table, and the one way to call them.
 *
 * A row names a use case ("run.list"), says who may do it, describes the members
 * of its request and response, and points at its handler. The command line and the
 * server call through `struct operation_caller`, so neither knows whether the handler
 * runs in this process or behind HTTP.
 *
 * Ownership  Requests are borrowed for the call; a response belongs to the caller.
 * Tests      tests/unit/service/test_operation.c
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/json.h"
#include "model/permission.h"

struct operation_item;
struct service;

/*    name       shown as                accepts */
#define FIELD_TYPE_MAP(X)                                                                          \
    X(ANY, "any value")                                                                            \
    X(STRING, "a string")                                                                          \
    X(INTEGER, "an integer")                                                                       \
    X(NUMBER, "a number")                                                                          \
    X(BOOLEAN, "true or false")                                                                    \
    X(OBJECT, "an object")                                                                         \
    X(ARRAY, "a list")                                                                             \
    X(STRINGS, "a list of strings")                                                                \
    X(INSTANT, "a date or a date and time (RFC 3339), as 2026-01-15 or 2026-01-15T02:00:00Z")      \
    X(ID, "an id (digits in a string)")                                                            \
    X(PATH, "a path")                                                                              \
    X(PATHS, "a list of paths")

enum field_type {
#define X(name, text) FIELD_##name,
    FIELD_TYPE_MAP(X)
#undef X
        FIELD_TYPE_COUNT
};

/*
 * A member that is not required may be absent or null. Paths lead to files of the machine that runs
 * the handler, so whoever asks from elsewhere may not give them; beside a member `text`, which is
 * the file itself, a path is only its name.
 */
struct operation_field {
    const char *name;
    enum field_type type;
    bool required;
    const char *doc;
};

struct operation_schema {
    const struct operation_field *fields;
    size_t count;
};

/*
 * What a request is about, for who has the permission only in some namespaces:
 *
 *   ALL        everything at once: the right is needed in all namespaces. The zero value
 *   ANY        nothing of a namespace, or the handler decides: the right somewhere will do
 *   LIST       `dag`, `run` or `namespace` where they are given; of the rest what is seen
 *   DAG, RUN   `dag` and `run`; without both, everything
 *   DAGS       each of `dags`
 *   JOB        `job`
 *   JOBS       the namespace of each of `jobs`
 *   BACKFILL   `backfill`
 *   LETTER, NOTICE, WEBHOOK   `id`; without it, everything
 *   NAMESPACE  `namespace`, or `default`
 *   LIMIT      `kind` and `name`: a namespace, a DAG, or else everything
 *   WORKER     work: for workers by their tokens; the handler looks at queues (principal_serves)
 */
#define OPERATION_SCOPE_MAP(X)                                                                     \
    X(ALL, "all")                                                                                  \
    X(ANY, "any")                                                                                  \
    X(LIST, "list")                                                                                \
    X(DAG, "dag")                                                                                  \
    X(RUN, "run")                                                                                  \
    X(DAGS, "dags")                                                                                \
    X(JOB, "job")                                                                                  \
    X(JOBS, "jobs")                                                                                \
    X(LETTER, "letter")                                                                            \
    X(BACKFILL, "backfill")                                                                        \
    X(NOTICE, "notice")                                                                            \
    X(WEBHOOK, "webhook")                                                                          \
    X(NAMESPACE, "namespace")                                                                      \
    X(LIMIT, "limit")                                                                              \
    X(WORKER, "worker")

enum operation_scope {
#define X(name, text) SCOPE_##name,
    OPERATION_SCOPE_MAP(X)
#undef X
        SCOPE_COUNT
};

struct operation {
    const char *name; /* "noun.verb" */
    const char *summary;
    enum permission permission;
    struct operation_schema request;
    struct operation_schema response;
    enum status (*handler)(struct service *service, const json_t *request, json_t **out_response,
                           struct err *err);
    enum operation_scope scope;
};

struct operation_table {
    const struct operation *rows;
    size_t count;
    const struct operation_table *more; /* NULL: that is all */
};

/* How the operations are reached. `call` gives the caller a reference in *out_response. */
struct operation_caller {
    void *context;
    enum status (*call)(void *context, const char *name, const json_t *request,
                        json_t **out_response, struct err *err);
    /* Several requests of one operation that has a batch; NULL: only one by one. */
    void (*many)(void *context, const char *name, struct operation_item *items, size_t count);
};

/* Call an operation; a NULL request stands for an empty object. */
NODISCARD enum status operation_call(const struct operation_caller *caller, const char *name,
                                     const json_t *request, json_t **out_response, struct err *err);

/* Context of an operation_caller that runs handlers in this process. */
struct operation_local {
    const struct operation_table *table;
    struct service *service;
};

/*
 * The `call` for a struct operation_local: finds the row, checks the request and that whoever asks
 * may do it to what it names (access.h), runs the handler.
 */
NODISCARD enum status operation_local_call(void *local, const char *name, const json_t *request,
                                           json_t **out_response, struct err *err);

/* The same with something else for the handler: for who does a part of its work. */
typedef enum status (*operation_handler_fn)(struct service *service, const json_t *request,
                                            void *context, struct err *err);
NODISCARD enum status operation_local_do(const struct operation_local *local,
                                         const struct operation *operation, const json_t *request,
                                         operation_handler_fn handler, void *context,
                                         struct err *err);

/* NULL when there is no such row. */
const struct operation *operation_find(const struct operation_table *table, const char *name);

/* Whether it may change something: whoever does not know whether it was done may not repeat it. */
bool operation_changes(const struct operation *operation);

/*
 * Whether it can be asked for with a key (once.h): the same key again does nothing again, so that
 * whoever does not know may repeat it.
 */
bool operation_takes_key(const struct operation *operation);

/* Whether its request may have such a member. */
bool operation_takes(const struct operation *operation, const char *field);

/* STATUS_INVALID names the member: unknown (with the nearest known one), missing, or mistyped. */
NODISCARD enum status operation_check_request(const struct operation *operation,
                                              const json_t *request, struct err *err);

/* The same for a response; members that the schema does not name are allowed. For tests. */
NODISCARD enum status operation_check_response(const struct operation *operation,
                                               const json_t *response, struct err *err);

const char *operation_scope_name(enum operation_scope scope);
const char *field_type_text(enum field_type type);
