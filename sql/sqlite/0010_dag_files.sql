-- DAG files that hosts watch, what each of them offers, and the files that DAG versions carry.

ALTER TABLE dag ADD COLUMN filed   INTEGER NOT NULL DEFAULT 0; -- version that its file means
ALTER TABLE dag ADD COLUMN watched INTEGER NOT NULL DEFAULT 0; -- a host offered it from its folder
-- 0 nobody offers it any more, 1 it can be run, 2 one offer went and nobody looked for others yet
ALTER TABLE dag ADD COLUMN active  INTEGER NOT NULL DEFAULT 1;
UPDATE dag SET filed = version;
CREATE INDEX dag_doubtful ON dag (id) WHERE active = 2;

ALTER TABLE version ADD COLUMN actor TEXT NOT NULL DEFAULT ''; -- who made it

CREATE TABLE dag_file (
    id           INTEGER PRIMARY KEY,
    host         TEXT    NOT NULL, -- name of the host that has it
    path         TEXT    NOT NULL,
    size         INTEGER NOT NULL,
    mtime_ns     INTEGER NOT NULL,
    ctime_ns     INTEGER NOT NULL,
    inode        INTEGER NOT NULL,
    hash         TEXT    NOT NULL, -- of its bytes
    parts        TEXT    NOT NULL, -- JSON: [path, size, mtime_ns, ctime_ns, inode] of what it names
    problems     TEXT,             -- JSON: [line, column, text] each
    broken_at_us INTEGER,          -- since when it has problems
    UNIQUE (host, path)
);
CREATE INDEX dag_file_broken ON dag_file (host, path) WHERE problems IS NOT NULL;

-- Which DAGs a file had when it was last without problems.
CREATE TABLE dag_offer (
    dag  INTEGER NOT NULL REFERENCES dag (id),
    file INTEGER NOT NULL REFERENCES dag_file (id),
    PRIMARY KEY (dag, file)
) WITHOUT ROWID;
CREATE INDEX dag_offer_file ON dag_offer (file);

CREATE TABLE named_file (
    hash  TEXT NOT NULL PRIMARY KEY, -- SHA-256 of the bytes
    bytes BLOB NOT NULL
);

CREATE TABLE version_file (
    version INTEGER NOT NULL REFERENCES version (id),
    name    TEXT    NOT NULL, -- as the tasks write it
    hash    TEXT    NOT NULL REFERENCES named_file (hash),
    PRIMARY KEY (version, name)
) WITHOUT ROWID;
CREATE INDEX version_file_hash ON version_file (hash);
