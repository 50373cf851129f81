// A line of a log: colours, and what was searched for.
import { isDark } from "../../core/prefs";
import { markPieces, parseAnsi, styleOf, type Piece } from "./ansi";

const isPlain = (piece: Piece): boolean => Object.keys(piece.look).length === 0;

export function LineText({ text, find = "", isSameCase = true }: { text: string; find?: string;
  isSameCase?: boolean }) {
  const pieces = markPieces(parseAnsi(text), find, isSameCase);
  return (
    <>
      {pieces.map((piece, i) => {
        const shown = isPlain(piece) ? piece.text : <span
          style={{ ...styleOf(piece.look, isDark.value) }}>{piece.text}</span>;
        return piece.isHit ? <mark key={i}>{shown}</mark> : shown;
      })}
    </>
  );
}
