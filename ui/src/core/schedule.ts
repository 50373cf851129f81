// A schedule as a DAG file has it, in words.

type Given = string | string[] | Record<string, unknown> | null | undefined;

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
  "November", "December"];
const PRESETS: Record<string, string> = {
  "@hourly": "every hour", "@daily": "every day at 00:00", "@midnight": "every day at 00:00",
  "@weekly": "Sunday at 00:00", "@monthly": "on day 1 of the month at 00:00",
  "@yearly": "on 1 January at 00:00", "@annually": "on 1 January at 00:00", "@once": "once",
};

const two = (text: string): string => text.padStart(2, "0");
const isNumber = (text: string): boolean => /^\d+$/.test(text);

/** "1-5" as "Monday to Friday", "1,3" as "Monday and Wednesday"; null: too much for words. */
function namesOf(field: string, names: string[], first: number): string | null {
  const name = (text: string): string | null => {
    if (isNumber(text)) return names[(Number(text) - first) % names.length] ?? null;
    return names.find((known) => known.slice(0, 3).toUpperCase() === text.toUpperCase()) ?? null;
  };
  const parts = field.split(",").map((part) => {
    const ends = part.split("-").map(name);
    return ends.length <= 2 && ends.every((end) => end) ? ends.join(" to ") : null;
  });
  if (parts.some((part) => !part)) return null;
  return parts.length > 1 ? `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}` : parts[0] ?? null;
}

function timeWords(minute: string, hour: string): string | null {
  const step = /^\*\/(\d+)$/;
  if (hour === "*") {
    if (minute === "*") return "every minute";
    const every = step.exec(minute);
    if (every) return `every ${every[1]} minutes`;
    return isNumber(minute) ? (minute === "0" ? "every hour" : `every hour at :${two(minute)}`) : null;
  }
  const every = step.exec(hour);
  if (every && isNumber(minute)) return `every ${every[1]} hours at :${two(minute)}`;
  if (!isNumber(minute) || !/^\d+(,\d+)*$/.test(hour)) return null;
  return "at " + hour.split(",").map((at) => `${two(at)}:${two(minute)}`).join(", ");
}

function dayWords(day: string, month: string, weekday: string): string | null {
  if (day === "*" && month === "*") return weekday === "*" ? "every day" : namesOf(weekday, DAYS, 0);
  if (weekday !== "*" || !/^\d+(,\d+)*$/.test(day)) return null;
  const days = day.replaceAll(",", ", ");
  if (month === "*") return `on day ${days} of the month`;
  const months = namesOf(month, MONTHS, 1);
  return months && `on ${days} ${months}`;
}

/** A cron expression in words; itself when words would be longer than it is worth. */
export function cronWords(cron: string): string {
  const preset = PRESETS[cron];
  if (preset) return preset;
  const [minute, hour, day, month, weekday, ...more] = cron.trim().split(/\s+/);
  if (minute === undefined || hour === undefined || day === undefined || month === undefined ||
    weekday === undefined || more.length > 0) return cron;
  const time = timeWords(minute, hour);
  const days = dayWords(day, month, weekday);
  if (!time || !days) return cron;
  if (time.startsWith("every")) return days === "every day" ? time : `${time}, ${days}`;
  return `${days} ${time}`;
}

function listOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(listOf).join(", ");
  if (value && typeof value === "object") return Object.values(value).map(listOf).join(", ");
  return String(value);
}

/** "every day at 02:00 (Europe/Berlin)", "when warehouse://orders is updated", "by hand". */
export function scheduleText(schedule: Given): string {
  if (!schedule) return "by hand";
  if (typeof schedule === "string") return cronWords(schedule);
  if (Array.isArray(schedule)) return schedule.map((one) => scheduleText(one)).join("; ");
  const parts: string[] = [];
  const { cron, every, at, datasets, assets, after, file, webhook } = schedule;
  if (cron) parts.push((Array.isArray(cron) ? cron : [cron]).map((one) => cronWords(String(one))).join("; "));
  if (every) parts.push(`every ${String(every)}`);
  if (at) parts.push(`at ${listOf(at)}`);
  if (datasets ?? assets) parts.push(`when ${listOf(datasets ?? assets)} is updated`);
  if (after) parts.push(`after ${listOf(after)}`);
  if (file) parts.push(`when files come: ${listOf(file)}`);
  if (webhook) parts.push("when its webhook is called");
  const zone = schedule["tz"] ?? schedule["timezone"];
  return (parts.join("; ") || "by hand") + (zone && (cron || at) ? ` (${String(zone)})` : "");
}
