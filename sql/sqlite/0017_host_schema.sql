-- The newest schema that its program knows, so that it is asked only for what it understands.
ALTER TABLE host ADD COLUMN schema INTEGER NOT NULL DEFAULT 0; -- 0: from before they told
