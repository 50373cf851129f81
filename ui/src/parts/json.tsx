// A value as JSON, laid out for reading.
import { Copy } from "./basics";

export function Json({ value, label }: { value: unknown; label: string }) {
  const text = JSON.stringify(value, null, 2) ?? "";
  return (
    <div class="json">
      <pre aria-label={label} tabIndex={0}>{text}</pre>
      <Copy text={text} label={`Copy`} />
    </div>
  );
}
