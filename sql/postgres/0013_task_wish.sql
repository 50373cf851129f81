-- Who wants a task that runs to stop, or to stop and run again; which of both is in its row.
CREATE TABLE task_wish (
    task         BIGINT PRIMARY KEY,
    attempt      BIGINT NOT NULL,
    actor        TEXT,
    data         TEXT, -- the reason that was given, as JSON
    asked_at_us  BIGINT NOT NULL
);
