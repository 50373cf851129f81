// What a program printed for a terminal, as pieces of text with their looks. Nothing here can do
// harm: whatever is no text is left out or shown as a sign.

export interface Look {
  /** Number of the palette, or "#rrggbb". */
  fg?: number | string;
  bg?: number | string;
  isBold?: boolean;
  isDim?: boolean;
  isItalic?: boolean;
  isUnderlined?: boolean;
  isStruck?: boolean;
  isInverse?: boolean;
}

export interface Piece {
  text: string;
  look: Look;
}

const ESC = "\x1b";
const hex = (part: number): string => Math.max(0, Math.min(255, part | 0)).toString(16).padStart(2, "0");

/** 38;5;n and 38;2;r;g;b, behind 38 or 48; says how many numbers were taken. */
function extended(codes: number[], at: number): [number | string | undefined, number] {
  if (codes[at] === 5) return [Math.min(255, codes[at + 1] ?? 0), 2];
  if (codes[at] === 2) return ["#" + hex(codes[at + 1] ?? 0) + hex(codes[at + 2] ?? 0) + hex(codes[at + 3] ?? 0), 4];
  return [undefined, 1];
}

const FLAGS: Record<number, Partial<Look>> = {
  1: { isBold: true }, 2: { isDim: true }, 3: { isItalic: true }, 4: { isUnderlined: true }, 7: { isInverse: true },
  9: { isStruck: true },
};
const ENDS: Record<number, (keyof Look)[]> = {
  22: ["isBold", "isDim"], 23: ["isItalic"], 24: ["isUnderlined"], 27: ["isInverse"], 29: ["isStruck"], 39: ["fg"],
    49: ["bg"],
};

function applyCodes(look: Look, text: string): Look {
  const codes = text.split(/[;:]/).map((word) => Number(word) || 0);
  let next: Look = { ...look };
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] ?? 0;
    if (code === 0) next = {};
    else if (FLAGS[code]) Object.assign(next, FLAGS[code]);
    else if (ENDS[code]) for (const name of ENDS[code]) delete next[name];
    else if (code >= 30 && code <= 37) next.fg = code - 30;
    else if (code >= 40 && code <= 47) next.bg = code - 40;
    else if (code >= 90 && code <= 97) next.fg = code - 82;
    else if (code >= 100 && code <= 107) next.bg = code - 92;
    else if (code === 38 || code === 48) {
      const [colour, taken] = extended(codes, i + 1);
      if (colour !== undefined) next[code === 38 ? "fg" : "bg"] = colour;
      i += taken;
    }
  }
  return next;
}

/** Signs for what has no look of its own, or would turn the rest of the line around. */
function harmless(text: string, column: number): string {
  let out = "";
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    if (char === "\t") out += " ".repeat(8 - ((column + out.length) % 8));
    else if (code < 32) out += String.fromCharCode(0x2400 + code);
    else if (code === 127) out += "␡";
    else if ((code > 127 && code < 160) || (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) ||
      code === 0x200e || code === 0x200f || code === 0x2028 || code === 0x2029)
      out += "\ufffd";
    else out += char;
  }
  return out;
}

// A sequence of colours; any other sequence; what a terminal is told by OSC, DCS and their like up
// to its end (links are among them: their text stays, what they point at does not).
const SEQUENCE =
  /\x1b\[([0-9;:]*)m|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\|$)|\x1b[ -/]*[0-Z\\^-~]/g;

/** A line without its end. Every line begins plain: a window of lines does not know those before. */
export function parseAnsi(line: string): Piece[] {
  const text = line.endsWith("\r") ? line.slice(0, -1) : line;
  const pieces: Piece[] = [];
  let look: Look = {};
  let at = 0;
  let column = 0;
  const add = (raw: string) => {
    if (!raw) return;
    const shown = harmless(raw, column);
    column += shown.length;
    const last = pieces.at(-1);
    if (last && last.look === look) last.text += shown;
    else pieces.push({ text: shown, look });
  };
  if (!text.includes(ESC)) {
    add(text);
    return pieces;
  }
  for (const match of text.matchAll(SEQUENCE)) {
    add(text.slice(at, match.index));
    at = match.index + match[0].length;
    if (match[1] !== undefined) look = applyCodes(look, match[1]);
  }
  add(text.slice(at));
  return pieces;
}

