// Drains no-op jobs with one process of graphile-worker and prints the rate as JSON.
//
//   node drain.mjs URL COUNT [SETTING=NUMBER...]
//
// The jobs are added in bulk before the worker starts; counted from its first claim to the commit
// that completes the last. Settings: concurrency, queue (0: no local queue), complete (ms that
// completions are gathered; -1: not at all), pool.
import { EventEmitter } from "node:events";

import { Logger, makeWorkerUtils, run } from "graphile-worker";

const [url, countText, ...changes] = process.argv.slice(2);
const count = Number(countText);
const settings = { concurrency: 100, queue: 500, complete: 0, pool: 10 };
for (const change of changes) {
    const [name, value] = change.split("=");
    if (!(name in settings)) throw new Error(`no setting '${name}'`);
    settings[name] = Number(value);
}

const ADD_JOBS = `SELECT count(*) FROM graphile_worker.add_jobs(ARRAY(
    SELECT ('noop', '{}', NULL, NULL, NULL, NULL, NULL, NULL)::graphile_worker.job_spec
    FROM generate_series(1, $1)))`;
const COUNT_LEFT = "SELECT count(*)::int AS jobs FROM graphile_worker._private_jobs";

// Its line for each job would cost a fifth of the rate.
const SILENT = new Logger(() => () => {});

const utils = await makeWorkerUtils({ connectionString: url, logger: SILENT });
await utils.migrate();
await utils.withPgClient(async (client) => {
    await client.query("TRUNCATE graphile_worker._private_jobs");
    await client.query(ADD_JOBS, [count]);
    await client.query("ANALYZE graphile_worker._private_jobs");
    await client.query("CHECKPOINT");
});

let handled = 0;
let tellHandled;
const allHandled = new Promise((resolve) => (tellHandled = resolve));

function noop() {
    if (++handled === count) tellHandled();
}

let started = performance.now();
const events = new EventEmitter();
events.on("localQueue:init", () => (started = performance.now())); // it claims next

const gathers = settings.complete >= 0;
const runner = await run({
    connectionString: url,
    events,
    maxPoolSize: settings.pool,
    noHandleSignals: true,
    taskList: { noop },
    preset: {
        worker: {
            concurrentJobs: settings.concurrency,
            ...(settings.queue > 0 && { localQueue: { size: settings.queue } }),
            ...(gathers && { completeJobBatchDelay: settings.complete }),
            ...(gathers && { failJobBatchDelay: settings.complete }),
        },
    },
    logger: SILENT,
});
await allHandled;
// Completions may still be under way: look until the table is empty.
await utils.withPgClient(async (client) => {
    while ((await client.query(COUNT_LEFT)).rows[0].jobs > 0);
});
const seconds = (performance.now() - started) / 1000;
await runner.stop();
await utils.release();
console.log(JSON.stringify({ jobs: count, seconds, rate: count / seconds, ...settings }));
process.exit(0);
