-- What columns mean is said in sql/sqlite.
ALTER TABLE host ADD COLUMN schema BIGINT NOT NULL DEFAULT 0;
