import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const time = await load("core/time.ts");

test("a day of a zone is from its first to its last instant", () => {
  assert.equal(time.dayStart("2026-11-16", "UTC"), "2026-11-16T00:00:00Z");
  assert.equal(time.dayEnd("2026-11-16", "UTC"), "2026-11-16T23:59:59.999999Z");
  assert.equal(time.dayStart("2026-11-16", "America/New_York"), "2026-11-16T05:00:00Z");
  assert.equal(time.dayEnd("2026-11-16", "Asia/Kolkata"), "2026-11-16T18:29:59.999999Z");
  // One day has 23 hours, one 25, and one begins at one o'clock.
  assert.equal(time.dayStart("2026-03-29", "Europe/Berlin"), "2026-03-28T23:00:00Z");
  assert.equal(time.dayEnd("2026-03-29", "Europe/Berlin"), "2026-03-29T21:59:59.999999Z");
  assert.equal(time.dayEnd("2026-10-25", "Europe/Berlin"), "2026-10-25T22:59:59.999999Z");
  for (const [day, zone, first] of [["2018-11-04", "America/Sao_Paulo", "2018-11-04T03:00:00Z"],
    ["2026-04-24", "Africa/Cairo", "2026-04-23T22:00:00Z"]]) {
    assert.equal(time.dayStart(day, zone), first);
    assert.equal(time.clockAt(first, zone).time, "01:00:00");
  }
  assert.equal(time.dayStart("2026-11-16T05:00:00Z", "Asia/Tokyo"), "2026-11-16T05:00:00Z", "an instant is one");
  assert.equal(time.dayStart("soon", "UTC"), "");
  assert.equal(time.dayEnd("soon", "UTC"), "");
});

test("durations are told in two units at most", () => {
  const told = [[0.34, "340 ms"], [12.4, "12.4 s"], [200, "3 m 20 s"], [7500, "2 h 5 m"], [273600, "3 d 4 h"],
    [59.96, "1 m 0 s"], [0.9999, "1.0 s"], [3599.6, "1 h 0 m"], [-5, "-5.0 s"]];
  for (const [seconds, text] of told) assert.equal(time.durationText(seconds), text);
});

test("an instant is short today, longer this year, a date before", () => {
  const now = Date.parse("2026-11-16T12:00:00Z");
  assert.equal(time.shortInstant("2026-11-16T08:05:09Z", "UTC", now), "08:05:09");
  assert.equal(time.shortInstant("2026-03-01T08:05:09Z", "Europe/Berlin", now), "03-01 09:05");
  assert.equal(time.shortInstant("2025-03-01T08:05:09Z", "UTC", now), "2025-03-01");
});

test("bytes are rounded to what one can read", () => {
  assert.deepEqual([999, 1500, 999_600, 12_000_000].map(time.bytesText), ["999 B", "1.5 kB", "1.0 MB", "12 MB"]);
});
