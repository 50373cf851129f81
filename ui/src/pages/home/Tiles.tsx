// Four counts, each with a day of bars, one for every hour.
import { zone } from "../../core/prefs";
import { clockAt, numberText } from "../../core/time";
import { sum, type Home, type Hours } from "./home";

const HOUR_MS = 3_600_000;
const HEIGHT = 30;

function HourBars({ hours, counts, what }: { hours: Hours; counts: number[]; what: string }) {
  const most = Math.max(1, ...counts);
  const begin = Date.parse(hours.begin);
  const at = (hour: number): string => clockAt(begin + hour * HOUR_MS, zone.value).time.slice(0, 5);
  return (
    <svg class="hour-bars" viewBox={`0 0 ${counts.length * 5} ${HEIGHT}`} preserveAspectRatio="none" role="img"
      aria-label={`${what}, hour by hour: ${counts.join(" ")}`}>
      {counts.map((count, hour) => {
        const height = count > 0 ? Math.max(3, (count / most) * HEIGHT) : 1;
        return (
          <g key={hour}>
            <title>{`${at(hour)} to ${at(hour + 1)}: ${count}`}</title>
            <rect class="hour-back" x={hour * 5} y="0" width="5" height={HEIGHT} />
            <rect class={count > 0 ? "hour-bar" : "hour-none"} x={hour * 5 + 0.5} y={HEIGHT - height} width="4"
              height={height} />
          </g>
        );
      })}
    </svg>
  );
}

interface TileProps {
  name: string;
  count: number;
  about: string;
  href: string;
  colour: string;
  hours: Hours;
  counts: number[];
}

function Tile({ name, count, about, href, colour, hours, counts }: TileProps) {
  return (
    <a class={`tile card s-${colour} ${count > 0 ? "" : "is-none"}`} href={href}>
      <span class="tile-name">{name}</span>
      <b class="tile-count">{numberText(count)}</b>
      <span class="tile-about dim">{about}</span>
      <HourBars hours={hours} counts={counts} what={`${name} in the last 24 hours`} />
    </a>
  );
}

export function Tiles({ home }: { home: Home }) {
  const { hours, runs } = home;
  const ended = sum(hours.success) + sum(hours.failed);
  return (
    <div class="tiles">
      <Tile name="Running" count={runs["running"] ?? 0} about={`${numberText(ended)} ended in 24 h`}
        href="/runs?state=running" colour="running" hours={hours} counts={hours.ran} />
      <Tile name="Queued" count={runs["queued"] ?? 0} about="runs that wait" href="/runs?state=queued" colour="queued"
        hours={hours} counts={hours.waited} />
      <Tile name="Failed" count={runs["failed"] ?? 0} about={`in 24 h; ${numberText(runs["success"] ?? 0)} succeeded`}
        href="/runs?state=failed" colour="failed" hours={hours} counts={hours.failed} />
      <Tile name="Late" count={home.late.length} about={`${numberText(sum(hours.late))} missed in 24 h`} href="/sla"
        colour="retry" hours={hours} counts={hours.late} />
    </div>
  );
}
