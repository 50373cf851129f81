-- How far what is old was removed: runs are looked at in the order of their numbers.
CREATE TABLE retention (
    what TEXT PRIMARY KEY, -- values | logs
    run  BIGINT NOT NULL       -- everything up to this one is done
);
