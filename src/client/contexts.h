#pragma once
/*
 * contexts: the servers that a user works with, by name, and which of them is in use.
 *
 * They are kept in a file of the user that nobody else may read, since it holds tokens. A token
 * belongs to the server that it was given for and is never sent to another one.
 *
 * Ownership  struct contexts owns its texts; contexts_fini frees them.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/attrs.h"
#include "base/err.h"

struct context {
    char *name;
    char *server;
    char *token;   /* "": none */
    char *ca_file; /* "": whom the system trusts */
};

struct contexts {
    struct context *items; /* by name */
    size_t count;
    char *current; /* name of the one in use; "" or NULL: none */
};

/* Of the user whose environment that is; heap. */
NODISCARD char *contexts_path(const char *(*environment)(void *context, const char *name),
                              void *context);

/*
 * Without a file there are none.
 *
 *   STATUS_DENIED   others may read it
 *   STATUS_INVALID  it does not hold contexts
 */
NODISCARD enum status contexts_load(const char *path, struct contexts *out, struct err *err);
NODISCARD enum status contexts_save(const char *path, const struct contexts *contexts,
                                    struct err *err);
void contexts_fini(struct contexts *contexts); /* twice is fine */

/* NULL: there is none of that name. */
const struct context *contexts_find(const struct contexts *contexts, const char *name);
/* Whether two URLs name the same server; slashes at the end make no difference. */
bool contexts_is_same_server(const char *one, const char *other);
/* The one for a server, whatever its name is; NULL: none. */
const struct context *contexts_find_server(const struct contexts *contexts, const char *server);
/* The same, or STATUS_NOT_FOUND with the nearest name. */
NODISCARD enum status contexts_need(const struct contexts *contexts, const char *name,
                                    const struct context **out, struct err *err);

/* Copied; one of the same name is replaced. STATUS_INVALID: its name is none. */
NODISCARD enum status contexts_add(struct contexts *contexts, const struct context *context,
                                   struct err *err);
/* The one in use is not in use any more afterwards. It must be there. */
void contexts_remove(struct contexts *contexts, const char *name);
/* "" for none. */
void contexts_use(struct contexts *contexts, const char *name);
