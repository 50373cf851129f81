#include "store/postgres/pg_errors.h"

#include <string.h>

enum { OLDEST_SERVER = 13 };

/* The first match wins: single states before their class. */
static const struct pg_error STATES[] = {
    {"08001", STATUS_UNREACHABLE, NULL},
    {"08004", STATUS_UNREACHABLE, NULL},
    {"08", STATUS_BUSY, NULL},
    {"21", STATUS_INVALID, NULL},
    {"22", STATUS_INVALID, NULL},
    {"23", STATUS_CONFLICT, NULL},
    {"25006", STATUS_BUSY, "the server is read-only; a writable one is looked for"},
    {"25", STATUS_BUSY, NULL},
    {"26000", STATUS_BUSY, NULL}, /* a pooler has given us another session */
    {"28", STATUS_DENIED, "check the user and the password of the store's URL"},
    {"3D000", STATUS_INVALID, "create the database, or correct its name in the store's URL"},
    {"3F000", STATUS_INVALID, "create the schema, or correct search_path"},
    {"40", STATUS_BUSY, NULL},
    {"42501", STATUS_DENIED, "grant the user of the store's URL the right to do this"},
    {"42P05", STATUS_BUSY, NULL}, /* as 26000 */
    {"42", STATUS_INVALID, NULL},
    {"53100", STATUS_FULL, "free space on the disk of the server"},
    {"53", STATUS_BUSY, NULL},
    {"54", STATUS_LIMIT, NULL},
    {"55P03", STATUS_BUSY, NULL},
    {"55", STATUS_BUSY, NULL},
    {"57014", STATUS_BUSY, NULL},
    {"57P04", STATUS_INVALID, "the database was dropped"},
    {"57", STATUS_BUSY, NULL},
    {"0A", STATUS_INVALID, NULL},
    {"3B", STATUS_INVALID, NULL},
    {"XX001", STATUS_CORRUPT, "the server found its files damaged: restore a backup"},
    {"XX002", STATUS_CORRUPT, "the server found an index damaged: REINDEX, or restore a backup"},
};

static const struct pg_error WORDS[] = {
    {"password authentication failed", STATUS_DENIED,
     "check the user and the password of the store's URL"},
    {"no password supplied", STATUS_DENIED,
     "give a password in the store's URL, in ~/.pgpass or in PGPASSWORD"},
    {"authentication failed", STATUS_DENIED, "check the user of the store's URL"},
    {"no pg_hba.conf entry", STATUS_DENIED, "allow this machine and user in pg_hba.conf"},
    {"role \"", STATUS_DENIED, "create the user, or correct its name in the store's URL"},
    {"permission denied for database", STATUS_DENIED, "grant CONNECT on the database"},
    {"database \"", STATUS_INVALID, "create the database, or correct its name in the store's URL"},
    {"starting up", STATUS_BUSY, NULL},
    {"shutting down", STATUS_BUSY, NULL},
    {"in recovery mode", STATUS_BUSY, NULL},
    {"not yet accepting connections", STATUS_BUSY, NULL},
    {"too many clients", STATUS_BUSY, "raise max_connections, or use a pooler"},
    {"connection slots are reserved", STATUS_BUSY, "raise max_connections, or use a pooler"},
    {"too many connections", STATUS_BUSY, "raise the connection limit, or use a pooler"},
    {"session is read-only", STATUS_BUSY,
     "the server is read-only; name a writable one in the store's URL"},
    {"invalid port number", STATUS_INVALID, "correct the port in the store's URL"},
    {"invalid integer value", STATUS_INVALID, "correct it in the store's URL"},
    {"invalid sslmode", STATUS_INVALID, "correct it in the store's URL"},
    {"Connection refused", STATUS_UNREACHABLE,
     "check that the server runs, and the host and port of the store's URL"},
    {"could not translate host name", STATUS_UNREACHABLE, "check the host of the store's URL"},
    {"timeout expired", STATUS_UNREACHABLE,
     "check that the server answers, and the host and port of the store's URL"},
};

static const struct pg_error OTHER_STATE = {"", STATUS_IO, NULL};
static const struct pg_error OTHER_WORDS = {"", STATUS_UNREACHABLE,
                                            "check the host and the port of the store's URL"};

const struct pg_error *pg_error_of_state(const char *sqlstate)
{
    for (size_t i = 0; sqlstate != NULL && i < ARRAY_LEN(STATES); i++)
        if (strncmp(sqlstate, STATES[i].match, strlen(STATES[i].match)) == 0)
            return &STATES[i];
    return &OTHER_STATE;
}

const struct pg_error *pg_error_of_connect(const char *words)
{
    for (size_t i = 0; i < ARRAY_LEN(WORDS); i++)
        if (strstr(words, WORDS[i].match) != NULL)
            return &WORDS[i];
    return &OTHER_WORDS;
}

enum status pg_version_check(int version, struct err *err)
{
    if (version / 10000 >= OLDEST_SERVER)
        return STATUS_OK;
    return err_set(err, STATUS_INVALID, "PostgreSQL %d is too old; %d or newer is needed",
                   version / 10000, OLDEST_SERVER);
}
