// How far something is, by parts: colours, and the same in words.
import { lookOf } from "../../core/states";
import { numberText } from "../../core/time";
import { State } from "../../parts/basics";
import { Told } from "../../parts/told";
import { isOver, percentOf, segmentsOf, type Backfill, type Segment } from "./backfill";

export function PartsBar({ segments, label }: { segments: Segment[]; label: string }) {
  const words = segments.map((segment) => `${numberText(segment.count)} ${segment.name}`).join(", ");
  return (
    <div class="parts-bar" role="img" aria-label={`${label}: ${words || "nothing"}`} title={words}>
      {segments.map((segment) => (
        <span key={segment.name} class={`s-${lookOf(segment.state).colour} is-${segment.state}`}
          style={{ flexGrow: segment.count }} />
      ))}
    </div>
  );
}

export function BackfillProgress({ backfill }: { backfill: Backfill }) {
  return (
    <div class="backfill-progress">
      <PartsBar label={`Backfill ${backfill.backfill}`} segments={segmentsOf(backfill)} />
      <span class="number">{percentOf(backfill)} %</span>
    </div>
  );
}

export function Legend({ segments }: { segments: Segment[] }) {
  return (
    <p class="legend">
      {segments.map((segment) => (
        <span key={segment.name} class={`s-${lookOf(segment.state).colour}`}>
          <i class={`is-${segment.state}`} /> {numberText(segment.count)} {segment.name}
        </span>
      ))}
    </p>
  );
}

export function BackfillState({ backfill }: { backfill: Backfill }) {
  return (
    <>
      <State state={backfill.state} />
      {!isOver(backfill) && backfill.held_because && (
        <small class="warn held"><Told text={backfill.held_because} /></small>
      )}
    </>
  );
}
