-- What people set for their DAGs: variables, connections, secrets.
-- Each is found by (namespace, name), and else by ('default', name).

CREATE TABLE variable (
    namespace     TEXT    NOT NULL,
    name          TEXT    NOT NULL,
    value         TEXT    NOT NULL,
    doc           TEXT,
    actor         TEXT    NOT NULL, -- who changed it last
    updated_at_us INTEGER NOT NULL,
    PRIMARY KEY (namespace, name)
) WITHOUT ROWID;

CREATE TABLE connection (
    namespace     TEXT    NOT NULL,
    name          TEXT    NOT NULL,
    shown         TEXT    NOT NULL, -- JSON; its secrets are ***
    sealed        TEXT,             -- all of it; see os/secret_box.h. NULL: it has no secrets
    doc           TEXT,
    actor         TEXT    NOT NULL,
    updated_at_us INTEGER NOT NULL,
    PRIMARY KEY (namespace, name)
) WITHOUT ROWID;

CREATE TABLE secret (
    namespace     TEXT    NOT NULL,
    name          TEXT    NOT NULL,
    sealed        TEXT    NOT NULL,
    doc           TEXT,
    actor         TEXT    NOT NULL,
    updated_at_us INTEGER NOT NULL,
    PRIMARY KEY (namespace, name)
) WITHOUT ROWID;
