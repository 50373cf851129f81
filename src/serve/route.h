#pragma once
/*
 * route: what the server offers, as rows: a method and a path, the operation behind it with its
 * permission and schemas, and how a request becomes that operation's and its response an answer.
 *
 * A row without shapers of its own takes members of the operation's request from the path, the
 * query and the body, and gives the operation's response as it is.
 */
#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"
#include "serve/http.h"
#include "serve/url.h"
#include "service/operation.h"

struct crew;
struct json_row;
struct service;

enum { ROUTE_OTHERS_MAX = 10 };

/* Who may come in at all. The zero value: nobody, so that a forgotten cell lets nobody in. */
enum route_access {
    ROUTE_CLOSED,
    ROUTE_PERMISSION, /* whoever has the permission of the operation, or `permission` without one */
    ROUTE_SIGNED_IN,  /* anybody whom we know */
    ROUTE_WORKER,     /* a worker, by its token; of which queues, the operation looks */
    ROUTE_PUBLIC,     /* anybody: the handler itself decides by what it is given */
};

/* One request on its way through the server. */
struct route_call {
    const struct http_request *request;
    const struct route *route;
    struct url_path path; /* decoded; the values of the pattern's names are among them */
    struct arena *arena;  /* of this call */
    json_t *body;         /* parsed; NULL: none was sent. Borrowed */
    struct service *service;
    const struct operation_caller *operations;
    const struct serve_world *world;        /* of the server */
    const struct dispatch_visitor *visitor; /* who came in */
    struct crew *crew;                      /* for streams that need a store to go on */
};

/* The operation's request of a call; a new reference. */
typedef enum status (*route_ask_fn)(const struct route_call *call, json_t **out, struct err *err);
/* The answer's body of an operation's response, which is taken; a new reference. */
typedef enum status (*route_answer_fn)(const struct route_call *call, json_t *taken, json_t **out,
                                       struct err *err);
/* Changes one row of an operation's list into one of the answer's. */
typedef void (*route_row_fn)(struct json_row *row);
/* Everything by itself, for what is not one operation or not JSON. */
typedef enum status (*route_handle_fn)(struct route_call *call, struct http_response *out,
                                       struct err *err);

struct route {
    enum http_method method;
    const char *pattern; /* "/api/v1/dags/{dag_id}" */
    enum route_access access;
    const char *operation;      /* NULL: only `handle` */
    enum permission permission; /* without an operation */
    int status;                 /* of success; 0: 200 */
    route_ask_fn ask;           /* NULL: by the names of the operation's request */
    route_answer_fn answer;     /* NULL: as it is */
    route_row_fn row;           /* instead of `answer`, where only the rows of a list change */
    const char *rows;           /* with `row`: the member that is the list, of both */
    route_handle_fn handle;     /* instead of all of these */
    bool is_quick;              /* answered by the thread of the connections: never waits */
    bool is_grouped;            /* short, and changes only the store: done with others */
    bool is_ui;                 /* of the web UI: no part of the API, and not described */
    bool takes_key;             /* without an operation: made of such that take one (keyed.h) */
    const char *summary;        /* NULL: the operation's */
    /* What differs from the operation's schemas, for readers of the API and for checks. */
    const struct operation_schema *query;
    const struct operation_schema *body;
    const struct operation_schema *response;
    const struct operation_schema *items; /* of the objects in the response's list */
    bool takes_more;                      /* the body may have members that `body` does not name */
    const char *media;            /* of success, NULL: JSON; several with spaces between them */
    int others[ROUTE_OTHERS_MAX]; /* statuses that no rule gives to its row (openapi_answers.h) */
};

struct route_table {
    const struct route *rows;
    size_t count;
    const struct route_table *more; /* NULL: that is all */
};

/* The value of a name in the route's pattern; it must have that name. */
const char *route_param(const struct route_call *call, const char *name);
