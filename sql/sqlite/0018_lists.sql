-- Pages of lists, and how many rows there are, without reading all of them. What happens all the
-- time touches none of it: only runs and jobs that do not end well stand in the partial ones.
CREATE INDEX run_dag ON run (dag, id);
CREATE INDEX run_bad ON run (state, id) WHERE state IN (3, 4);
CREATE INDEX run_dag_bad ON run (dag, state, id) WHERE state IN (3, 4);
CREATE INDEX notice_dag ON notice (dag_id, id);
CREATE INDEX notice_run ON notice (run);
CREATE INDEX notice_over ON notice (state, id) WHERE state IN (3, 4, 5);
CREATE INDEX event_dag ON event (CASE WHEN instr(data, '"dag_id":"') > 0
    THEN substr(data, instr(data, '"dag_id":"') + 10,
        instr(substr(data, instr(data, '"dag_id":"') + 10), '"') - 1) END, id)
    WHERE (run IS NULL AND task IS NULL) OR kind = 13;

-- The state of a job that ended other than completed; null: it did not.
ALTER TABLE job ADD COLUMN ended_as INTEGER;
UPDATE job SET ended_as = (SELECT t.state FROM task t WHERE t.id = job.id)
    WHERE id IN (SELECT t.id FROM task t WHERE t.run = 0 AND t.state IN (5, 6, 7, 12, 13));
CREATE INDEX job_ended_as ON job (ended_as, id) WHERE ended_as IS NOT NULL;
CREATE INDEX job_queue_ended_as ON job (queue, ended_as, id) WHERE ended_as IS NOT NULL;

-- Which miss a message is about: several of a task may be noticed at the same time.
ALTER TABLE notice ADD COLUMN sla_kind INTEGER;
ALTER TABLE notice ADD COLUMN sla_generation INTEGER;
UPDATE notice SET (sla_kind, sla_generation) = (SELECT m.kind, m.generation FROM sla_miss m
    WHERE m.run = notice.run AND m.task = notice.task AND m.noticed_at_us = notice.at_us LIMIT 1)
    WHERE kind = 4 AND state IN (0, 1, 5);
