// A line of a log: colours, and what was searched for.
import { isDark } from "../../core/prefs";
import { parseAnsi, styleOf, type Piece } from "./ansi";

const isPlain = (piece: Piece): boolean => Object.keys(piece.look).length === 0;

/** Cuts the pieces where the text that is searched for begins and ends. */
export function markPieces(pieces: Piece[], find: string, isSameCase: boolean): (Piece & { isHit?: boolean })[] {
  if (!find) return pieces;
  const whole = pieces.map((piece) => piece.text).join("");
  const fold = (text: string) => (isSameCase ? text : text.toLowerCase());
  const text = fold(whole);
  const wanted = fold(find);
  if (text.length !== whole.length) return pieces; // letters that are longer when small
  const edges: number[] = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) edges.push(at, at + wanted.length);
  if (edges.length === 0) return pieces;
  const out: (Piece & { isHit?: boolean })[] = [];
  let start = 0;
  for (const piece of pieces) {
    const end = start + piece.text.length;
    let from = start;
    for (const [i, edge] of edges.entries()) {
      if (edge <= from || edge > end) continue;
      out.push({ text: whole.slice(from, edge), look: piece.look, isHit: i % 2 === 1 });
      from = edge;
    }
    if (from < end) out.push({ text: whole.slice(from, end), look: piece.look, isHit: edges.filter((edge) => edge <= from).length % 2 === 1 });
    start = end;
  }
  return out;
}

export function LineText({ text, find = "", isSameCase = true }: { text: string; find?: string; isSameCase?: boolean }) {
  const pieces = markPieces(parseAnsi(text), find, isSameCase);
  return (
    <>
      {pieces.map((piece, i) => {
        const shown = isPlain(piece) ? piece.text : <span style={{ ...styleOf(piece.look, isDark.value) }}>{piece.text}</span>;
        return piece.isHit ? <mark key={i}>{shown}</mark> : shown;
      })}
    </>
  );
}
