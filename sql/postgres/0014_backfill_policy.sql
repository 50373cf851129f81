-- What columns mean is said in sql/sqlite; numbers are never given again here.
ALTER TABLE store ADD COLUMN backfill_approval BIGINT NOT NULL DEFAULT 0;
ALTER TABLE store ADD COLUMN backfill_queue    TEXT   NOT NULL DEFAULT '';