export const plainText = (pieces: Piece[]): string => pieces.map((piece) => piece.text).join("");

export interface MarkedPiece extends Piece {
  isHit?: boolean;
}

/** Cuts the pieces where the text that is searched for begins and ends. */
export function markPieces(pieces: Piece[], find: string, isSameCase: boolean): MarkedPiece[] {
  if (!find) return pieces;
  const whole = pieces.map((piece) => piece.text).join("");
  const fold = (text: string) => (isSameCase ? text : text.toLowerCase());
  const text = fold(whole);
  const wanted = fold(find);
  if (text.length !== whole.length) return pieces; // letters that are longer when small
  const edges: number[] = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length))
    edges.push(at, at + wanted.length);
  if (edges.length === 0) return pieces;
  const out: MarkedPiece[] = [];
  let start = 0;
  for (const piece of pieces) {
    const end = start + piece.text.length;
    let from = start;
    for (const [i, edge] of edges.entries()) {
      if (edge <= from || edge > end) continue;
      out.push({ text: whole.slice(from, edge), look: piece.look, isHit: i % 2 === 1 });
      from = edge;
    }
    const isHit = edges.filter((edge) => edge <= from).length % 2 === 1;
    if (from < end) out.push({ text: whole.slice(from, end), look: piece.look, isHit });
    start = end;
  }
  return out;
}

// --- colours ----------------------------------------------------------------------------------

const BASE = ["#000000", "#cd3131", "#0dbc79", "#c5a400", "#2472c8", "#bc3fbc", "#11a8cd", "#cccccc",
  "#767676", "#f14c4c", "#23d18b", "#f5d543", "#3b8eea", "#d670d6", "#29b8db", "#ffffff"];
const STEPS = [0, 95, 135, 175, 215, 255];

export function paletteColour(number: number): string {
  if (number < 16) return BASE[number] ?? "#000000";
  if (number >= 232) return "#" + hex(8 + 10 * (number - 232)).repeat(3);
  const cell = number - 16;
  return "#" + [Math.floor(cell / 36), Math.floor(cell / 6) % 6, cell % 6].map((step) =>
    hex(STEPS[step] ?? 0)).join("");
}

const partsOf = (colour: string): number[] => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = partsOf(colour).map((part) => {
    const share = part / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

export function contrast(one: string, other: string): number {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

/** The colour, moved towards black or white until it can be read on the ground. */
export function readable(colour: string, ground: string, least = 4.5): string {
  const target = luminance(ground) > 0.18 ? 0 : 255;
  let parts = partsOf(colour);
  let made = colour;
  for (let i = 0; i < 24 && contrast(made, ground) < least; i++) {
    parts = parts.map((part) => part + (target - part) * 0.15);
    made = "#" + parts.map((part) => hex(Math.round(part))).join("");
  }
  return made;
}

const colourOf = (colour: number | string | undefined): string | undefined =>
  typeof colour === "number" ? paletteColour(colour) : colour;

export const GROUNDS = { light: "#f0f3f5", dark: "#0c1216" };
const TEXTS = { light: "#17202a", dark: "#e6ebef" };

export interface Style {
  color?: string;
  backgroundColor?: string;
  fontWeight?: string;
  fontStyle?: string;
  textDecoration?: string;
}

/** As CSS has it, with enough contrast in the theme. */
export function styleOf(look: Look, isDark: boolean): Style {
  const theme = isDark ? "dark" : "light";
  let fg = colourOf(look.fg);
  let bg = colourOf(look.bg);
  if (look.isInverse) [fg, bg] = [bg ?? GROUNDS[theme], fg ?? TEXTS[theme]];
  const style: Style = {};
  if (bg) style.backgroundColor = bg;
  if (fg || bg || look.isDim) {
    const wanted = fg ?? (bg ? (luminance(bg) > 0.18 ? "#000000" : "#ffffff") : TEXTS[theme]);
    const ground = bg ?? GROUNDS[theme];
    style.color = look.isDim && !fg && !bg ? (isDark ? "#9ba8b3" : "#56626d") : readable(wanted, ground);
  }
  if (look.isBold) style.fontWeight = "700";
  if (look.isItalic) style.fontStyle = "italic";
  const lines = [look.isUnderlined && "underline", look.isStruck && "line-through"].filter(Boolean).join(" ");
  if (lines) style.textDecoration = lines;
  return style;
}
