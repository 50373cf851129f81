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

ALTER TABLE version ADD COLUMN timeout_ms INTEGER NOT NULL DEFAULT 0; -- of a whole run; 0: none

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
    cancel_asked  INTEGER NOT NULL DEFAULT 0, -- 1: its owner is to end the attempt
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

-- Jobs made by plain SQL, in the producer's own transaction:
--
--     INSERT INTO enqueue (queue, handler, payload) VALUES ('mail', 'send', '{"to": "me"}');
--
-- with priority, delay_ms, dedupe and retries where wanted. A dedupe key that is taken changes
-- nothing. Nobody is woken: hosts find the job with their next look. The check of the payload needs
-- a connection that trusts the schema, which is SQLite's default. Ids are those of base/id.h
-- with maker 4095, which no process has; only one program writes at a time, so that the next
-- number after the last one is free.
CREATE VIEW enqueue AS
    SELECT j.id, q.name AS queue, j.handler, j.payload, -j.rank AS priority, 0 AS delay_ms,
        j.dedupe, j.retries
    FROM job j JOIN queue q ON q.id = j.queue;

CREATE TRIGGER enqueue_insert INSTEAD OF INSERT ON enqueue
BEGIN
    SELECT RAISE(ABORT, 'there is no such queue; `eider queues set NAME` makes one')
        WHERE NOT EXISTS (SELECT 1 FROM queue q WHERE q.name = NEW.queue);
    SELECT RAISE(ABORT, 'a job needs a handler')
        WHERE coalesce(NEW.handler, '') = '';
    SELECT RAISE(ABORT, 'the payload is not JSON')
        WHERE NEW.payload IS NOT NULL AND NOT json_valid(NEW.payload);
    SELECT RAISE(ABORT, 'the payload has more than 1048576 bytes')
        WHERE length(CAST(NEW.payload AS BLOB)) > 1048576;
    SELECT RAISE(ABORT, 'delay_ms and retries are whole numbers, 0 or more; retries at most 1000')
        WHERE coalesce(typeof(NEW.delay_ms) NOT IN ('integer', 'null') OR NEW.delay_ms < 0, 0)
        OR coalesce(typeof(NEW.retries) NOT IN ('integer', 'null') OR NEW.retries < 0
            OR NEW.retries > 1000, 0);
    SELECT RAISE(ABORT, 'priority is a whole number from -1000000 to 1000000')
        WHERE coalesce(typeof(NEW.priority) NOT IN ('integer', 'null')
            OR abs(NEW.priority) > 1000000, 0);
    SELECT RAISE(ABORT, 'the dedupe key is taken by a job with another handler or payload')
        WHERE EXISTS (SELECT 1 FROM job j WHERE j.namespace = 'default' AND j.dedupe = NEW.dedupe
            AND (j.handler <> NEW.handler OR j.payload <> coalesce(NEW.payload, 'null')));
    SELECT RAISE(IGNORE)
        WHERE EXISTS (SELECT 1 FROM job j WHERE j.namespace = 'default' AND j.dedupe = NEW.dedupe);
    SELECT RAISE(ABORT, 'the queue is full: it takes no more jobs for now')
        WHERE EXISTS (SELECT 1 FROM queue q WHERE q.name = NEW.queue AND q.hard_pending > 0
            AND q.hard_pending <= (SELECT count(*) FROM ready r JOIN lane l ON l.id = r.lane
                WHERE l.queue = q.id));

    INSERT INTO job (id, namespace, queue, lane, handler, payload, dedupe, rank, retries,
            retry_delay_ms, timeout_ms, finish_on_lost_lease, actor, created_at_us)
        SELECT
            CASE WHEN last.id IS NULL THEN now.first
                WHEN last.id & 1023 < 1023 THEN last.id + 1
                ELSE (((last.id >> 22) + 1) << 22) | (4095 << 10) END,
            'default', q.id, l.id, NEW.handler, coalesce(NEW.payload, 'null'), NEW.dedupe,
            -coalesce(NEW.priority, 0), coalesce(NEW.retries, 0), -1, 0, 0, 'sql', now.ms * 1000
        FROM (SELECT ms, ((ms - 1704067200000) << 22) | (4095 << 10) AS first FROM
            (SELECT CAST((julianday('now') - 2440587.5) * 86400000.0 AS INTEGER) AS ms)) now
        JOIN queue q ON q.name = NEW.queue
        JOIN lane l ON l.queue = q.id AND l.labels = ''
        LEFT JOIN job last ON last.id = (SELECT j.id FROM job j
            WHERE j.id >= now.first AND (j.id >> 10) & 4095 = 4095 ORDER BY j.id DESC LIMIT 1);
    INSERT INTO task (id, run, node, map_index, generation, state, attempt, failures, losses,
            parents, p_success, p_failed, p_upstream, p_skipped, p_removed, due_at_us,
            queued_at_us, reason, row_version)
        SELECT j.id, 0, 0, -1, 0, CASE WHEN NEW.delay_ms > 0 THEN 8 ELSE 2 END, 0, 0, 0,
            0, 0, 0, 0, 0, 0,
            CASE WHEN NEW.delay_ms > 0 THEN j.created_at_us + NEW.delay_ms * 1000 END,
            CASE WHEN NEW.delay_ms > 0 THEN NULL ELSE j.created_at_us END, 0, 0
        FROM job j WHERE j.id = last_insert_rowid();
    INSERT INTO ready (scope, class, lane, rank, age_us, task, run)
        SELECT 0, CASE WHEN j.handler = 'noop' THEN 1 ELSE 0 END, j.lane, j.rank,
            j.created_at_us, j.id, 0
        FROM job j JOIN task t ON t.id = j.id WHERE j.id = last_insert_rowid() AND t.state = 2;
    INSERT INTO timer (scope, due_at_us, task)
        SELECT 0, t.due_at_us, t.id
        FROM task t WHERE t.id = last_insert_rowid() AND t.state = 8;
END;
