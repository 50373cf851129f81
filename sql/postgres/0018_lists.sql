CREATE INDEX run_dag ON run (dag, id);
CREATE INDEX run_bad ON run (state, id) WHERE state IN (3, 4);
CREATE INDEX run_dag_bad ON run (dag, state, id) WHERE state IN (3, 4);
CREATE INDEX notice_dag ON notice (dag_id, id);
CREATE INDEX notice_run ON notice (run);
CREATE INDEX notice_over ON notice (state, id) WHERE state IN (3, 4, 5);
CREATE INDEX event_dag ON event (substring(data from '"dag_id":"([^"]*)"'), id)
    WHERE (run IS NULL AND task IS NULL) OR kind = 13;

ALTER TABLE job ADD COLUMN ended_as SMALLINT;
UPDATE job SET ended_as = t.state FROM task t
    WHERE t.id = job.id AND t.run = 0 AND t.state IN (5, 6, 7, 12, 13);
CREATE INDEX job_ended_as ON job (ended_as, id) WHERE ended_as IS NOT NULL;
CREATE INDEX job_queue_ended_as ON job (queue, ended_as, id) WHERE ended_as IS NOT NULL;

ALTER TABLE notice ADD COLUMN sla_kind SMALLINT;
ALTER TABLE notice ADD COLUMN sla_generation BIGINT;
UPDATE notice SET (sla_kind, sla_generation) = (SELECT m.kind, m.generation FROM sla_miss m
    WHERE m.run = notice.run AND m.task = notice.task AND m.noticed_at_us = notice.at_us LIMIT 1)
    WHERE kind = 4 AND state IN (0, 1, 5);
