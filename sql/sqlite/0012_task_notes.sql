-- What people wrote about a task of a run, or about one of its instances.
CREATE TABLE task_note (
    run   INTEGER NOT NULL,
    task  INTEGER NOT NULL,
    note  TEXT NOT NULL,
    PRIMARY KEY (run, task)
) WITHOUT ROWID;
