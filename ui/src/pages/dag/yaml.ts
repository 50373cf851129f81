// Words of YAML by kind, for colours: not a parser, and never wrong about the text itself.

export type TokenKind = "key" | "text" | "number" | "word" | "comment" | "mark" | "template" | "anchor" | "plain";

export interface Token {
  kind: TokenKind;
  text: string;
}

/** What goes on over the ends of lines. */
export interface LineState {
  /** Inside of a block (| or >): lines that are indented deeper than this are its text. */
  block: number | null;
  /** Inside of a quoted text that is still open. */
  quote: '"' | "'" | null;
}

export const START: LineState = { block: null, quote: null };

const indentOf = (line: string): number => line.length - line.trimStart().length;

class Words {
  readonly tokens: Token[] = [];
  add(kind: TokenKind, text: string): void {
    if (text === "") return;
    const last = this.tokens.at(-1);
    if (last?.kind === kind) last.text += text;
    else this.tokens.push({ kind, text });
  }
  /** Text of a kind, with {{ templates }} as their own. */
  addText(kind: TokenKind, text: string): void {
    for (const part of text.split(/(\{\{.*?\}\})/)) this.add(part.startsWith("{{") ? "template" : kind, part);
  }
}

/** Where a quoted text ends, after its quote; -1: not on this line. */
function quoteEnd(line: string, from: number, quote: string): number {
  for (let i = from; i < line.length; i++) {
    if (quote === '"' && line[i] === "\\") i++;
    else if (line[i] === quote) {
      if (quote === "'" && line[i + 1] === "'") i++;
      else return i + 1;
    }
  }
  return -1;
}

function kindOfPlain(text: string): TokenKind {
  if (/^[-+]?(\d[\d_]*)(\.\d+)?([eE][-+]?\d+)?$/.test(text)) return "number";
  if (/^(true|false|null|yes|no|on|off|~)$/i.test(text)) return "word";
  return /^[&*!]/.test(text) ? "anchor" : "plain";
}

/** One line; the state says what comes from the lines before, and what goes on after it. */
export function tokensOf(line: string, state: LineState): { tokens: Token[]; state: LineState } {
  const words = new Words();
  if (state.block !== null && (line.trim() === "" || indentOf(line) > state.block)) {
    words.addText("text", line);
    return { tokens: words.tokens, state };
  }
  let at = 0;
  if (state.quote) {
    const end = quoteEnd(line, 0, state.quote);
    words.addText("text", end < 0 ? line : line.slice(0, end));
    if (end < 0) return { tokens: words.tokens, state };
    at = end;
  }
  return { tokens: words.tokens, state: readRest(line, at, words) };
}

function readRest(line: string, from: number, words: Words): LineState {
  let at = from;
  while (at < line.length) {
    const rest = line.slice(at);
    const first = rest[0]!;
    if (first === "#" && (at === 0 || /\s/.test(line[at - 1]!))) {
      words.add("comment", rest);
      break;
    }
    const block = /^[|>][-+0-9]*(?=\s*(#.*)?$)/.exec(rest);
    if (block) {
      words.add("mark", block[0]);
      const comment = rest.slice(block[0].length);
      words.add(comment.trim() ? "comment" : "plain", comment);
      return { block: indentOf(line), quote: null };
    }
    if (first === '"' || first === "'") {
      const end = quoteEnd(line, at + 1, first);
      if (end < 0) {
        words.addText("text", rest);
        return { block: null, quote: first };
      }
      const isKey = /^\s*:(\s|$)/.test(line.slice(end));
      words.addText(isKey ? "key" : "text", line.slice(at, end));
      at = end;
      continue;
    }
    at += readPlain(rest, words);
  }
  return START;
}

/** One thing at the begin of `rest` that is neither quoted nor a comment; how long it is. */
function readPlain(rest: string, words: Words): number {
  const template = /^\{\{.*?\}\}/.exec(rest);
  if (template) {
    words.add("template", template[0]);
    return template[0].length;
  }
  const mark = /^(?:[[\]{},]|-(?=\s|$)|:(?=\s|$|[,}\]])|---$)/.exec(rest);
  if (mark) {
    words.add("mark", mark[0]);
    return mark[0].length;
  }
  const space = /^\s+/.exec(rest);
  if (space) {
    words.add("plain", space[0]);
    return space[0].length;
  }
  const key = /^[^\s#:,[\]{}"'][^:#,[\]{}"']*?(?=\s*:(\s|$))/.exec(rest);
  if (key) {
    words.add("key", key[0]);
    return key[0].length;
  }
  const plain = /^(?:[^\s,[\]{}:]|:(?!\s|$))+/.exec(rest)?.[0] ?? rest[0]!;
  words.addText(kindOfPlain(plain), plain);
  return plain.length;
}

/** All lines of a text. */
export function highlight(text: string): Token[][] {
  let state = START;
  return text.split("\n").map((line) => {
    const read = tokensOf(line, state);
    state = read.state;
    return read.tokens;
  });
}

/** "L3" and "L3-L9" of a link, as the first and last line; null: none. */
export function linesOfHash(hash: string): { first: number; last: number } | null {
  const found = /^L(\d+)(?:-L?(\d+))?$/.exec(hash);
  if (!found) return null;
  const [a, b] = [Number(found[1]), Number(found[2] ?? found[1])];
  return { first: Math.min(a, b), last: Math.max(a, b) };
}
