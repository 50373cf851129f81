-- Who wants a task that runs to stop, or to stop and run again; which of both is in its row.
CREATE TABLE task_wish (
    task         INTEGER PRIMARY KEY,
    attempt      INTEGER NOT NULL,
    actor        TEXT,
    data         TEXT, -- the reason that was given, as JSON
    asked_at_us  INTEGER NOT NULL
);
