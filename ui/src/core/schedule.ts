// A schedule as people would say it. Pure: what cannot be said shortly is shown as it was written.
import { durationText } from "./time";

type Plain = string | number | boolean | null | Plain[] | { [key: string]: Plain };

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
  "November", "December"];
const NTH = ["", "first", "second", "third", "fourth", "fifth"];
const PRESETS: Record<string, string> = {
  "@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
  "@monthly": "0 0 1 * *", "@quarterly": "0 0 1 1,4,7,10 *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
};
const LIST_MOST = 6;

/** "a, b and c". */
export function listed(items: string[], last = "and"): string {
  if (items.length < 2) return items[0] ?? "";
  return `${items.slice(0, -1).join(", ")} ${last} ${items[items.length - 1]}`;
}

const two = (value: number): string => String(value).padStart(2, "0");
const ordinal = (value: number): string => {
  const tail = value % 100 >= 11 && value % 100 <= 13 ? "th" : (["th", "st", "nd", "rd"][value % 10] ?? "th");
  return value + tail;
};

/** Numbers and names of a list such as "1,3" or "MON,FRI"; null: something else is in it. */
function numbersOf(field: string, names: string[], first: number): number[] | null {
  const found: number[] = [];
  for (const part of field.split(",")) {
    const named = names.findIndex((name) => name.slice(0, 3).toUpperCase() === part.toUpperCase());
    if (named >= 0) found.push(named + first);
    else if (/^\d+$/.test(part)) found.push(Number(part));
    else return null;
  }
  return found.length <= LIST_MOST ? found : null;
}

interface Range {
  from: number;
  to: number;
}

function rangeOf(field: string, names: string[], first: number): Range | null {
  const [from, to, more] = field.split("-");
  if (!from || !to || more !== undefined) return null;
  const ends = numbersOf(`${from},${to}`, names, first);
  return ends && ends.length === 2 ? { from: ends[0]!, to: ends[1]! } : null;
}

const isAny = (field: string): boolean => field === "*" || field === "?";
const stepOf = (field: string): number | null => {
  const found = /^(?:\*|0)\/(\d+)$/.exec(field);
  return found ? Number(found[1]) : null;
};
const every = (count: number, unit: string): string => (count === 1 ? `every ${unit}` : `every ${count} ${unit}s`);

interface Times {
  text: string;
  /** "at 02:30" wants a day before it; "every 15 minutes" does not. */
  isClock: boolean;
}

function hoursText(minute: string, hour: string): Times | null {
  const step = stepOf(minute);
  const minutes = numbersOf(minute, [], 0);
  const range = rangeOf(hour, [], 0);
  const hours = numbersOf(hour, [], 0);
  if (range && (isAny(minute) || step))
    return { text: `${every(step ?? 1, "minute")} from ${two(range.from)}:00 to ${two(range.to)}:59`, isClock: false };
  if (hours && (isAny(minute) || step)) {
    const spans = hours.map((at) => `${two(at)}:00 to ${two(at)}:59`);
    return { text: `${every(step ?? 1, "minute")} from ${listed(spans)}`, isClock: false };
  }
  if (range && minutes?.length === 1) {
    const past = two(minutes[0]!);
    return { text: `every hour from ${two(range.from)}:${past} to ${two(range.to)}:${past}`, isClock: false };
  }
  if (!hours || !minutes || hours.length * minutes.length > LIST_MOST) return null;
  const clocks = hours.flatMap((at) => minutes.map((past) => `${two(at)}:${two(past)}`));
  return { text: "at " + listed(clocks), isClock: true };
}

function timesText(minute: string, hour: string): Times | null {
  const step = stepOf(minute);
  const hourStep = stepOf(hour);
  const minutes = numbersOf(minute, [], 0);
  const past = (minutes ?? []).map((at) => ":" + two(at));
  if (isAny(hour)) {
    if (isAny(minute)) return { text: "every minute", isClock: false };
    if (step) return { text: every(step, "minute"), isClock: false };
    if (!minutes) return null;
    return { text: minute === "0" ? "every hour" : `every hour at ${listed(past)}`, isClock: false };
  }
  if (hourStep && minutes)
    return { text: every(hourStep, "hour") + (minute === "0" ? "" : ` at ${listed(past)}`), isClock: false };
  return hoursText(minute, hour);
}

