// The last runs of a DAG as bars: as high as they took long, coloured and named by their state. One
// stop for the tab key; the arrow keys go from run to run.
import { lookOf } from "../../core/states";
import { durationText } from "../../core/time";
import { pathOf } from "../../core/route";
import { barHeights, type DagRow } from "./rows";

function move(event: KeyboardEvent): void {
  const bars = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("a")];
  const at = bars.indexOf(document.activeElement as HTMLElement);
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: bars.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  bars[Math.max(0, Math.min(to, bars.length - 1))]?.focus();
}

const took = (tenths: number): string => (tenths < 0 ? "not started" : durationText(tenths / 10));

export function RunBars({ row, states }: { row: DagRow; states: string[] }) {
  if (row.numbers.length === 0) return <span class="dim">no runs yet</span>;
  const heights = barHeights(row.durations);
  return (
    <div class="run-bars" role="group" aria-label={`The last runs of ${row.dag_id}`} onKeyDown={move}>
      {row.numbers.map((number, i) => {
        const look = lookOf(states[Number(row.states[i])]);
        const title = `run ${number}: ${look.word}, ${took(row.durations[i] ?? -1)}`;
        return (
          <a key={number} href={pathOf("runs", number)} class={`s-${look.colour}`} title={title} aria-label={title}
            tabIndex={i === row.numbers.length - 1 ? 0 : -1}>
            <i class={look.colour === "failed" ? "is-failed" : ""} style={{ height: `${heights[i]}%` }} />
          </a>
        );
      })}
    </div>
  );
}
