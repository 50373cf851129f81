-- Pools of slots, limits on what runs at once, and shares of queues.

-- On a host, tasks of all queues that have a share take at most this part of its slots together.
ALTER TABLE queue ADD COLUMN max_share INTEGER NOT NULL DEFAULT 0; -- percent; 0: no share, no bound

-- What a task needs beside a host: slots of a pool that it names, and room under the limits of its
-- namespace and its DAG. Rows are never deleted: tasks that wait refer to them.
CREATE TABLE pool (
    id            INTEGER PRIMARY KEY,
    kind          INTEGER NOT NULL, -- 0 a pool, 1 the limit of a namespace, 2 the limit of a DAG
    namespace     TEXT    NOT NULL, -- of a pool
    name          TEXT    NOT NULL, -- of the pool, the namespace or the DAG
    slots         INTEGER NOT NULL,
    retiring      INTEGER NOT NULL DEFAULT 0, -- up to here slots may be held from before a shrink
    removed       INTEGER NOT NULL DEFAULT 0, -- 1: it is not there; only named, or deleted
    description   TEXT    NOT NULL DEFAULT '',
    created_at_us INTEGER NOT NULL,
    UNIQUE (kind, namespace, name)
);
CREATE INDEX pool_limits ON pool (id) WHERE kind > 0;
INSERT INTO pool (id, kind, namespace, name, slots, description, created_at_us)
    VALUES (1, 0, 'default', 'default', 128, 'for tasks that name it', 0);

-- A slot that is held. What is not here is free, so that no two can hold the same one.
CREATE TABLE pool_slot (
    pool    INTEGER NOT NULL,
    slot    INTEGER NOT NULL, -- from 1
    task    INTEGER NOT NULL,
    attempt INTEGER NOT NULL, -- that holds it
    PRIMARY KEY (pool, slot)
) WITHOUT ROWID;
CREATE INDEX pool_slot_task ON pool_slot (task);

-- Tasks and jobs (state scheduled) that wait in front of a pool or a limit, in the order of
-- claiming.
CREATE TABLE pool_wait (
    pool      INTEGER NOT NULL,
    lane      INTEGER NOT NULL,
    rank      INTEGER NOT NULL,
    age_us    INTEGER NOT NULL,
    task      INTEGER NOT NULL,
    need      INTEGER NOT NULL, -- slots
    namespace TEXT    NOT NULL, -- of its DAG
    PRIMARY KEY (pool, lane, rank, age_us, task)
) WITHOUT ROWID;
CREATE INDEX pool_wait_task ON pool_wait (task);
