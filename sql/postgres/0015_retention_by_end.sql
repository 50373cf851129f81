CREATE INDEX run_ended ON run (ended_at_us, id) WHERE ended_at_us IS NOT NULL;
DELETE FROM retention WHERE what IN ('logs', 'values') OR what LIKE 'refused %';

ALTER TABLE trigger_dag ADD COLUMN refused BIGINT;