function monthsText(month: string): string | null {
  if (isAny(month)) return "every month";
  const range = rangeOf(month, MONTHS, 1);
  if (range) return `every month from ${MONTHS[range.from - 1]} to ${MONTHS[range.to - 1]}`;
  const months = numbersOf(month, MONTHS, 1);
  return months ? listed(months.map((at) => MONTHS[at - 1] ?? String(at))) : null;
}

function monthDaysText(day: string, month: string): string | null {
  const months = monthsText(month);
  if (months === null) return null;
  if (day === "L") return `on the last day of ${months}`;
  if (day === "LW") return `on the last weekday of ${months}`;
  const before = /^L-(\d+)$/.exec(day);
  if (before) return `${before[1]} days before the last of ${months}`;
  const near = /^(\d+)W$/.exec(day);
  if (near) return `on the weekday nearest to the ${ordinal(Number(near[1]))} of ${months}`;
  const range = rangeOf(day, [], 0);
  if (range) return `on the ${ordinal(range.from)} to the ${ordinal(range.to)} of ${months}`;
  const days = numbersOf(day, [], 0);
  if (days) return `on the ${listed(days.map(ordinal))} of ${months}`;
  const step = stepOf(day);
  return step ? `every ${ordinal(step)} day of ${months}` : null;
}

function weekDaysText(day: string): string | null {
  const name = (text: string): string | null => {
    const found = numbersOf(text, DAYS, 0);
    return found && found.length === 1 ? (DAYS[found[0]! % 7] ?? null) : null;
  };
  const nth = /^(\w+)#([1-5])$/.exec(day);
  if (nth) return name(nth[1]!) && `on the ${NTH[Number(nth[2])]} ${name(nth[1]!)} of the month`;
  const last = /^(\d|[A-Za-z]{3})L$/.exec(day);
  if (last) return name(last[1]!) && `on the last ${name(last[1]!)} of the month`;
  const range = rangeOf(day, DAYS, 0);
  if (range) return `${DAYS[range.from % 7]} to ${DAYS[range.to % 7]}`;
  const days = numbersOf(day, DAYS, 0);
  return days ? `on ${listed(days.map((at) => DAYS[at % 7] + "s"))}` : null;
}

/** "" is every day; null: not to be said shortly. */
function daysText(day: string, month: string, week: string): string | null {
  const ofMonth = isAny(day) ? "" : monthDaysText(day, month);
  const ofWeek = isAny(week) ? "" : weekDaysText(week);
  if (ofMonth === null || ofWeek === null) return null;
  if (ofMonth && ofWeek) return `${ofMonth} or ${ofWeek}`;
  if (ofMonth || isAny(month)) return ofMonth || ofWeek;
  const months = monthsText(month);
  return months && `${ofWeek || "every day"} in ${months.replace("every month ", "")}`.trim();
}

/** A cron expression in words; null: it is too much for a few words. */
export function cronText(expression: string): string | null {
  const fields = (PRESETS[expression.toLowerCase()] ?? expression).trim().split(/\s+/);
  let seconds = "";
  if (fields.length === 6) {
    const second = fields.shift()!;
    const step = stepOf(second);
    if ((isAny(second) || step) && fields.every(isAny)) return every(step ?? 1, "second");
    if (!/^\d+$/.test(second)) return null;
    if (Number(second) !== 0) seconds = ` and ${Number(second)} s`;
  }
  if (fields.length !== 5) return null;
  const [minute, hour, day, month, week] = fields as [string, string, string, string, string];
  const times = timesText(minute, hour);
  const days = daysText(day, month, week);
  if (!times || days === null) return null;
  if (times.isClock) return `${days || "every day"} ${times.text}${seconds}`;
  return times.text + seconds + (days ? ", " + days : "");
}

