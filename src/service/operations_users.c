/*
 * Rows of who may do what: users, tokens and namespaces.
 */
#include "service/operation_rows.h"
#include "service/operations.h"

/* clang-format off */
#define NAMED {"name", FIELD_STRING, true, "its name"}
static const struct operation_field LIST_NAMESPACES[] = {
    {"namespaces", FIELD_ARRAY, true, "by name, with how much is in each"}, TOTAL,
};
static const struct operation_field RECORD_NAMESPACE[] = {
    NAMED,
    {"dags", FIELD_INTEGER, true, "of its DAGs"},
    {"pools", FIELD_INTEGER, true, "of its own pools"},
    {"variables", FIELD_INTEGER, true, "in the store"},
    {"connections", FIELD_INTEGER, true, "in the store"},
    {"secrets", FIELD_INTEGER, true, "in the store"},
    {"doc", FIELD_STRING, false, "what it is for"},
    {"created_by", FIELD_STRING, false, "who made it; null: it is there since something is in it"},
    {"created_at", FIELD_INSTANT, false, "when"},
};
static const struct operation_field REQUEST_NAMESPACE_ADD[] = {
    NAMED, {"doc", FIELD_STRING, false, "what it is for"}, REASON,
};
static const struct operation_field REQUEST_NAMESPACE[] = {NAMED, REASON};
static const struct operation_field RESPONSE_NAMESPACE_REMOVE[] = {
    NAMED, {"removed", FIELD_BOOLEAN, true, "it is gone"},
};
#define ROLES {"roles", FIELD_STRING, false, "the grants as words"}
#define GRANTS                                                                                     \
    {"grants", FIELD_STRINGS, false, "roles by namespace, as sales=editor or *=viewer: viewer, operator, editor, admin"}
static const struct operation_field RECORD_USER[] = {
    NAMED, ROLES,
    {"grants", FIELD_ARRAY, true, "namespace (* for all) and role of each"},
    {"has_password", FIELD_BOOLEAN, true, "can sign in by one"},
    {"disabled", FIELD_BOOLEAN, true, "is let in no more"},
    {"created_by", FIELD_STRING, true, "who made it"},
    {"created_at", FIELD_INSTANT, true, "when"},
};
static const struct operation_field LIST_USERS[] = {
    {"users", FIELD_ARRAY, true, "by name"}, TOTAL,
};
static const struct operation_field REQUEST_USER_ADD[] = {
    NAMED, GRANTS,
    {"password", FIELD_STRING, false, "at least 8 bytes; without one only tokens let in"},
    {"disabled", FIELD_BOOLEAN, false, "not let in for now"},
    REASON,
};
static const struct operation_field REQUEST_USER_SET[] = {
    NAMED, GRANTS,
    {"password", FIELD_STRING, false, "a new one, which ends all sessions"},
    {"old_password", FIELD_STRING, false, "of who changes a password of one's own"},
    {"disabled", FIELD_BOOLEAN, false, "let in no more; or again"},
    REASON,
};
static const struct operation_field REQUEST_USER_REMOVE[] = {NAMED, REASON, DRY_RUN};
#define TOKEN_RECORD                                                                               \
    {"id", FIELD_ID, true, "its number"},                                                          \
    NAMED,                                                                                         \
    {"owner", FIELD_STRING, false, "whose it is; null: nobody's, its own roles count"},            \
    {"kind", FIELD_STRING, true, "person, or worker"},                                             \
    {"roles", FIELD_STRING, false, "no more than these; null: all that its owner may"},            \
    {"queues", FIELD_STRINGS, true, "of a worker: what it may serve"},                             \
    {"expires_at", FIELD_INSTANT, false, "from then on it is void; null: never"}
static const struct operation_field LIST_TOKENS[] = {
    {"tokens", FIELD_ARRAY, true, "newest first, never the tokens themselves; with created_by, created_at and last_used (about)"}, TOTAL,
};
static const struct operation_field REQUEST_TOKEN_ADD[] = {
    NAMED,
    {"owner", FIELD_STRING, false, "whose it is; one's own by default"},
    {"grants", FIELD_STRINGS, false, "no more than these roles, as sales=editor or *=viewer; all that its owner may by default"},
    {"queues", FIELD_STRINGS, false, "makes it a worker's, which serves these queues and may nothing else; * for all"},
    {"expires_in", FIELD_STRING, false, "such as 90d; never by default"},
    REASON,
};
static const struct operation_field RESPONSE_TOKEN_ADD[] = {
    TOKEN_RECORD, {"token", FIELD_STRING, true, "the token, which is shown only now"},
};
static const struct operation_field REQUEST_TOKEN[] = {{"id", FIELD_ID, true, "its number"}, REASON};
static const struct operation_field RESPONSE_TOKEN_REMOVE[] = {
    {"id", FIELD_ID, true, "its number"}, {"removed", FIELD_BOOLEAN, true, "it is void now"},
};

static const struct operation ROWS[] = {
    {"namespace.add", "make a namespace", PERMISSION_ADMIN,
        FIELDS(REQUEST_NAMESPACE_ADD), FIELDS(RECORD_NAMESPACE), op_namespace_add, SCOPE_ALL},
    {"namespace.list", "namespaces and what is in them", PERMISSION_VIEWER,
        NO_FIELDS, FIELDS(LIST_NAMESPACES), op_namespace_list, SCOPE_LIST},
    {"namespace.remove", "remove a namespace that is empty", PERMISSION_ADMIN,
        FIELDS(REQUEST_NAMESPACE), FIELDS(RESPONSE_NAMESPACE_REMOVE), op_namespace_remove, SCOPE_ALL},
    {"token.add", "make a token for a program or a worker", PERMISSION_VIEWER,
        FIELDS(REQUEST_TOKEN_ADD), FIELDS(RESPONSE_TOKEN_ADD), op_token_add, SCOPE_ANY},
    {"token.list", "tokens, without the tokens themselves", PERMISSION_VIEWER,
        NO_FIELDS, FIELDS(LIST_TOKENS), op_token_list, SCOPE_ANY},
    {"token.remove", "take a token back", PERMISSION_VIEWER,
        FIELDS(REQUEST_TOKEN), FIELDS(RESPONSE_TOKEN_REMOVE), op_token_remove, SCOPE_ANY},
    {"user.add", "let somebody use the API", PERMISSION_ADMIN,
        FIELDS(REQUEST_USER_ADD), FIELDS(RECORD_USER), op_user_add, SCOPE_ALL},
    {"user.list", "who may use the API, and what each may do", PERMISSION_ADMIN,
        NO_FIELDS, FIELDS(LIST_USERS), op_user_list, SCOPE_ALL},
    {"user.remove", "let somebody in no more, with all tokens of that one", PERMISSION_ADMIN,
        FIELDS(REQUEST_USER_REMOVE), FIELDS(RECORD_USER), op_user_remove, SCOPE_ALL},
    {"user.set", "change roles or the password of a user", PERMISSION_VIEWER,
        FIELDS(REQUEST_USER_SET), FIELDS(RECORD_USER), op_user_set, SCOPE_ANY},
};
/* clang-format on */

const struct operation_table OPERATIONS_USERS = {ROWS, ARRAY_LEN(ROWS), &OPERATIONS_LISTS};
