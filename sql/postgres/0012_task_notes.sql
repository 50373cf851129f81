-- What people wrote about a task of a run, or about one of its instances.
CREATE TABLE task_note (
    run   BIGINT NOT NULL,
    task  BIGINT NOT NULL,
    note  TEXT NOT NULL,
    PRIMARY KEY (run, task)
);
