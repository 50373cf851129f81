// Dates and times of forms: what stands on a clock of a zone, as an instant, and back.
import { clockAt } from "../../core/time";

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
