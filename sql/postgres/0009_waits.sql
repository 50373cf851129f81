-- Tasks that wait for something outside; see sql/sqlite.
CREATE TABLE wait (
    task         BIGINT PRIMARY KEY,
    run          BIGINT NOT NULL,
    lane         BIGINT NOT NULL,
    host         BIGINT NOT NULL,
    kind         BIGINT NOT NULL,
    looks        BIGINT NOT NULL,
    since_us     BIGINT NOT NULL,
    target_us    BIGINT,
    deadline_us  BIGINT,
    every_ms     BIGINT NOT NULL,
    every_max_ms BIGINT NOT NULL,
    backoff      BIGINT NOT NULL,
    subject      TEXT   NOT NULL,
    dag          TEXT,
    dag_task     TEXT,
    date_us      BIGINT,
    states       BIGINT NOT NULL
);
CREATE INDEX wait_host ON wait (host, task) WHERE host <> 0;
