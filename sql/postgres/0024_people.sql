-- What people changed, among all that happened; dead letters by age; missed deadlines of a DAG.
CREATE INDEX event_people ON event (id) WHERE actor IS NOT NULL
    AND actor NOT IN ('schedule', 'scheduler', 'backfill', 'timeout', 'retention', 'webhook', 'sla')
    AND substr(actor, 1, 9) <> 'backfill ' AND substr(actor, 1, 5) <> 'host ';
CREATE INDEX dead_at ON dead (at_us, task);
CREATE INDEX sla_miss_dag ON sla_miss (dag, due_at_us);
