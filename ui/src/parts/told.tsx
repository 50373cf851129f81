// A sentence of the server, with its times in the chosen zone and what can be typed as such.
import { piecesOf } from "../core/told";
import { Instant } from "./basics";

export function Told({ text }: { text: string }) {
  return (
    <>
      {piecesOf(text).map((piece, i) => (
        piece.kind === "code" ? <code key={i}>{piece.text}</code>
          : piece.kind === "instant" ? <Instant key={i} at={piece.text} isLong /> : piece.text
      ))}
    </>
  );
}
