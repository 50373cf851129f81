-- Workers that reach the store through HTTP, and calls that prove who sent them.

-- What was claimed by a claim that its worker gave a name: the same name again gives the same.
CREATE TABLE worker_claim (
    host    INTEGER NOT NULL,
    name    TEXT    NOT NULL,
    task    INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    PRIMARY KEY (host, name, task)
) WITHOUT ROWID;

-- Those who are there, by what they are called.
CREATE INDEX host_living ON host (name) WHERE ended_at_us IS NULL;

-- Calls are signed with the token: it is kept, sealed. Those from before have none.
ALTER TABLE webhook ADD COLUMN sealed TEXT;
-- When the calls so far are paid for, at the pace that is allowed.
ALTER TABLE webhook ADD COLUMN paced_us INTEGER NOT NULL DEFAULT 0;
