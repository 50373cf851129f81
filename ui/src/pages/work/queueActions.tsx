// Making, changing, pausing and deleting a queue.
import { nameProblem } from "../../core/checks";
import { Problem } from "../../core/http";
import { pathOf } from "../../core/route";
import { can } from "../../core/session";
import { Action, makeChange } from "../../parts/action";
import { tell } from "../../parts/dialog";
import { Switch } from "../../parts/form";
import { Input, numberOf, Pair, useForm } from "../../parts/inputs";
import type { Queue } from "./types";

const BOUNDS = [
  ["priority", "priority", "Priority", "Higher ones are served first."],
  ["max_running", "max-running", "At most running", "On all hosts together; 0: no bound."],
  ["max_share", "max-share", "Share of each host, in percent", "With others that have a share; 0: no bound."],
  ["soft_pending", "soft", "Warn producers when so many wait", "0: never."],
  ["hard_pending", "hard", "Refuse producers when so many wait", "0: never."],
] as const;

export function SetQueue({ queue, onDone }: { queue?: Queue; onDone: () => void }) {
  const form = useForm({
    name: queue?.name ?? "",
    ...Object.fromEntries(BOUNDS.map(([name]) => [name, String(queue?.[name] ?? 0)])),
  } as { name: string; [bound: string]: string });
  const { values } = form;
  const changed = BOUNDS.filter(([name]) => !queue || String(queue[name]) !== values[name]);
  return (
    <Action label={queue ? `Change ${queue.name}` : "Make a queue"} face={queue ? "Edit" : "New queue"}
      isSmall={!!queue} isMain={!queue}
      isAllowed={can("editor")} needs="editor in all namespaces" onOpen={form.reset}
      change={{
        method: "PATCH", path: pathOf("queues", values.name || "QUEUE"),
        body: Object.fromEntries(changed.map(([name]) => [name, numberOf(values[name] ?? "")])),
        cli: ["queues", "set", values.name || "QUEUE",
          ...changed.flatMap(([name, option]) => [`--${option}`, values[name]])],
      }}
      done={queue ? `The queue ${queue.name} is changed.` : `The queue ${values.name} is there.`} onDone={onDone}>
      {!queue && <Input form={form} name="name" label="Name" isRequired check={nameProblem} />}
      <Pair>
        {BOUNDS.map(([name, , label, hint]) => (
          <Input key={name} form={form} name={name} label={label} hint={hint} type="number" isRequired
            {...(name === "priority" ? {} : { min: 0 })} {...(name === "max_share" ? { max: 100 } : {})} />
        ))}
      </Pair>
    </Action>
  );
}

export function DeleteQueue({ queue, onDone }: { queue: Queue; onDone: () => void }) {
  return (
    <Action label={`Delete ${queue.name}`} face="Delete" isSmall isDanger isAllowed={can("editor")}
      needs="editor in all namespaces"
      question="Only an empty queue can go." done={`The queue ${queue.name} is deleted.`} onDone={onDone}
      change={{ method: "DELETE", path: pathOf("queues", queue.name), cli: ["queues", "delete", queue.name, "--yes"] }}
        />
  );
}

export function PauseQueue({ queue, onDone }: { queue: Queue; onDone: () => void }) {
  const change = async (isOn: boolean) => {
    try {
      await makeChange({
        method: "PATCH", path: pathOf("queues", queue.name), body: { paused: !isOn },
        cli: ["queues", isOn ? "resume" : "pause", queue.name],
      }, isOn ? `${queue.name} is served again.` : `${queue.name} is paused; what runs goes on.`);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      tell(error.detail, "bad");
    }
    onDone();
  };
  const isAllowed = can("editor");
  const cli = `eider queues ${queue.paused ? "resume" : "pause"} ${queue.name}`;
  return <Switch isOn={!queue.paused} isDisabled={!isAllowed} onChange={(isOn) => void change(isOn)}
    label={`${queue.name} is served: ${isAllowed ? cli : "needs the role editor in all namespaces"}`} />;
}
