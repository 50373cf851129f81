// What a change to many things would do, before it is made.
import { useState } from "preact/hooks";
import { Problem, request, type Query } from "../core/http";
import { ProblemBox } from "./page";

interface DryRunProps {
  method: "POST" | "DELETE";
  path: string;
  body: Record<string, unknown>;
  /** On its button. */
  label?: string;
  tell: (answer: Record<string, unknown>) => string;
}

export function DryRun({ method, path, body, label = "What would happen?", tell }: DryRunProps) {
  const [told, setTold] = useState<{ of: string; text?: string; problem?: Problem } | null>(null);
  const of = JSON.stringify(body);
  const look = async () => {
    const asked = { ...body, dry_run: true };
    try {
      const answer = await request<Record<string, unknown>>(method, path,
        method === "DELETE" ? { query: asked as Query } : { body: asked });
      setTold({ of, text: tell(answer) });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setTold({ of, problem: error });
    }
  };
  const isFresh = told?.of === of;
  return (
    <div class="dry-run">
      <button type="button" class="small" onClick={() => void look()}>{label}</button>
      {isFresh && told.text && <span role="status">{told.text}</span>}
      {isFresh && told.problem && <ProblemBox problem={told.problem} />}
    </div>
  );
}
