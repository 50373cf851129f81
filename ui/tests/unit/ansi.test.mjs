import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const ansi = await load("pages/logs/ansi.ts");
const plain = (line) => ansi.plainText(ansi.parseAnsi(line));
const looks = (line) => ansi.parseAnsi(line).map((piece) => [piece.text, piece.look]);

test("colours of 16, of 256 and of all", () => {
  assert.deepEqual(looks("a\x1b[31mb\x1b[0mc"), [["a", {}], ["b", { fg: 1 }], ["c", {}]]);
  assert.deepEqual(looks("\x1b[1;4;92;44mx"), [["x", { isBold: true, isUnderlined: true, fg: 10, bg: 4 }]]);
  assert.deepEqual(looks("\x1b[38;5;208mx\x1b[48;2;1;2;255my"),
    [["x", { fg: 208 }], ["y", { fg: 208, bg: "#0102ff" }]]);
  assert.deepEqual(looks("\x1b[1;2mx\x1b[22my"), [["x", { isBold: true, isDim: true }], ["y", {}]]);
  assert.equal(ansi.paletteColour(208), "#ff8700");
  assert.equal(ansi.paletteColour(244), "#808080");
});

test("numbers out of all bounds do no harm", () => {
  for (const code of ["38;5;999999", "38;2;999;1", "38", "38;5", "48;2;1", ";;;;", "999999999999999999999"])
    assert.equal(plain(`\x1b[${code}mx`), "x", code);
});

test("what moves a terminal's cursor, titles and links is left out; the text of a link stays", () => {
  assert.equal(plain("a\x1b[2J\x1b[10;5Hb\x1b[?25l"), "ab");
  assert.equal(plain("\x1b]0;title\x07x"), "x");
  assert.equal(plain("\x1b]8;;http://evil.example/\x1b\\click\x1b]8;;\x1b\\!"), "click!");
  assert.equal(plain("\x1bP1;2q...\x1b\\x"), "x");
  assert.equal(plain("\x1b]52;c;aGk="), "", "an end that never comes");
});

test("other control characters are signs", () => {
  assert.equal(plain("a\x00b\x07c\x7fd\x9be"), "a␀b␇c␡d�e");
  assert.equal(plain("10 %\r20 %\r"), "10 %␍20 %");
  assert.equal(plain("safe\u202egnp.exe"), "safe\ufffdgnp.exe");
  assert.equal(plain("x\x1b"), "x␛");
  assert.equal(plain("a\tb\t"), "a       b       ");
});

test("what is searched is marked across colours", () => {
  const pieces = [{ text: "one tw", look: {} }, { text: "o three", look: { fg: 1 } }];
  const hits = ansi.markPieces(pieces, "TWO", false).filter((piece) => piece.isHit).map((piece) => piece.text);
  assert.deepEqual(hits, ["tw", "o"]);
  assert.equal(ansi.markPieces(pieces, "TWO", true), pieces);
  assert.equal(ansi.markPieces(pieces, "e", true).map((piece) => piece.text).join(""), "one two three");
});

test("all colours can be read on the ground of either theme", () => {
  for (const isDark of [false, true])
    for (let fg = 0; fg < 256; fg++) {
      const { color } = ansi.styleOf({ fg }, isDark);
      const ground = isDark ? ansi.GROUNDS.dark : ansi.GROUNDS.light;
      assert.ok(ansi.contrast(color, ground) >= 4.5, `${fg} is ${color} on ${ground}`);
      const both = ansi.styleOf({ fg, bg: 255 - fg }, isDark);
      assert.ok(ansi.contrast(both.color, both.backgroundColor) >= 4.4, `${fg} on ${255 - fg}: ${both.color}`);
    }
});

test("a line of a megabyte is read to its end", () => {
  const line = "\x1b[31mx\x1b[0m".repeat(100_000) + "\x1b]".repeat(1000) + "\x1b[".repeat(1000);
  assert.equal(ansi.parseAnsi(line).filter((piece) => piece.text === "x").length, 100_000);
});
