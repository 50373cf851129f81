-- Runs from time: when each DAG is due, which runs have to wait, which ticks were missed. The
-- columns are explained in sql/sqlite.

ALTER TABLE run ADD COLUMN admission BIGINT NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN backfill  BIGINT NOT NULL DEFAULT 0;
CREATE INDEX run_going ON run (dag) WHERE admission = 1 AND state IN (0, 1);

CREATE TABLE schedule (
    dag           BIGINT PRIMARY KEY REFERENCES dag (id),
    offered       BIGINT NOT NULL DEFAULT 0,
    paused        BIGINT NOT NULL DEFAULT 0,
    cursor_us     BIGINT NOT NULL DEFAULT 0,
    next_us       BIGINT,
    timing        TEXT   NOT NULL DEFAULT '',
    most_runs     BIGINT NOT NULL DEFAULT 1,
    overlap       BIGINT NOT NULL DEFAULT 0,
    needs_past    BIGINT NOT NULL DEFAULT 0,
    changed_at_us BIGINT NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX schedule_next ON schedule (next_us) WHERE next_us IS NOT NULL;
INSERT INTO schedule (dag, changed_at_us) SELECT id, updated_at_us FROM dag;

CREATE TABLE waiting (
    dag           BIGINT NOT NULL,
    backfill      BIGINT NOT NULL,
    logical_at_us BIGINT NOT NULL,
    run           BIGINT NOT NULL,
    PRIMARY KEY (dag, backfill, logical_at_us, run)
);

CREATE TABLE past (
    task   BIGINT PRIMARY KEY,
    run    BIGINT NOT NULL,
    before BIGINT NOT NULL
);

CREATE TABLE missed (
    dag      BIGINT NOT NULL,
    first_us BIGINT NOT NULL,
    last_us  BIGINT NOT NULL,
    count    BIGINT NOT NULL,
    is_more  BIGINT NOT NULL,
    why      BIGINT NOT NULL,
    at_us    BIGINT NOT NULL,
    PRIMARY KEY (dag, first_us)
);
