// Saying by hand that a dataset was updated.
import { jsonObjectProblem } from "../../core/checks";
import { pathOf } from "../../core/route";
import { can } from "../../core/session";
import { Action } from "../../parts/action";
import { Input, useForm } from "../../parts/inputs";

export function EmitAsset({ uri, onDone }: { uri?: string; onDone: () => void }) {
  const form = useForm({ uri: uri ?? "", extra: "" });
  const { values } = form;
  const isGood = values.extra.trim() !== "" && !jsonObjectProblem(values.extra);
  const extra = isGood ? JSON.parse(values.extra) as unknown : undefined;
  return (
    <Action label="Say that it was updated" face={uri ? "Say that it was updated" : "New update"} isMain
      isAllowed={can("operator")}
      needs="operator in all namespaces" onOpen={form.reset} done="The update is known." onDone={onDone}
      question="DAGs that wait for it may start, as after a task with it in its outputs."
      change={{
        path: pathOf("assets", values.uri || "URI") + "/events", body: isGood ? { extra } : {},
        cli: ["assets", "emit", values.uri || "URI", isGood && "--extra", isGood && JSON.stringify(extra)],
      }}>
      {!uri && <Input form={form} name="uri" label="URI" isRequired placeholder="s3://landing/orders" />}
      <Input form={form} name="extra" label="What is told to those who wait" rows={3}
        check={jsonObjectProblem} placeholder='{"rows": 120}'
        hint="A JSON object, or nothing." />
    </Action>
  );
}
