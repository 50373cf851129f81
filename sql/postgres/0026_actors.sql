-- What one actor did, but for the one that starts most runs.
CREATE INDEX event_actor ON event (actor, id) WHERE actor IS NOT NULL AND actor <> 'schedule';
