import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { cronText, everyText, scheduleText } = await load("core/schedule.ts");

const CRON = [
  ["30 2 * * *", "every day at 02:30"],
  ["0 6,18 * * *", "every day at 06:00 and 18:00"],
  ["* * * * *", "every minute"],
  ["*/15 * * * *", "every 15 minutes"],
  ["0/5 * * * *", "every 5 minutes"],
  ["0 * * * *", "every hour"],
  ["5,35 * * * *", "every hour at :05 and :35"],
  ["0 */6 * * *", "every 6 hours"],
  ["15 */6 * * *", "every 6 hours at :15"],
  ["0 9-17 * * 1-5", "every hour from 09:00 to 17:00, Monday to Friday"],
  ["*/10 9-17 * * MON-FRI", "every 10 minutes from 09:00 to 17:59, Monday to Friday"],
  ["0 9 * * 1-5", "Monday to Friday at 09:00"],
  ["0 9 * * MON,THU", "on Mondays and Thursdays at 09:00"],
  ["0 0 1 * *", "on the 1st of every month at 00:00"],
  ["0 0 1,15 * *", "on the 1st and 15th of every month at 00:00"],
  ["0 0 L * *", "on the last day of every month at 00:00"],
  ["0 0 15W * *", "on the weekday nearest to the 15th of every month at 00:00"],
  ["0 0 ? * MON#2", "on the second Monday of the month at 00:00"],
  ["0 0 ? * FRIL", "on the last Friday of the month at 00:00"],
  ["0 0 13 * FRI", "on the 13th of every month or on Fridays at 00:00"],
  ["0 4 * JAN,JUL *", "every day in January and July at 04:00"],
  ["0 4 2 11 *", "on the 2nd of November at 04:00"],
  ["30 15 2 * * *", "every day at 02:15 and 30 s"],
  ["*/10 * * * * *", "every 10 seconds"],
  ["@daily", "every day at 00:00"],
  ["@weekly", "on Sundays at 00:00"],
  ["@quarterly", "on the 1st of January, April, July and October at 00:00"],
];

test("cron expressions are told in words", () => {
  for (const [expression, words] of CRON) assert.equal(cronText(expression), words, expression);
});

test("what would take too many words stays as it is", () => {
  for (const expression of ["1-59/7 * * * *", "0 0 * * 1-5/2", "1,2,3,4,5,6,7 * * * *", "nonsense", ""])
    assert.equal(cronText(expression), null, expression);
  assert.equal(scheduleText("1-59/7 * * * *"), "cron 1-59/7 * * * *");
  assert.equal(scheduleText({ cron: "1-59/7 * * * *", tz: "Asia/Kolkata" }), "cron 1-59/7 * * * *, Asia/Kolkata");
});

test("intervals are told in the greatest unit that fits", () => {
  const told = [["15m", "every 15 minutes"], ["every 90m", "every 90 minutes"], ["1h", "every hour"],
    ["24h", "every day"], ["1h30m", "every 90 minutes"], ["1728s", "every 28 m 48 s"],
    ["500ms", "every 500 ms"], ["2w", "every 2 weeks"]];
  for (const [text, words] of told) assert.equal(everyText(text), words, text);
  assert.equal(everyText("15 apples"), null);
});

test("the zone is named where clocks are", () => {
  assert.equal(scheduleText("30 2 * * *"), "every day at 02:30 UTC");
  assert.equal(scheduleText({ cron: "30 2 * * *", tz: "Europe/Berlin" }), "every day at 02:30 Europe/Berlin");
  assert.equal(scheduleText({ cron: ["0 6 * * *", "0 18 * * *"], timezone: "Asia/Kolkata" }),
    "every day at 06:00 and every day at 18:00 Asia/Kolkata");
  assert.equal(scheduleText("*/15 * * * *"), "every 15 minutes");
});

test("several schedules, instants, datasets and others", () => {
  assert.equal(scheduleText(["@daily", { every: "6h" }]), "every day at 00:00 UTC and every 6 hours");
  assert.equal(scheduleText({ at: ["2026-01-31T06:00:00Z"] }), "at 2026-01-31 06:00:00Z");
  assert.equal(scheduleText({ datasets: ["s3://a", "s3://b"] }), "when s3://a and s3://b are updated");
  assert.equal(scheduleText({ assets: { any: ["a", "b"] } }), "when a or b is updated");
  assert.equal(scheduleText({ after: "etl" }), "after etl");
  assert.equal(scheduleText({ cron: "@hourly", webhook: true }), "every hour and when a webhook is called");
  for (const none of [null, undefined, "", []]) assert.equal(scheduleText(none), "");
});
