-- DAG files that hosts watch, what each of them offers, and the files that DAG versions carry.

ALTER TABLE dag ADD COLUMN filed   BIGINT NOT NULL DEFAULT 0;
ALTER TABLE dag ADD COLUMN watched BIGINT NOT NULL DEFAULT 0;
ALTER TABLE dag ADD COLUMN active  BIGINT NOT NULL DEFAULT 1;
UPDATE dag SET filed = version;
CREATE INDEX dag_doubtful ON dag (id) WHERE active = 2;

ALTER TABLE version ADD COLUMN actor TEXT NOT NULL DEFAULT '';

CREATE TABLE dag_file (
    id           BIGINT PRIMARY KEY,
    host         TEXT   NOT NULL,
    path         TEXT   NOT NULL,
    size         BIGINT NOT NULL,
    mtime_ns     BIGINT NOT NULL,
    ctime_ns     BIGINT NOT NULL,
    inode        BIGINT NOT NULL,
    hash         TEXT   NOT NULL,
    parts        TEXT   NOT NULL,
    problems     TEXT,
    broken_at_us BIGINT,
    UNIQUE (host, path)
);
CREATE INDEX dag_file_broken ON dag_file (host, path) WHERE problems IS NOT NULL;

CREATE TABLE dag_offer (
    dag  BIGINT NOT NULL REFERENCES dag (id),
    file BIGINT NOT NULL REFERENCES dag_file (id),
    PRIMARY KEY (dag, file)
);
CREATE INDEX dag_offer_file ON dag_offer (file);

CREATE TABLE named_file (
    hash  TEXT  NOT NULL PRIMARY KEY,
    bytes BYTEA NOT NULL
);

CREATE TABLE version_file (
    version BIGINT NOT NULL REFERENCES version (id),
    name    TEXT   NOT NULL,
    hash    TEXT   NOT NULL REFERENCES named_file (hash),
    PRIMARY KEY (version, name)
);
CREATE INDEX version_file_hash ON version_file (hash);
