// A change that somebody makes: a button, a question where it matters, the same as a command.
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { cliText, curlText } from "../core/cli";
import { apiUrl, ChangeKey, Problem, request, type Query } from "../core/http";
import { Command } from "./basics";
import { Dialog, tell } from "./dialog";
import { Field } from "./form";
import { ProblemBox } from "./page";

export interface Change {
  method?: "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below /api/v1/x. */
  path: string;
  body?: Record<string, unknown>;
  /** Of `eider`, without that word; null: there is none. */
  cli: (string | number | null | undefined | false)[];
  /** The request takes a key that makes it safe to send again. */
  takesKey?: boolean;
  /** The request takes a reason for the audit. */
  takesReason?: boolean;
  /** What the commands show of the body when it has a secret in it. */
  shownBody?: Record<string, unknown>;
}

/** Makes a change; what came of it is told, a failure is thrown. With the same `key` it can be tried again. */
export async function makeChange<T>(change: Change, done: string, key = new ChangeKey()): Promise<T> {
  const { method = "POST", path, body } = change;
  const given = method === "DELETE" ? { query: body as Query } : { body: body ?? {} };
  const send = (more: { key?: string } = {}) => request<T>(method, path, { ...given, ...more });
  const answer = await (change.takesKey === false ? send()
    : key.use({ method, path, body }, (text) => send({ key: text })));
  tell(done);
  return answer;
}

interface ActionProps {
  label: string;
  /** What is asked before; without it the change is made at once. */
  question?: ComponentChildren;
  /** More of the form, between the question and the commands. */
  children?: ComponentChildren;
  change: Change;
  done: string;
  onDone?: (answer: unknown) => void;
  /** The dialog comes up: a form begins anew. */
  onOpen?: () => void;
  /** The role allows it; else the button says what is missing. */
  isAllowed: boolean;
  needs?: string;
  isDanger?: boolean;
  isMain?: boolean;
  isSmall?: boolean;
  /** Something else than the label on the button. */
  face?: ComponentChildren;
}

export function Action(props: ActionProps) {
  const [isOpen, setOpen] = useState(false);
  const kind = [props.isDanger && "danger", props.isMain && "main", props.isSmall && "small"].filter(Boolean).join(" ");
  const cli = cliText(...props.change.cli);
  const title = props.isAllowed ? cli : `needs the role ${props.needs ?? "operator"}`;
  const open = () => {
    props.onOpen?.();
    setOpen(true);
  };
  return (
    <>
      <button type="button" class={kind} title={title} disabled={!props.isAllowed} onClick={open}>
        {props.face ?? props.label}
      </button>
      {isOpen && <ActionDialog {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

function ActionDialog(props: ActionProps & { onClose: () => void }) {
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [reason, setReason] = useState("");
  const key = useRef(new ChangeKey());
  const body = reason ? { ...props.change.body, reason } : props.change.body;
  const shown = props.change.shownBody ?? body ?? {};
  const cli = cliText(...props.change.cli, reason && "--reason", reason);
  const run = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setProblem(null);
    try {
      const answer = await makeChange({ ...props.change, body }, props.done, key.current);
      props.onClose();
      props.onDone?.(answer);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setProblem(error);
      setBusy(false);
    }
  };
  return (
    <Dialog title={props.label} onClose={props.onClose}>
      <form onSubmit={(event) => void run(event)}>
        {props.question && <p>{props.question}</p>}
        {props.children}
        {props.change.takesReason !== false && (
          <Field label="Reason, for the audit (optional)">
            <input value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
          </Field>
        )}
        {problem && <ProblemBox problem={problem} />}
        <details class="same">
          <summary>The same by command</summary>
          <Command label="CLI" text={cli} />
          <Command label="curl" text={props.change.method === "DELETE"
            ? curlText("DELETE", apiUrl(props.change.path, shown as Query))
            : curlText(props.change.method ?? "POST", props.change.path, shown)} />
        </details>
        <footer class="actions">
          <button type="button" onClick={props.onClose}>Cancel</button>
          <button type="submit" class={props.isDanger ? "danger main" : "main"} disabled={isBusy}
            autofocus={!props.children}>
            {isBusy ? "…" : props.label}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
