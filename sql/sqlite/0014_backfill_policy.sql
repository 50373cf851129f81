-- Numbers of backfills and webhooks are not given again after a deletion: the record of what people
-- did names them. Both tables are small.

CREATE TABLE backfill_kept (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    dag           INTEGER NOT NULL,
    version       INTEGER NOT NULL, -- of the runs that it makes
    state         INTEGER NOT NULL,
    from_us       INTEGER NOT NULL, -- logical dates, both included
    to_us         INTEGER NOT NULL,
    until_us      INTEGER NOT NULL, -- ticks after this are not due
    newest_first  INTEGER NOT NULL,
    redo          INTEGER NOT NULL,
    max_active    INTEGER NOT NULL, -- runs that go at once
    queue         INTEGER NOT NULL, -- that their tasks wait in; 0: the tasks' own
    params        TEXT    NOT NULL,
    conf          TEXT    NOT NULL,
    tasks         TEXT    NOT NULL, -- JSON list of their ids; empty: all
    note          TEXT    NOT NULL,
    reason        TEXT    NOT NULL, -- why people want it
    actor         TEXT    NOT NULL,
    token         TEXT    NOT NULL UNIQUE, -- tells a repeated request from another
    size          INTEGER NOT NULL, -- dates in the range
    cursor_us     INTEGER NOT NULL, -- the last tick that was decided on
    is_spent      INTEGER NOT NULL DEFAULT 0, -- there are no ticks left
    stops_running INTEGER NOT NULL DEFAULT 0, -- cancelled with what runs
    created       INTEGER NOT NULL DEFAULT 0, -- dates by what became of them
    redone        INTEGER NOT NULL DEFAULT 0,
    kept          INTEGER NOT NULL DEFAULT 0,
    succeeded     INTEGER NOT NULL DEFAULT 0, -- runs of its own that are over
    failed        INTEGER NOT NULL DEFAULT 0,
    cancelled     INTEGER NOT NULL DEFAULT 0,
    created_at_us INTEGER NOT NULL,
    started_at_us INTEGER,
    ended_at_us   INTEGER
);
INSERT INTO backfill_kept SELECT * FROM backfill;
DROP TABLE backfill;
ALTER TABLE backfill_kept RENAME TO backfill;
CREATE INDEX backfill_active ON backfill (id) WHERE state IN (0, 1, 2, 3);

CREATE TABLE webhook_kept (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    dag           INTEGER NOT NULL,
    name          TEXT    NOT NULL,
    token_hash    TEXT    NOT NULL UNIQUE, -- SHA-256; the token itself is shown once
    actor         TEXT    NOT NULL,
    created_at_us INTEGER NOT NULL,
    used_at_us    INTEGER,
    calls         INTEGER NOT NULL DEFAULT 0
);
INSERT INTO webhook_kept SELECT * FROM webhook;
DROP TABLE webhook;
ALTER TABLE webhook_kept RENAME TO webhook;
CREATE INDEX webhook_dag ON webhook (dag, name);

-- What those who run the platform decided, as the scheduler that started last was told.
ALTER TABLE store ADD COLUMN backfill_approval INTEGER NOT NULL DEFAULT 0; -- dates; 0: none
ALTER TABLE store ADD COLUMN backfill_queue    TEXT    NOT NULL DEFAULT ''; -- empty: the tasks' own
