import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { cronWords, scheduleText } = await load("core/schedule.ts");

test("a cron expression is told in words, or as it is", () => {
  const told = [["* * * * *", "every minute"], ["*/15 * * * *", "every 15 minutes"], ["0 * * * *", "every hour"],
    ["5 * * * *", "every hour at :05"], ["0 */6 * * *", "every 6 hours at :00"], ["30 2 * * *", "every day at 02:30"],
    ["0 2,14 * * 1-5", "Monday to Friday at 02:00, 14:00"], ["0 2 * * MON,wed", "Monday and Wednesday at 02:00"],
    ["0 9 * * 7", "Sunday at 09:00"], ["0 0 1 * *", "on day 1 of the month at 00:00"],
    ["0 0 24 12 *", "on 24 December at 00:00"], ["@daily", "every day at 00:00"], ["1-5 0 L * *", "1-5 0 L * *"],
    ["0 0 1 * 1", "0 0 1 * 1"], ["", ""], ["*/10 * * * 1-5", "every 10 minutes, Monday to Friday"]];
  for (const [cron, text] of told) assert.equal(cronWords(cron), text);
});

test("a schedule is a time, an interval, or what happens elsewhere", () => {
  assert.equal(scheduleText(null), "by hand");
  assert.equal(scheduleText({ cron: "0 2 * * *", tz: "Europe/Berlin" }), "every day at 02:00 (Europe/Berlin)");
  assert.equal(scheduleText({ every: "15m" }), "every 15m");
  assert.equal(scheduleText({ datasets: ["a://x", "b://y"] }), "when a://x, b://y is updated");
  assert.equal(scheduleText({ after: "sales" }), "after sales");
  assert.equal(scheduleText({ webhook: true }), "when its webhook is called");
});
