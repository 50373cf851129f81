-- Changes that were asked for with a key of the asker's (`Idempotency-Key`), and their answers: the
-- same request with the same key gets the same answer, and nothing is done again. A row is written
-- in the transaction of its change.
CREATE TABLE answered (
    owner         TEXT    NOT NULL, -- who asked
    key           TEXT    NOT NULL,
    request       TEXT    NOT NULL, -- hash of what was asked
    status        INTEGER NOT NULL, -- of the answer; 0: it is being worked on
    body          TEXT    NOT NULL,
    created_at_us INTEGER NOT NULL,
    PRIMARY KEY (owner, key)
);
CREATE INDEX answered_age ON answered (created_at_us);
