-- Tasks that wait for something outside. The row is there from the first time that the task waits
-- until its attempt is over: one that looks by running a command is queued and runs in between.
CREATE TABLE wait (
    task         INTEGER PRIMARY KEY,
    run          INTEGER NOT NULL,
    lane         INTEGER NOT NULL, -- whose hosts may look
    host         INTEGER NOT NULL, -- which of them does; 0: nobody needs to
    kind         INTEGER NOT NULL,
    looks        INTEGER NOT NULL, -- commands that said: not yet
    since_us     INTEGER NOT NULL,
    target_us    INTEGER,          -- the instant that is waited for, or of the next look
    deadline_us  INTEGER,
    every_ms     INTEGER NOT NULL,
    every_max_ms INTEGER NOT NULL,
    backoff      INTEGER NOT NULL, -- in thousandths
    subject      TEXT    NOT NULL, -- path, command, ...
    dag          TEXT,             -- another DAG, its task, and which of its runs
    dag_task     TEXT,
    date_us      INTEGER,          -- NULL: the latest
    states       INTEGER NOT NULL  -- a bit for each that counts
);
CREATE INDEX wait_host ON wait (host, task) WHERE host <> 0;
