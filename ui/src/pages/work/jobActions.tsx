// What can be done with jobs: put one in a queue, stop it, run it again, later, delete old ones.
import { durationProblem, jsonProblem } from "../../core/checks";
import { useLoad } from "../../core/load";
import { go, pathOf } from "../../core/route";
import { can } from "../../core/session";
import { Action } from "../../parts/action";
import { Choose, given, Input, numberOf, Pair, Suggestions, useForm } from "../../parts/inputs";
import { DryRun } from "../../parts/dryRun";
import { JOB_STATES, type Job, type Queue } from "./types";

export function EnqueueJob({ queue }: { queue: string | null }) {
  const form = useForm({
    queue: queue ?? "default", handler: "", payload: "", delay: "", priority: "", retries: "", timeout: "", dedupe: "",
  });
  const { values } = form;
  const isJson = !jsonProblem(values.payload) && values.payload.trim() !== "";
  const job = given({
    handler: values.handler, payload: isJson ? JSON.parse(values.payload) as unknown : undefined, delay: values.delay,
    priority: numberOf(values.priority), retries: numberOf(values.retries), timeout: values.timeout,
    dedupe: values.dedupe,
  });
  const options = ["delay", "priority", "retries", "timeout", "dedupe"] as const;
  return (
    <Action label="Put a job in a queue" face="New job" isMain isAllowed={can("operator", "default")}
      onOpen={form.reset}
      change={{
        path: "/jobs", body: { queue: values.queue, jobs: [job] }, takesReason: false,
        cli: ["enqueue", values.queue || "QUEUE", values.handler || "HANDLER", isJson && JSON.stringify(job["payload"]),
          ...options.flatMap((name) => (values[name] ? [`--${name}`, values[name]] : []))],
      }}
      done="The job is in its queue."
      onDone={(answer) => {
        const made = (answer as { jobs: { id: string }[] }).jobs[0];
        if (made) go(pathOf("jobs", made.id));
      }}>
      <QueueNames />
      <Pair>
        <Input form={form} name="queue" label="Queue" isRequired list="queue-names" />
        <Input form={form} name="handler" label="Handler" isRequired placeholder="send"
          hint="A name from handlers in eider.yaml, or noop or sleep." />
      </Pair>
      <Input form={form} name="payload" label="Payload, as JSON" rows={4}
        check={jsonProblem} placeholder='{"to": "ann"}' />
      <Pair>
        <Input form={form} name="delay" label="Not before, from now" placeholder="5m" check={durationProblem} />
        <Input form={form} name="timeout" label="Timeout of an attempt" placeholder="10m" check={durationProblem} />
        <Input form={form} name="priority" label="Priority" type="number" hint="Higher ones come first." />
        <Input form={form} name="retries" label="Retries" type="number" min={0} />
      </Pair>
      <Input form={form} name="dedupe" label="Dedupe key" hint="Only one job has this key." />
    </Action>
  );
}

/** For fields that name a queue. */
export function QueueNames() {
  const queues = useLoad<{ queues: Queue[] }>("/queues").data?.queues ?? [];
  return <Suggestions id="queue-names" names={queues.map((queue) => queue.name)} />;
}

export function PurgeJobs({ onDone }: { onDone: () => void }) {
  const form = useForm({ older: "30d", queue: "", status: "" });
  const body = given(form.values) as Record<string, string>;
  return (
    <Action label="Delete old jobs" face="Delete old…" isDanger isAllowed={can("editor")} needs="editor"
      onOpen={form.reset}
      question="Jobs that are over go, with their logs. Those among the dead letters stay."
      change={{
        method: "DELETE", path: "/jobs", body, takesKey: false,
        cli: ["jobs", "purge", ...optionsOf(body), "--yes"],
      }}
      done="Old jobs are deleted." onDone={onDone}>
      <QueueNames />
      <Pair>
        <Input form={form} name="older" label="Older than" check={durationProblem} isRequired />
        <Input form={form} name="queue" label="Only of the queue" list="queue-names" />
        <Choose form={form} name="status" label="Only in the state"
          choices={[["", "any"], ...JOB_STATES.slice(3).map((state): [string, string] => [state, state])]} />
      </Pair>
      <DryRun method="DELETE" path="/jobs" body={body}
        tell={(answer) => `${String(answer["purged"])} jobs would go.`} />
    </Action>
  );
}

export const optionsOf = (body: Record<string, string>): string[] =>
  Object.entries(body).flatMap(([name, value]) => [`--${name}`, value]);

const OVER = ["completed", "failed", "cancelled"];

export function JobActions({ job, onDone }: { job: Job; onDone: () => void }) {
  const isAllowed = can("operator", job.namespace);
  const isOver = OVER.includes(job.status);
  const path = pathOf("jobs", job.id);
  const form = useForm({ delay: "1h" });
  return (
    <>
      {!isOver && (
        <Action label="Cancel the job" face="Cancel" isDanger isAllowed={isAllowed} done="The job is being stopped."
          question="One that waits does not run; one that runs is ended by its host."
          change={{ path: `${path}/cancel`, cli: ["jobs", "cancel", job.id] }} onDone={onDone} />
      )}
      {(job.status === "delayed" || job.status === "pending") && (
        <Action label="Run it later" face="Run later" isAllowed={isAllowed} onOpen={form.reset}
          done="The job has another time."
          change={{
            method: "PATCH", path, body: { delay: form.values.delay },
            cli: ["jobs", "reschedule", job.id, "--delay", form.values.delay],
          }} onDone={onDone}>
          <Input form={form} name="delay" label="From now" check={durationProblem} isRequired />
        </Action>
      )}
      {(isOver || job.status === "delayed") && (
        <Action label={isOver ? "Run the job again" : "Run the job now"} face={isOver ? "Run again" : "Run now"} isMain
          isAllowed={isAllowed} done="The job runs again."
          change={{ path: `${path}/retry`, cli: ["jobs", "retry", job.id] }} onDone={onDone} />
      )}
    </>
  );
}
