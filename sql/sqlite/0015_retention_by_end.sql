-- Logs and values go by the end of their run: a long one ends after many that began later.
CREATE INDEX run_ended ON run (ended_at_us, id) WHERE ended_at_us IS NOT NULL;
DELETE FROM retention WHERE what IN ('logs', 'values') OR what LIKE 'refused %';

-- The event of the last time that something asked for a run which could not be made.
ALTER TABLE trigger_dag ADD COLUMN refused INTEGER;
