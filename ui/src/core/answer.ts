// What the server says to a question that is too long for a URL; nothing is changed by it.
import { useEffect, useState } from "preact/hooks";
import { post, Problem } from "./http";

interface AnswerOptions {
  /** Ask when the question has stayed the same for so many milliseconds. */
  pause?: number;
  /** Keep showing the old answer while another question is asked. */
  keep?: boolean;
  /** The same question is asked again when this changes. */
  again?: string;
}

/** The answer to a POST, or why there is none; null: not yet, or the body is null and nothing is asked. */
export function useAnswer<T>(path: string, body: object | null,
  { pause = 0, keep = false, again = "" }: AnswerOptions = {}): T | Problem | null {
  const [answer, setAnswer] = useState<{ to: string; said: T | Problem } | null>(null);
  const question = body && JSON.stringify(body);
  useEffect(() => {
    if (question === null) return setAnswer(null);
    let isOver = false;
    const tell = (said: T | Problem) => isOver || setAnswer({ to: path + question, said });
    const ask = () => void post<T>(path, JSON.parse(question)).then(tell, (error: unknown) => {
      if (!(error instanceof Problem)) throw error;
      tell(error);
    });
    const timer = pause > 0 ? setTimeout(ask, pause) : undefined;
    if (pause === 0) ask();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [path, question, again]);
  return question !== null && answer && (keep || answer.to === path + question) ? answer.said : null;
}
