-- What people set for their DAGs: variables, connections, secrets; explained in sql/sqlite.

CREATE TABLE variable (
    namespace     TEXT   NOT NULL,
    name          TEXT   NOT NULL,
    value         TEXT   NOT NULL,
    doc           TEXT,
    actor         TEXT   NOT NULL,
    updated_at_us BIGINT NOT NULL,
    PRIMARY KEY (namespace, name)
);

CREATE TABLE connection (
    namespace     TEXT   NOT NULL,
    name          TEXT   NOT NULL,
    shown         TEXT   NOT NULL,
    sealed        TEXT,
    doc           TEXT,
    actor         TEXT   NOT NULL,
    updated_at_us BIGINT NOT NULL,
    PRIMARY KEY (namespace, name)
);

CREATE TABLE secret (
    namespace     TEXT   NOT NULL,
    name          TEXT   NOT NULL,
    sealed        TEXT   NOT NULL,
    doc           TEXT,
    actor         TEXT   NOT NULL,
    updated_at_us BIGINT NOT NULL,
    PRIMARY KEY (namespace, name)
);
