CREATE INDEX event_old ON event (at_us, id) WHERE (run IS NULL AND task IS NULL) OR kind = 13;
CREATE INDEX asset_event_old ON asset_event (at_us, id);
CREATE INDEX webhook_call_old ON webhook_call (at_us);
CREATE INDEX missed_old ON missed (at_us);
CREATE INDEX notice_old ON notice (ended_at_us, id) WHERE state IN (2, 3, 4);
CREATE INDEX run_version ON run (version);
DROP INDEX notice_incident;
CREATE INDEX notice_incident ON notice (hook_key, dag_id) WHERE incident = 1;
