-- Backfills: runs for dates of the past, a few at a time.

CREATE TABLE backfill (
    id            INTEGER PRIMARY KEY,
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
CREATE INDEX backfill_active ON backfill (id) WHERE state IN (0, 1, 2, 3);

-- The dates that were decided on. `outcome` is the state that a run ended in, null while it goes on.
CREATE TABLE backfill_run (
    backfill      INTEGER NOT NULL,
    logical_at_us INTEGER NOT NULL,
    run           INTEGER NOT NULL,
    action        INTEGER NOT NULL,
    outcome       INTEGER,
    PRIMARY KEY (backfill, logical_at_us)
) WITHOUT ROWID;
CREATE INDEX backfill_open ON backfill_run (backfill, run) WHERE outcome IS NULL;

ALTER TABLE run ADD COLUMN queue  INTEGER NOT NULL DEFAULT 0; -- of all its tasks; 0: their own
ALTER TABLE run ADD COLUMN behind INTEGER NOT NULL DEFAULT 0; -- 1: after all others of a queue