const UNITS: Record<string, number> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86400, w: 604800 };
const UNIT_WORDS: [number, string][] =
  [[604800, "week"], [86400, "day"], [3600, "hour"], [60, "minute"], [1, "second"]];
const COUNT_MOST = 90;

/** "every 15 minutes" of "15m", "90m", "1h30m". */
export function everyText(text: string): string | null {
  const clean = text.trim().replace(/^every\s+/i, "").replaceAll(" ", "");
  if (!/^(\d+(\.\d+)?(ms|[smhdw]))+$/.test(clean)) return null;
  let seconds = 0;
  for (const [, count, , unit] of clean.matchAll(/(\d+(\.\d+)?)(ms|[smhdw])/g))
    seconds += Number(count) * UNITS[unit!]!;
  for (const [size, word] of UNIT_WORDS)
    if (seconds >= size && seconds % size === 0 && seconds / size <= COUNT_MOST) return every(seconds / size, word);
  return `every ${durationText(seconds)}`;
}

const asList = (value: Plain | undefined): Plain[] =>
  value === undefined || value === null ? [] : Array.isArray(value) ? value : [value];

function nameOf(value: Plain): string {
  if (value === null || typeof value !== "object") return String(value);
  if (Array.isArray(value)) return listed(value.map(nameOf));
  if (value["any"]) return listed(asList(value["any"]).map(nameOf), "or");
  if (value["all"]) return listed(asList(value["all"]).map(nameOf));
  return String(value["uri"] ?? value["dag"] ?? value["name"] ?? value["path"] ?? JSON.stringify(value));
}

function textOfText(text: string, zone: string): string {
  const steady = everyText(text);
  if (steady) return steady;
  const cron = cronText(text);
  if (cron === null) return `cron ${text}${zone ? " " + zone : ""}`;
  return /\d:\d\d/.test(cron) ? `${cron} ${zone || "UTC"}` : zone ? `${cron}, ${zone}` : cron;
}

function textOfMap(map: { [key: string]: Plain }): string {
  const zone = String(map["tz"] ?? map["timezone"] ?? "");
  const parts = asList(map["cron"]).map((cron) => textOfText(String(cron), ""));
  const said = parts.map((part, i) => (i < parts.length - 1 ? part.replace(/ UTC$/, "") : part));
  if (zone && said.length > 0) {
    const last = said[said.length - 1]!;
    said[said.length - 1] = / UTC$/.test(last) ? last.replace(/UTC$/, zone) : `${last}, ${zone}`;
  }
  if (map["every"] !== undefined) said.push(everyText(String(map["every"])) ?? `every ${String(map["every"])}`);
  const at = asList(map["at"]);
  if (at.length > 3) said.push(`at ${at.length} given times`);
  else if (at.length > 0) said.push("at " + listed(at.map((one) => String(one).replace("T", " "))));
  const data = map["datasets"] ?? map["assets"];
  if (data) said.push(`when ${nameOf(data)} ${asList(data).length > 1 ? "are" : "is"} updated`);
  if (map["after"]) said.push(`after ${nameOf(map["after"])}`);
  if (map["file"]) said.push(`when ${nameOf(map["file"])} arrives`);
  if (map["webhook"]) said.push("when a webhook is called");
  return listed(said.filter(Boolean));
}

/** "every day at 02:30 Europe/Berlin"; "" when it is only started by hand. */
export function scheduleText(schedule: unknown): string {
  const plain = schedule as Plain | undefined;
  if (plain === null || plain === undefined || plain === "" || plain === "@never" || plain === "@none") return "";
  if (typeof plain === "string") return textOfText(plain, "");
  if (Array.isArray(plain)) return listed(plain.map(scheduleText).filter(Boolean));
  return typeof plain === "object" ? textOfMap(plain) : String(plain);
}
