-- Many hosts, queues, plain jobs, dead letters, logs in the store.

ALTER TABLE store ADD COLUMN fleet TEXT NOT NULL DEFAULT 'default'; -- who may join

ALTER TABLE host ADD COLUMN version        TEXT    NOT NULL DEFAULT '';
ALTER TABLE host ADD COLUMN machine        TEXT    NOT NULL DEFAULT ''; -- its network name
ALTER TABLE host ADD COLUMN roles          TEXT    NOT NULL DEFAULT 'worker'; -- separated by blanks
ALTER TABLE host ADD COLUMN labels         TEXT    NOT NULL DEFAULT ''; -- sorted, separated by blanks
ALTER TABLE host ADD COLUMN queues         TEXT    NOT NULL DEFAULT ''; -- the same; empty: all
ALTER TABLE host ADD COLUMN draining       INTEGER NOT NULL DEFAULT 0; -- claims nothing more
ALTER TABLE host ADD COLUMN lease_ms       INTEGER NOT NULL DEFAULT 0; -- 0: its file lock tells
ALTER TABLE host ADD COLUMN renewed_at_us  INTEGER NOT NULL DEFAULT 0;
ALTER TABLE host ADD COLUMN lease_until_us INTEGER NOT NULL DEFAULT 0;
ALTER TABLE host ADD COLUMN fate           TEXT    NOT NULL DEFAULT ''; -- left | lost

CREATE TABLE queue (
    id            INTEGER PRIMARY KEY,
    name          TEXT    NOT NULL UNIQUE,
    priority      INTEGER NOT NULL DEFAULT 0, -- higher ones are served first
    max_running   INTEGER NOT NULL DEFAULT 0, -- on all hosts together; 0: no bound
    soft_pending  INTEGER NOT NULL DEFAULT 0, -- warn a producer from here on; 0: never
    hard_pending  INTEGER NOT NULL DEFAULT 0, -- refuse from here on; 0: never
    paused        INTEGER NOT NULL DEFAULT 0,
    created_at_us INTEGER NOT NULL
);

-- A queue, and what labels a host must have: the unit that a host claims from or leaves alone.
CREATE TABLE lane (
    id     INTEGER PRIMARY KEY,
    queue  INTEGER NOT NULL REFERENCES queue (id),
    labels TEXT    NOT NULL, -- sorted, separated by blanks
    UNIQUE (queue, labels)
);

INSERT INTO queue (id, name, created_at_us) SELECT 1, 'default', created_at_us FROM store;
INSERT OR IGNORE INTO queue (id, name, created_at_us) VALUES (1, 'default', 0);
INSERT OR IGNORE INTO queue (name, created_at_us) SELECT DISTINCT queue, 0 FROM ready;
INSERT INTO lane (queue, labels) SELECT id, '' FROM queue ORDER BY id;

-- A plain job is a task without a run: its row in task has run 0 and this id.
CREATE TABLE job (
    id            INTEGER PRIMARY KEY,
    namespace     TEXT    NOT NULL,
    queue         INTEGER NOT NULL,
    lane          INTEGER NOT NULL,
    handler       TEXT    NOT NULL,
    payload       TEXT    NOT NULL, -- JSON
    dedupe        TEXT,             -- one job per namespace and key
    rank          INTEGER NOT NULL, -- minus priority
    retries       INTEGER NOT NULL,
    retry_delay_ms INTEGER NOT NULL, -- -1: the usual growing delay
    timeout_ms    INTEGER NOT NULL, -- 0: none
    finish_on_lost_lease INTEGER NOT NULL,
    cancel_asked  INTEGER NOT NULL DEFAULT 0,
    actor         TEXT    NOT NULL,
    created_at_us INTEGER NOT NULL,
    result        TEXT,             -- JSON, of a completed one
    error         TEXT              -- of the last attempt that failed
);
CREATE UNIQUE INDEX job_dedupe ON job (namespace, dedupe) WHERE dedupe IS NOT NULL;
CREATE INDEX job_queue ON job (queue, id);

-- Work that was given up: failed for good, or put aside because it kills its owners.
CREATE TABLE dead (
    task    INTEGER PRIMARY KEY,
    run     INTEGER NOT NULL,
    lane    INTEGER NOT NULL,
    at_us   INTEGER NOT NULL,
    reason  INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    detail  TEXT
);

-- Bytes kept in the store: logs of attempts, in pieces; see blob/.
CREATE TABLE chunk (
    kind     INTEGER NOT NULL,
    k1       INTEGER NOT NULL,
    k2       INTEGER NOT NULL,
    k3       INTEGER NOT NULL,
    k4       INTEGER NOT NULL,
    start_at INTEGER NOT NULL, -- offset of the first byte
    length   INTEGER NOT NULL, -- as it was written
    form     INTEGER NOT NULL, -- 0 as it is, 1 deflated, 2 the end: nothing follows
    bytes    BLOB    NOT NULL,
    PRIMARY KEY (kind, k1, k2, k3, k4, start_at, form)
) WITHOUT ROWID;

ALTER TABLE run ADD COLUMN token TEXT NOT NULL DEFAULT ''; -- tells a repeated request from another

-- Claimable work, in the order of claiming: urgency, then age of the run or job.
ALTER TABLE ready RENAME TO ready_before;
CREATE TABLE ready (
    scope  INTEGER NOT NULL,
    class  INTEGER NOT NULL, -- 0 needs a process, 1 runs inside the worker
    lane   INTEGER NOT NULL,
    rank   INTEGER NOT NULL, -- minus priority
    age_us INTEGER NOT NULL, -- when its run or job was created
    task   INTEGER NOT NULL,
    run    INTEGER NOT NULL, -- 0: a job
    PRIMARY KEY (scope, class, lane, rank, age_us, task)
) WITHOUT ROWID;
INSERT INTO ready (scope, class, lane, rank, age_us, task, run)
    SELECT b.scope, b.class, l.id, b.rank, r.created_at_us, b.task, b.run
    FROM ready_before b JOIN run r ON r.id = b.run JOIN queue q ON q.name = b.queue
    JOIN lane l ON l.queue = q.id AND l.labels = '';
DROP TABLE ready_before;

ALTER TABLE running ADD COLUMN lane INTEGER NOT NULL DEFAULT 1;
