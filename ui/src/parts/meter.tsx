// How much of something is taken: a bar with its numbers as words.
import { numberText } from "../core/time";

export interface MeterPart {
  value: number;
  word: string;
  /** CSS variable --s-NAME. */
  colour: string;
  /** Does not take room yet: drawn with stripes. */
  isWaiting?: boolean;
}

/** The parts of `total`; what they say together may be more than it. */
export function Meter({ parts, total, label }: { parts: MeterPart[]; total: number; label: string }) {
  const sum = parts.reduce((all, part) => all + part.value, 0);
  const whole = Math.max(total, sum, 1);
  const words = parts.filter((part) => part.value > 0).map((part) => `${numberText(part.value)} ${part.word}`);
  const text = `${label}: ${words.join(", ") || "nothing"}, of ${numberText(total)}`;
  return (
    <span class="meter" role="img" aria-label={text} title={text}>
      {parts.map((part) => part.value > 0 && (
        <i key={part.word} class={`s-${part.colour} ${part.isWaiting ? "is-waiting" : ""}`}
          style={{ width: `${(100 * part.value) / whole}%` }} />
      ))}
      {sum > total && total > 0 && <b style={{ left: `${(100 * total) / whole}%` }} />}
    </span>
  );
}
