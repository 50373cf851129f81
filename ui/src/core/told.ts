// What the server tells in sentences: the times and the things to type that are in them. Pure.
import { longInstant } from "./time";

export interface Piece {
  kind: "text" | "code" | "instant";
  text: string;
}

/** A time that stands alone: one in a name, such as scheduled__2026-11-17T01:30:00Z, is a part of it. */
const INSTANT = /(?<![\w'"`/.:+-])\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)(?![\w'"`/-])/g;

function timesIn(text: string): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const found of text.matchAll(INSTANT)) {
    if (Number.isNaN(Date.parse(found[0]))) continue;
    if (found.index > at) pieces.push({ kind: "text", text: text.slice(at, found.index) });
    pieces.push({ kind: "instant", text: found[0] });
    at = found.index + found[0].length;
  }
  if (at < text.length) pieces.push({ kind: "text", text: text.slice(at) });
  return pieces;
}

/** What stands between two backticks is something to type; a single one is only a character. */
export function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  const parts = text.split("`");
  const pairs = parts.length - (parts.length % 2 === 0 ? 1 : 0);
  parts.slice(0, pairs).forEach((part, i) => {
    if (i % 2 === 1) pieces.push({ kind: "code", text: part });
    else pieces.push(...timesIn(part));
  });
  if (pairs < parts.length) pieces.push(...timesIn("`" + parts[pairs]));
  return pieces;
}

/** The same where there can only be text: in a tooltip. */
export function plainTold(text: string, zone: string): string {
  return piecesOf(text).map((piece) =>
    (piece.kind === "instant" ? longInstant(piece.text, zone) : piece.text)).join("");
}
