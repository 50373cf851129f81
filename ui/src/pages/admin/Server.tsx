// The server itself: whether it is well, its settings, its store.
import { useState } from "preact/hooks";
import { Problem, request } from "../../core/http";
import { useLoad } from "../../core/load";
import { place } from "../../core/route";
import { can } from "../../core/session";
import { Action } from "../../parts/action";
import { Command, Copy, Instant, StateIcon } from "../../parts/basics";
import { DryRun } from "../../parts/dryRun";
import { ChoiceFilter, SearchField } from "../../parts/form";
import { Facts, Page, ProblemBox, Section, Show } from "../../parts/page";
import { Table } from "../../parts/table";

export function ServerPage() {
  return (
    <Page title="Server">
      <Health />
      <Doctor />
      <Store />
      <Settings />
    </Page>
  );
}

interface HealthAnswer {
  status?: string;
  metadatabase: { status: string };
  scheduler: { status: string; latest_heartbeat?: string | null };
  workers?: { active: number; target: number };
}

function Well({ status }: { status: string | undefined }) {
  const isWell = status === "healthy";
  return <span class="state"><StateIcon state={isWell ? "active" : "failed"} /> {status ?? "unknown"}</span>;
}

function Health() {
  const health = useLoad<HealthAnswer>("/api/v1/health", { every: 5000 });
  const version = useLoad<{ version: string; git_version: string | null }>("/api/v1/version").data;
  return (
    <Section title="Health" actions={<>
      <a class="button small" href="/metrics" target="_blank">Metrics</a>
      <a class="button small" href="/api/v1/openapi.json" target="_blank">Description of the API</a>
    </>}>
      <Show of={health}>{(data) => (
        <Facts items={[
          ["Overall", <Well status={data.status ?? data.scheduler.status} />],
          ["Store", <Well status={data.metadatabase.status} />],
          ["Scheduler",
            <><Well status={data.scheduler.status} /> {data.scheduler.latest_heartbeat
              && <small class="dim">seen <Instant at={data.scheduler.latest_heartbeat} /></small>}</>],
          ["Active hosts", data.workers && <a href="/hosts">{data.workers.active}</a>],
          ["Version",
            version && <>{version.version} {version.git_version
              && <small class="dim">{version.git_version}</small>}</>],
        ]} />
      )}</Show>
    </Section>
  );
}

interface Check {
  name: string;
  state: string;
  ok: boolean;
  detail: string;
  advice: string | null;
}

interface Checks {
  ok: boolean;
  checks: Check[];
}

function CheckTable({ checks, label }: { checks: Check[]; label: string }) {
  return (
    <Table isFolding label={label} rows={checks} keyOf={(check) => check.name} columns={[
      { name: "Check",
        cell: (check) => <span class="state"><StateIcon state={check.state === "success" ? "active" : check.ok ? "late"
          : "failed"} /> {check.name}</span> },
      { name: "What was found", cell: (check) => <span class="kept-name">{check.detail}</span> },
      { name: "What helps", cell: (check) => <span class="kept-name">{check.advice ?? ""}</span> },
    ]} />
  );
}

function Doctor() {
  const loaded = useLoad<Checks>("/doctor");
  return (
    <Section title="Checks of the machine"
      actions={<button type="button" class="small" onClick={loaded.reload} title="eider doctor">Check again</button>}>
      <Show of={loaded}>{(data) => <CheckTable checks={data.checks} label="Checks of the machine" />}</Show>
    </Section>
  );
}

function Store() {
  const isAdmin = can("admin");
  const [checked, setChecked] = useState<Checks | Problem | null>(null);
  const check = async () => {
    try {
      setChecked(await request<Checks>("POST", "/store/check", { body: {} }));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setChecked(error);
    }
  };
  return (
    <Section title="Store" actions={<>
      <button type="button" class="small" disabled={!isAdmin}
        title={isAdmin ? "eider store check" : "needs the role admin"}
        onClick={() => void check()}>Check for damage</button>
      <Prune />
    </>}>
      {checked instanceof Problem ? <ProblemBox problem={checked} />
        : checked ? <CheckTable checks={checked.checks} label="Checks of the store" />
        : <p class="dim">Everything Eider knows is in one store. On the machine itself it is copied,
          also while in use:</p>}
      <Command text="eider store backup PATH" />
    </Section>
  );
}

function Prune() {
  const words = (answer: Record<string, unknown>) => Object.entries(answer)
    .filter(([, count]) => typeof count === "number" && count > 0)
    .map(([name, count]) => `${String(count)} ${name.replaceAll("_", " ")}`)
    .join(", ") || "Nothing is old enough.";
  return (
    <Action label="Delete what is old" face="Delete old…" isSmall isDanger isAllowed={can("admin")} needs="admin"
      question="What is older than the settings keep goes. A daemon does so by itself, a little at a time."
      done="What was old is deleted."
      change={{ path: "/prune", takesKey: false, cli: ["store", "prune"] }}>
      <DryRun label="What would go?" method="POST" path="/prune" body={{}} tell={words} />
    </Action>
  );
}

interface Setting {
  key: string;
  value: string;
  origin: string;
  environment: string | null;
  flag: string | null;
  help: string;
}

function Settings() {
  const loaded = useLoad<{ settings: Setting[] }>("/config");
  const { query } = place.value;
  const text = (query.get("q") ?? "").toLowerCase();
  const isSet = query.get("set") === "true";
  const fits = (row: Setting) => (!isSet || row.origin !== "default")
    && `${row.key} ${row.help} ${row.value}`.toLowerCase().includes(text);
  return (
    <Section title="Settings" actions={<>
      <SearchField name="q" label="Part of a name or its help" />
      <ChoiceFilter name="set" label="Which"
        choices={[{ value: "", text: "all" }, { value: "true", text: "not the default" }]} />
    </>}>
      <Show of={loaded}>{(data) => (
        <Table isFolding label="Settings" rows={data.settings.filter(fits)} keyOf={(row) => row.key}
          empty="No setting fits."
          columns={[
            { name: "Setting",
              cell: (row) => <><b class="kept-name">{row.key}</b><div><small class="dim">{row.help}</small></div></> },
            { name: "Value",
              cell: (row) => (row.value ? <span class="value"><code>{row.value}</code> <Copy text={row.value} /></span>
                : <span class="dim">–</span>) },
            { name: "From",
              cell: (row) => (row.origin === "default" ? <span class="dim">default</span> : <b>{row.origin}</b>) },
            { name: "Set by", isExtra: true,
              cell: (row) => <small class="mono">{[row.environment, row.flag].filter(Boolean).join(", ")}</small> },
          ]} />
      )}</Show>
    </Section>
  );
}
