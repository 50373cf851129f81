-- The state of one Eider, on SQLite. States, kinds and reasons are the numbers of the
-- enumerations in src/model; instants are microseconds since 1970 UTC.

CREATE TABLE store (
    id            INTEGER PRIMARY KEY CHECK (id = 1),
    uuid          TEXT    NOT NULL,
    epoch         INTEGER NOT NULL, -- rises when a backup is restored
    schema        INTEGER NOT NULL, -- newest migration applied
    oldest_schema INTEGER NOT NULL, -- a binary that knows less than this must not write
    next_run      INTEGER NOT NULL, -- runs have short numbers, since people type them
    next_task     INTEGER NOT NULL, -- task ids are handed out in blocks
    created_at_us INTEGER NOT NULL
);

CREATE TABLE host (
    id            INTEGER PRIMARY KEY,
    maker         INTEGER NOT NULL, -- the host's part of the ids it makes
    name          TEXT    NOT NULL,
    pid           INTEGER NOT NULL,
    boot          TEXT    NOT NULL,
    kind          TEXT    NOT NULL, -- foreground | daemon
    slots         INTEGER NOT NULL,
    started_at_us INTEGER NOT NULL,
    ended_at_us   INTEGER
);

CREATE TABLE dag (
    id            INTEGER PRIMARY KEY,
    dag_id        TEXT    NOT NULL UNIQUE,
    namespace     TEXT    NOT NULL,
    title         TEXT,
    version       INTEGER NOT NULL, -- the newest
    created_at_us INTEGER NOT NULL,
    updated_at_us INTEGER NOT NULL
);

CREATE TABLE version (
    id            INTEGER PRIMARY KEY,
    dag           INTEGER NOT NULL REFERENCES dag (id),
    number        INTEGER NOT NULL,
    hash          TEXT    NOT NULL,
    canonical     TEXT    NOT NULL, -- what runs
    source        TEXT    NOT NULL, -- what the author wrote
    places        TEXT    NOT NULL, -- where templates stand in the source
    path          TEXT    NOT NULL,
    created_at_us INTEGER NOT NULL,
    UNIQUE (dag, number),
    UNIQUE (dag, hash)
);

CREATE TABLE run (
    id            INTEGER PRIMARY KEY,
    dag           INTEGER NOT NULL REFERENCES dag (id),
    version       INTEGER NOT NULL REFERENCES version (id),
    run_id        TEXT    NOT NULL,
    namespace     TEXT    NOT NULL,
    kind          TEXT    NOT NULL, -- manual | scheduled | backfill
    state         INTEGER NOT NULL,
    scope         INTEGER NOT NULL, -- who may claim its tasks: 0 any host, else one run's own
    logical_at_us INTEGER NOT NULL,
    interval_start_us INTEGER NOT NULL,
    interval_end_us   INTEGER NOT NULL,
    params        TEXT    NOT NULL,
    conf          TEXT    NOT NULL,
    note          TEXT    NOT NULL,
    actor         TEXT    NOT NULL,
    first_task    INTEGER NOT NULL, -- id of the task with node number 0
    cancel_asked  INTEGER NOT NULL DEFAULT 0,
    open_main     INTEGER NOT NULL, -- tasks not final
    open_finally  INTEGER NOT NULL,
    active        INTEGER NOT NULL DEFAULT 0, -- tasks running now
    failures      INTEGER NOT NULL DEFAULT 0, -- task verdicts that make the run fail
    created_at_us INTEGER NOT NULL,
    started_at_us INTEGER,
    ended_at_us   INTEGER,
    row_version   INTEGER NOT NULL DEFAULT 0,
    UNIQUE (dag, run_id)
);
CREATE UNIQUE INDEX run_logical ON run (dag, logical_at_us) WHERE kind <> 'manual';
CREATE INDEX run_date ON run (dag, logical_at_us);
CREATE INDEX run_active ON run (id) WHERE state IN (0, 1);

