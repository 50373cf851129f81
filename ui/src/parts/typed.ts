// A text that is typed, and the URL that follows it.
import { useEffect, useRef, useState } from "preact/hooks";
import { place } from "../core/route";

const TYPING_MS = 150;

export interface Typed {
  text: string;
  /** What the URL had, and on which page, when the field looked there last. */
  known: string;
  path: string;
}

/** A look at the URL: what somebody else put there is taken over, what the field put there itself is older than it. */
export function adopt(typed: Typed, given: string, path: string): Typed {
  return given === typed.known && path === typed.path ? typed : { text: given, known: given, path };
}

interface TypedField {
  text: string;
  type: (text: string) => void;
  /** Brings the URL to the text at once; false: it has it already. */
  send: () => boolean;
}

/** The text of a field; `put` brings it into the URL, under `name`, when nothing was typed for a moment. */
export function useTyped(name: string, put: (text: string) => void): TypedField {
  const [, redraw] = useState(0);
  const typed = useRef<Typed>({ text: "", known: "", path: "" });
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const given = () => place.value.query.get(name) ?? "";
  const look = () => (typed.current = adopt(typed.current, given(), place.value.path));
  useEffect(() => () => clearTimeout(timer.current), []); // what was typed is not for the next page
  const send = () => {
    clearTimeout(timer.current);
    const { text, known } = look();
    if (text === known) return false;
    put(text);
    typed.current = { ...typed.current, known: given() };
    return true;
  };
  const type = (text: string) => {
    typed.current = { ...look(), text };
    clearTimeout(timer.current);
    timer.current = setTimeout(send, TYPING_MS);
    redraw((count) => count + 1);
  };
  return { text: look().text, type, send };
}
