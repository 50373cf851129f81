-- What the tokens of running tasks are made with (hexadecimal); the first daemon that needs it makes it.
ALTER TABLE store ADD COLUMN task_key TEXT;