-- Ids of one run follow one another: first_task + node number. Instances of a mapped task
-- have a block of their own, instance_base + map index, so no index is needed to find them.
CREATE TABLE task (
    id            INTEGER PRIMARY KEY,
    run           INTEGER NOT NULL,
    node          INTEGER NOT NULL,
    map_index     INTEGER NOT NULL, -- -1: not an instance
    generation    INTEGER NOT NULL,
    state         INTEGER NOT NULL,
    attempt       INTEGER NOT NULL,
    nonce         BLOB,             -- of the claim that holds or held the attempt
    host          INTEGER,
    failures      INTEGER NOT NULL, -- retry budget used in this generation
    losses        INTEGER NOT NULL, -- owners lost in this generation
    parents       INTEGER NOT NULL, -- of an expanded mapped task: its instances
    p_success     INTEGER NOT NULL,
    p_failed      INTEGER NOT NULL,
    p_upstream    INTEGER NOT NULL,
    p_skipped     INTEGER NOT NULL,
    p_removed     INTEGER NOT NULL,
    instance_base INTEGER,
    inserted      INTEGER,          -- instances that have a row
    due_at_us     INTEGER,
    queued_at_us  INTEGER,
    started_at_us INTEGER,
    ended_at_us   INTEGER,
    reason        INTEGER NOT NULL,
    exit_code     INTEGER,
    detail        TEXT,
    label         TEXT,
    log_bytes     INTEGER,
    cpu_ms        INTEGER,
    rss_kb        INTEGER,
    row_version   INTEGER NOT NULL
);

-- Which blocks of task ids belong to a run: its own, and one for each expansion of a mapped task.
CREATE TABLE block (
    run   INTEGER NOT NULL,
    first INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (run, first)
) WITHOUT ROWID;

-- Attempts that were followed by another; the current one lives in the task row.
CREATE TABLE attempt (
    task          INTEGER NOT NULL,
    attempt       INTEGER NOT NULL,
    generation    INTEGER NOT NULL,
    state         INTEGER NOT NULL, -- how it ended, as if it had been the last
    nonce         BLOB,
    host          INTEGER,
    queued_at_us  INTEGER,
    started_at_us INTEGER,
    ended_at_us   INTEGER,
    reason        INTEGER NOT NULL,
    exit_code     INTEGER,
    detail        TEXT,
    log_bytes     INTEGER,
    cpu_ms        INTEGER,
    rss_kb        INTEGER,
    PRIMARY KEY (task, attempt)
) WITHOUT ROWID;

-- Claimable work, in the order of claiming: urgency, then age of the run.
CREATE TABLE ready (
    scope INTEGER NOT NULL,
    class INTEGER NOT NULL, -- 0 needs a process, 1 runs inside the worker
    rank  INTEGER NOT NULL, -- minus priority
    run   INTEGER NOT NULL,
    task  INTEGER NOT NULL,
    queue TEXT    NOT NULL,
    PRIMARY KEY (scope, class, rank, run, task)
) WITHOUT ROWID;

-- Tasks that wait because their run is at its limit of active tasks (state scheduled).
CREATE TABLE gate (
    run  INTEGER NOT NULL,
    rank INTEGER NOT NULL,
    task INTEGER NOT NULL,
    PRIMARY KEY (run, rank, task)
) WITHOUT ROWID;

-- Tasks that become claimable at an instant.
CREATE TABLE timer (
    scope     INTEGER NOT NULL,
    due_at_us INTEGER NOT NULL,
    task      INTEGER NOT NULL,
    PRIMARY KEY (scope, due_at_us, task)
) WITHOUT ROWID;

-- Mapped tasks whose instances do not all have rows yet.
CREATE TABLE expansion (
    scope INTEGER NOT NULL,
    task  INTEGER NOT NULL,
    PRIMARY KEY (scope, task)
) WITHOUT ROWID;

-- What each host holds.
CREATE TABLE running (
    host INTEGER NOT NULL,
    task INTEGER NOT NULL,
    PRIMARY KEY (host, task)
) WITHOUT ROWID;

CREATE TABLE value (
    task  INTEGER NOT NULL,
    key   TEXT    NOT NULL,
    json  TEXT,             -- the value, or NULL when it was spilled
    bytes INTEGER NOT NULL, -- its size
    PRIMARY KEY (task, key)
) WITHOUT ROWID;

CREATE TABLE event (
    id          INTEGER PRIMARY KEY,
    at_us       INTEGER NOT NULL,
    kind        INTEGER NOT NULL,
    run         INTEGER,
    task        INTEGER,
    row_version INTEGER,
    old_state   INTEGER,
    new_state   INTEGER,
    generation  INTEGER,
    attempt     INTEGER,
    nonce       BLOB,
    actor       TEXT,
    reason      INTEGER,
    data        TEXT
);
CREATE INDEX event_run ON event (run, id);
