#pragma once
/*
 * vault_scope: what templates see of a vault, the roots `var`, `conn` and `secrets`.
 *
 *   var.value.NAME, var.json.NAME, var.value.get('NAME', otherwise)
 *   conn.NAME.host, and the other members of model/connection.h; conn_type is type, uri is all of
 * it secrets.NAME
 *
 * Secrets, passwords and what else is secret in a connection are given only where `may_see`. What
 * is given is noted in `seen`, so that it can be hidden in whatever comes of it.
 */
#include "model/template.h"
#include "store/vault.h"

/* Secret texts, in an arena, closed by NULL; zero with an arena is empty. */
struct vault_seen {
    struct arena *arena;
    const char **items;
    size_t count;
    size_t capacity;
};

void vault_seen_add(struct vault_seen *seen, const char *text, size_t length);
/* Every secret of it. */
void vault_seen_add_connection(struct vault_seen *seen, const struct connection *connection);
/* If `name` is the variable of a secret or connection, what is secret in its value. */
void vault_seen_add_variable(struct vault_seen *seen, const char *name, const char *value);
/* NULL when there are none. */
const char *const *vault_seen_list(const struct vault_seen *seen);
/* Make the texts unreadable and forget them. */
void vault_seen_wipe(struct vault_seen *seen);
/* The text with every one of them hidden, in the arena; as much as can be masked. */
const char *vault_seen_mask(const struct vault_seen *seen, const char *text);

struct vault_scope {
    struct vault *vault; /* NULL: nothing is known */
    const char *space;
    bool may_see;
    bool shows_only;         /* secrets are "***", and need no key */
    struct vault_seen *seen; /* NULL: nobody hides them afterwards */
    size_t given;            /* how many secrets were given */
    size_t given_before;     /* the output that is being made */
    bool is_tainted;         /* one was given outside of an output: any may hold it */
};

bool vault_scope_has_root(const char *name);

/* The members of template_scope; `context` is a struct vault_scope. */
NODISCARD enum status vault_scope_lookup(void *context, const char *const *path, size_t count,
                                         size_t *out_used, json_t **out, struct err *err);
bool vault_scope_is_function(void *context, const char *const *path, size_t count);
NODISCARD enum status vault_scope_call(void *context, const char *const *path, size_t count,
                                       json_t *args, json_t *named, json_t **out, struct err *err);

/*
 * What a template makes of a secret is one as well: an output that looked one up is noted, as it
 * may have been cut, joined or written in other letters.
 */
void vault_scope_before_output(void *context);
void vault_scope_after_output(void *context, const char *text, size_t length);

/* For those who render nothing else, such as `more` of alert_render. */
struct template_scope vault_scope_names(struct vault_scope *scope);
