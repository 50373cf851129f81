// Instants and durations as people read them. The zone is a parameter: these are pure.

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat("en-GB", {
      timeZone: zone, hourCycle: "h23", year: "numeric", month: "2-digit", day: "2-digit",
      hour: "2-digit", minute: "2-digit", second: "2-digit",
    });
    formats.set(zone, format);
  }
  return format;
}

export interface Clock {
  date: string; // 2026-11-16
  time: string; // 19:00:17
}

export function clockAt(instant: number | string, zone: string): Clock {
  const part: Record<string, string> = {};
  for (const { type, value } of formatOf(zone).formatToParts(new Date(instant))) part[type] = value;
  return {
    date: `${part["year"]}-${part["month"]}-${part["day"]}`,
    time: `${part["hour"]}:${part["minute"]}:${part["second"]}`,
  };
}

/** "19:00:17" of today, "11-15 19:00" of this year, "2025-11-15" before. */
export function shortInstant(instant: string, zone: string, now = Date.now()): string {
  const then = clockAt(instant, zone);
  const today = clockAt(now, zone);
  if (then.date === today.date) return then.time;
  if (then.date.slice(0, 4) === today.date.slice(0, 4)) return `${then.date.slice(5)} ${then.time.slice(0, 5)}`;
  return then.date;
}

export function longInstant(instant: string, zone: string): string {
  const then = clockAt(instant, zone);
  return `${then.date} ${then.time}`;
}

/** "2026-11-16T06:00" as clocks of the zone show it, as an instant in UTC; "" is no time. */
export function instantFrom(local: string, zone: string): string {
  const wanted = Date.parse(local + (local.length === 16 ? ":00Z" : "Z"));
  if (Number.isNaN(wanted)) return "";
  let instant = wanted;
  // The offset is that of the instant itself: twice is enough, except within an hour that clocks leave out.
  for (let i = 0; i < 2; i++) {
    const clock = clockAt(instant, zone);
    instant += wanted - Date.parse(`${clock.date}T${clock.time}Z`);
  }
  return new Date(instant).toISOString().replace(".000Z", "Z");
}

/** The same back, for a control; "" for what is no instant. */
export function localFrom(instant: string, zone: string): string {
  if (!instant || Number.isNaN(Date.parse(instant))) return "";
  const clock = clockAt(instant, zone);
  return `${clock.date}T${clock.time}`;
}

/** The first instant of a day as clocks of the zone have it; "" for what is no day. What is an instant stays one. */
export function dayStart(day: string, zone: string): string {
  if (day.includes("T")) return day;
  const start = instantFrom(day + "T00:00", zone);
  if (!start || clockAt(start, zone).date >= day) return start;
  // Clocks leave out midnight: they go from the evening before to the first hour of the day.
  const clock = clockAt(start, zone);
  const left = Date.parse(`${day}T00:00:00Z`) - Date.parse(`${clock.date}T${clock.time}Z`);
  return new Date(Date.parse(start) + left).toISOString().replace(".000Z", "Z");
}

/** Its last instant. */
export function dayEnd(day: string, zone: string): string {
  if (day.includes("T")) return day;
  const noon = Date.parse(`${day}T12:00:00Z`);
  if (Number.isNaN(noon)) return "";
  const next = dayStart(new Date(noon + 86_400_000).toISOString().slice(0, 10), zone);
  return new Date(Date.parse(next) - 1).toISOString().replace("Z", "999Z");
}

export interface Days {
  from: string;
  to: string;
}

/** So many whole days before today, as calendars of the zone have it. */
export function lastDays(count: number, now: number, zone: string): Days {
  const today = Date.parse(clockAt(now, zone).date + "T00:00:00Z");
  const before = (days: number): string => new Date(today - days * 86_400_000).toISOString().slice(0, 10);
  return { from: before(count), to: before(1) };
}

/** Seconds as "340 ms", "12.4 s", "3 m 20 s", "2 h 5 m", "3 d 4 h". */
export function durationText(seconds: number): string {
  if (seconds < 0) return "-" + durationText(-seconds);
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} m ${whole % 60} s`;
  const minutes = Math.round(whole / 60);
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} m`;
  const hours = Math.round(minutes / 60);
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** "in 5 m", "3 h ago", "now". */
export function fromNow(instant: string, now = Date.now()): string {
  const seconds = (Date.parse(instant) - now) / 1000;
  const size = Math.abs(seconds);
  if (size < 1) return "now";
  const text = size < 60 ? `${Math.floor(size)} s`
    : size < 3600 ? `${Math.floor(size / 60)} m`
    : size < 86400 ? `${Math.floor(size / 3600)} h`
    : `${Math.floor(size / 86400)} d`;
  return seconds > 0 ? `in ${text}` : `${text} ago`;
}

export function bytesText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const units = ["kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = "B";
  for (const next of units) {
    if (value < 999.5) break;
    value /= 1000;
    unit = next;
  }
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${unit}`;
}

/** 12345 as "12,345". */
export function numberText(value: number): string {
  return value.toLocaleString("en-US");
}
