-- Runs from events: datasets and their updates, what each DAG waits for, and what runs were made of.

CREATE TABLE asset (
    id            INTEGER PRIMARY KEY,
    uri           TEXT    NOT NULL UNIQUE,
    created_at_us INTEGER NOT NULL
);

CREATE TABLE asset_event (
    id        INTEGER PRIMARY KEY,
    asset     INTEGER NOT NULL,
    at_us     INTEGER NOT NULL,
    run       INTEGER NOT NULL DEFAULT 0,  -- that wrote it; 0: none did
    task_id   TEXT,
    map_index INTEGER NOT NULL DEFAULT -1,
    actor     TEXT,                        -- who said so, where no task did
    extra     TEXT    NOT NULL DEFAULT '{}'
);
CREATE INDEX asset_event_asset ON asset_event (asset, id);

-- DAGs whose newest version starts by events. Whoever makes runs of one has locked its row.
CREATE TABLE trigger_dag (
    dag         INTEGER PRIMARY KEY,
    keeps       INTEGER NOT NULL,           -- what happens while it is paused is made up for
    paused      INTEGER NOT NULL DEFAULT 0,
    row_version INTEGER NOT NULL DEFAULT 0
);

-- What they wait for. Kinds: 0 dataset (URI), 1 end of a DAG's run (its id), 2 file (absolute path
-- or pattern), 3 webhook (name).
CREATE TABLE trigger_watch (
    dag       INTEGER NOT NULL,
    kind      INTEGER NOT NULL,
    name      TEXT    NOT NULL,
    states    INTEGER NOT NULL DEFAULT 0, -- of the run that ends, a bit each
    settle_ms INTEGER NOT NULL DEFAULT 0, -- how long a file must not change
    since_us  INTEGER NOT NULL,           -- older files are none that arrived
    PRIMARY KEY (dag, kind, name)
) WITHOUT ROWID;
CREATE INDEX trigger_watch_name ON trigger_watch (kind, name);

-- What happened and no run was made of yet, once for each DAG that waits for it.
CREATE TABLE trigger_pending (
    id     INTEGER PRIMARY KEY,
    dag    INTEGER NOT NULL,
    kind   INTEGER NOT NULL, -- 0 or 1, as in trigger_watch
    source INTEGER NOT NULL, -- asset_event, or run
    name   TEXT    NOT NULL,
    state  INTEGER NOT NULL, -- of the run that ended
    at_us  INTEGER NOT NULL,
    seen   INTEGER NOT NULL  -- it was looked at, and something else is still missing
);
CREATE INDEX trigger_pending_dag ON trigger_pending (dag, kind, seen, id);
CREATE INDEX trigger_pending_new ON trigger_pending (dag) WHERE seen = 0;

-- What a run was made of.
CREATE TABLE run_cause (
    run    INTEGER NOT NULL,
    kind   INTEGER NOT NULL, -- as in trigger_watch
    source INTEGER NOT NULL, -- asset_event, run, file_arrival or webhook
    name   TEXT    NOT NULL,
    state  INTEGER NOT NULL,
    at_us  INTEGER NOT NULL,
    PRIMARY KEY (run, kind, source)
) WITHOUT ROWID;

-- Files that arrived, each once for each DAG that waits for it.
CREATE TABLE file_arrival (
    id       INTEGER PRIMARY KEY,
    dag      INTEGER NOT NULL,
    path     TEXT    NOT NULL,
    mtime_us INTEGER NOT NULL,
    bytes    INTEGER NOT NULL,
    inode    INTEGER NOT NULL,
    at_us    INTEGER NOT NULL,
    run      INTEGER NOT NULL, -- 0: it was refused
    UNIQUE (dag, path, mtime_us, bytes, inode)
);

CREATE TABLE webhook (
    id            INTEGER PRIMARY KEY,
    dag           INTEGER NOT NULL,
    name          TEXT    NOT NULL,
    token_hash    TEXT    NOT NULL UNIQUE, -- SHA-256; the token itself is shown once
    actor         TEXT    NOT NULL,
    created_at_us INTEGER NOT NULL,
    used_at_us    INTEGER,
    calls         INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX webhook_dag ON webhook (dag, name);

-- Calls that named a key: the same key again is answered with the same run.
CREATE TABLE webhook_call (
    webhook INTEGER NOT NULL,
    key     TEXT    NOT NULL,
    run     INTEGER NOT NULL,
    at_us   INTEGER NOT NULL,
    PRIMARY KEY (webhook, key)
) WITHOUT ROWID;

-- Some DAG waits for the end of this run.
ALTER TABLE run ADD COLUMN awaited INTEGER NOT NULL DEFAULT 0;

-- One run per date is what a timetable promises; events come when they come.
DROP INDEX IF EXISTS run_logical;
CREATE UNIQUE INDEX run_logical ON run (dag, logical_at_us) WHERE kind IN ('scheduled', 'backfill');
