-- Deadlines of runs and tasks, those that were missed, and messages on their way to people.

-- Only of DAGs that have an SLA. What ended in time leaves its row until it is due.
CREATE TABLE deadline (
    run        INTEGER NOT NULL,
    task       INTEGER NOT NULL, -- 0: of the run itself
    kind       INTEGER NOT NULL,
    generation INTEGER NOT NULL, -- of the task, or of the run's reopening, where a start counts
    due_at_us  INTEGER NOT NULL,
    PRIMARY KEY (run, task, kind, generation)
) WITHOUT ROWID;
CREATE INDEX deadline_due ON deadline (due_at_us);

CREATE TABLE sla_miss (
    run         INTEGER NOT NULL,
    task        INTEGER NOT NULL,
    kind        INTEGER NOT NULL,
    generation  INTEGER NOT NULL,
    due_at_us   INTEGER NOT NULL, -- expected
    dag         INTEGER NOT NULL,
    node        INTEGER NOT NULL, -- -1: of the run itself
    map_index   INTEGER NOT NULL,
    noticed_at_us INTEGER NOT NULL,
    ended_at_us INTEGER,          -- actual; null while it is late
    notified    INTEGER NOT NULL, -- hooks that were told
    PRIMARY KEY (run, task, kind, generation)
) WITHOUT ROWID;
CREATE INDEX sla_miss_due ON sla_miss (due_at_us);

-- The outbox: written with what happened, so that neither is there without the other.
CREATE TABLE notice (
    id          INTEGER PRIMARY KEY,
    delivery    TEXT    NOT NULL, -- what receivers know it by, however often it is sent
    state       INTEGER NOT NULL, -- pending, sending, sent, failed, dropped, folded
    at_us       INTEGER NOT NULL,
    due_at_us   INTEGER NOT NULL, -- while it is sent: when others may take it over
    dag_id      TEXT    NOT NULL,
    run         INTEGER NOT NULL,
    task        INTEGER NOT NULL, -- 0: about the run
    kind        INTEGER NOT NULL, -- what happened
    event       INTEGER NOT NULL, -- of the hook
    target      INTEGER NOT NULL,
    hook        TEXT    NOT NULL,
    hook_key    TEXT    NOT NULL,
    group_key   TEXT,             -- null: a message of its own
    head        INTEGER,          -- the notice that it is told with
    follows     INTEGER,          -- the notice that must be told of first
    incident    INTEGER NOT NULL, -- 1: it opens one, 2: that was closed
    document    TEXT    NOT NULL,
    attempts    INTEGER NOT NULL DEFAULT 0,
    first_at_us INTEGER,          -- of the first try
    ended_at_us INTEGER,
    answer      TEXT
);
CREATE INDEX notice_due ON notice (due_at_us) WHERE state IN (0, 1);
CREATE INDEX notice_group ON notice (group_key) WHERE state = 0 AND group_key IS NOT NULL;
CREATE INDEX notice_head ON notice (head) WHERE head IS NOT NULL;
CREATE INDEX notice_incident ON notice (run, task) WHERE incident = 1;

-- What a hook has used of its rate, wherever it stands.
CREATE TABLE alert_rate (
    hook_key    TEXT    PRIMARY KEY,
    empty_at_us INTEGER NOT NULL
) WITHOUT ROWID;
