-- Runs from time: when each DAG is due, which runs have to wait, which ticks were missed.

ALTER TABLE run ADD COLUMN admission INTEGER NOT NULL DEFAULT 0; -- 0 not limited, 1 goes, 2 waits
ALTER TABLE run ADD COLUMN backfill  INTEGER NOT NULL DEFAULT 0; -- that it belongs to; 0: none
CREATE INDEX run_going ON run (dag) WHERE admission = 1 AND state IN (0, 1);

-- One row per DAG. Who starts runs of a DAG that are limited, or lets them go, locks it.
CREATE TABLE schedule (
    dag           INTEGER PRIMARY KEY REFERENCES dag (id),
    offered       INTEGER NOT NULL DEFAULT 0, -- 0: it was only run in the foreground, from a file
    paused        INTEGER NOT NULL DEFAULT 0,
    cursor_us     INTEGER NOT NULL DEFAULT 0, -- the last tick that was decided on; never goes back
    next_us       INTEGER,                    -- when there is something to decide; null: never
    timing        TEXT    NOT NULL DEFAULT '', -- keys of the DAG that make its ticks, JSON
    most_runs     INTEGER NOT NULL DEFAULT 1, -- limited runs at once; 0: no bound
    overlap       INTEGER NOT NULL DEFAULT 0, -- enum overlap_policy
    needs_past    INTEGER NOT NULL DEFAULT 0, -- a run waits until the one before has succeeded
    changed_at_us INTEGER NOT NULL
);
CREATE INDEX schedule_next ON schedule (next_us) WHERE next_us IS NOT NULL;
INSERT INTO schedule (dag, changed_at_us) SELECT id, updated_at_us FROM dag;

-- Runs that may not start yet, in the order of going.
CREATE TABLE waiting (
    dag           INTEGER NOT NULL,
    backfill      INTEGER NOT NULL,
    logical_at_us INTEGER NOT NULL,
    run           INTEGER NOT NULL,
    PRIMARY KEY (dag, backfill, logical_at_us, run)
) WITHOUT ROWID;

-- Tasks that wait for the same task of the run before.
CREATE TABLE past (
    task   INTEGER PRIMARY KEY,
    run    INTEGER NOT NULL,
    before INTEGER NOT NULL -- the task that it waits for
);

-- Stretches of ticks that became no run.
CREATE TABLE missed (
    dag      INTEGER NOT NULL,
    first_us INTEGER NOT NULL,
    last_us  INTEGER NOT NULL,
    count    INTEGER NOT NULL,
    is_more  INTEGER NOT NULL, -- there were more than `count`
    why      INTEGER NOT NULL, -- enum missed_why
    at_us    INTEGER NOT NULL, -- when that was decided
    PRIMARY KEY (dag, first_us)
) WITHOUT ROWID;
