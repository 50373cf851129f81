-- Runs that something asked for that is traced, as it said in the header `traceparent`.
CREATE TABLE run_trace (
    run         INTEGER PRIMARY KEY,
    traceparent TEXT    NOT NULL
);
