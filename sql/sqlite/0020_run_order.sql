-- Lists of runs in the orders people ask for, for one DAG and for all of them.
CREATE INDEX run_at ON run (logical_at_us, id);
CREATE INDEX run_start ON run (coalesce(started_at_us, 9223372036854775807), id);
CREATE INDEX run_dag_start ON run (dag, coalesce(started_at_us, 9223372036854775807), id);
-- The runs that an update of a dataset was part of.
CREATE INDEX run_cause_update ON run_cause (source) WHERE kind = 0;
