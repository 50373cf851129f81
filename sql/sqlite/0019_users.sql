-- Who may do what: people, their tokens and sessions, and the namespaces that were made.
-- Secrets are kept as hashes only: passwords by argon2id, all others by SHA-256, since they are
-- 256 bits of chance.

CREATE TABLE namespace (
    name          TEXT    PRIMARY KEY,
    doc           TEXT,
    actor         TEXT    NOT NULL,
    created_at_us INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE account (
    id            INTEGER PRIMARY KEY,
    name          TEXT    NOT NULL UNIQUE,
    password      TEXT,             -- NULL: nobody signs in by one
    grants        TEXT    NOT NULL, -- model/permission.h
    disabled      INTEGER NOT NULL,
    stamp         INTEGER NOT NULL, -- rises with every change: what was proven before is void
    actor         TEXT    NOT NULL, -- who made it
    created_at_us INTEGER NOT NULL
);

CREATE TABLE token (
    id            INTEGER PRIMARY KEY,
    hash          TEXT    NOT NULL UNIQUE,
    name          TEXT    NOT NULL,
    account       INTEGER,          -- whose it is; NULL: of nobody, so that its own grants count
    grants        TEXT,             -- no more than these; NULL: all that its owner may
    queues        TEXT,             -- of a worker: what it may serve, * for all; NULL: a person's
    actor         TEXT    NOT NULL,
    created_at_us INTEGER NOT NULL,
    expires_at_us INTEGER,
    used_at_us    INTEGER           -- about
);
CREATE INDEX token_account ON token (account);

CREATE TABLE session (
    hash          TEXT    PRIMARY KEY,
    account       INTEGER NOT NULL,
    created_at_us INTEGER NOT NULL,
    expires_at_us INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX session_account ON session (account);

-- The way in while there is nobody yet.
CREATE TABLE login_link (
    hash          TEXT    PRIMARY KEY,
    created_at_us INTEGER NOT NULL,
    expires_at_us INTEGER NOT NULL
) WITHOUT ROWID;
