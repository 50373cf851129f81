// The processes that run tasks.
import { useLoad } from "../../core/load";
import { pathOf, place } from "../../core/route";
import { can } from "../../core/session";
import { durationText, numberText } from "../../core/time";
import { Action } from "../../parts/action";
import { Ago, State, Tag } from "../../parts/basics";
import { ChoiceFilter } from "../../parts/form";
import { Meter } from "../../parts/meter";
import { counted } from "../../parts/paging";
import { Page, Show } from "../../parts/page";
import { Table } from "../../parts/table";
import type { Host } from "./types";

interface Demand {
  desired: number;
  living: number;
  demand: number;
  slots_per_host: number;
}

export function HostsPage() {
  const isAll = place.value.query.get("all") === "true";
  const loaded = useLoad<{ hosts: Host[] }>(`/hosts${isAll ? "?all=true" : ""}`, { every: 2000, keep: true });
  const demand = useLoad<Demand>("/demand", { every: 5000 }).data;
  return (
    <Page title="Hosts">
      <div class="filters">
        <ChoiceFilter name="all" label="Which"
          choices={[{ value: "", text: "Living hosts" }, { value: "true", text: "All, also those that left" }]} />
        {demand && (
          <span class="dim">
            The work at hand needs {counted(demand.demand, "slot")}: {counted(demand.desired, "host")} of
            {" "}{counted(demand.slots_per_host, "slot")}. There {demand.living === 1 ? "is" : "are"}
            {" "}{counted(demand.living, "host")} now.
          </span>
        )}
      </div>
      <Show of={loaded}>{(data) => <HostTable hosts={data.hosts} onDone={loaded.reload} />}</Show>
    </Page>
  );
}

function HostTable({ hosts, onDone }: { hosts: Host[]; onDone: () => void }) {
  return (
    <Table isFolding label="Hosts" rows={hosts} keyOf={(host) => host.id}
      empty="No hosts: nothing runs. `eider up` starts one."
      columns={[
        { name: "Host", cell: (host) => (
          <><b>{host.name}</b> {host.leader && <Tag>leader</Tag>}<br />
            <small class="dim">{host.kind}{host.machine && host.machine !== host.name && ` on ${host.machine}`},
              pid {host.pid}</small></>) },
        { name: "Status", cell: (host) => <State state={host.status} /> },
        { name: "Slots", cell: (host) => (
          <div class="work-cell">
            <Meter label="Slots" total={host.slots}
              parts={[{ value: host.slots_used, word: "used", colour: "running" }]} />
            <small>{numberText(host.slots_used)} of {numberText(host.slots)} used</small>
          </div>) },
        { name: "Heartbeat", cell: (host) => <Heartbeat host={host} /> },
        { name: "Serves", isExtra: true, cell: (host) => (
          <small>{host.queues.length > 0 ? host.queues.join(", ") : "all queues"}<br />
            {host.labels.map((label) => <Tag key={label}>{label}</Tag>)}</small>) },
        { name: "Roles", isExtra: true, cell: (host) => <small>{host.roles.join(", ")}</small> },
        { name: "Version", isExtra: true,
          cell: (host) => <small>{host.version}<br /><span class="dim">since <Ago at={host.birth} /></span></small> },
        { name: "", cell: (host) => <Drain host={host} onDone={onDone} /> },
      ]} />
  );
}

function Heartbeat({ host }: { host: Host }) {
  if (host.ended_at) return <span class="dim">ended <Ago at={host.ended_at} /></span>;
  return host.heartbeat_age === null ? <span class="dim">–</span>
    : <span class="nowrap">{host.heartbeat_age < 1 ? "now" : `${durationText(host.heartbeat_age)} ago`}</span>;
}

function Drain({ host, onDone }: { host: Host; onDone: () => void }) {
  if (host.ended_at || (host.status !== "active" && host.status !== "draining")) return null;
  const isDrain = host.status === "active";
  return (
    <Action label={isDrain ? `Drain ${host.name}` : `Let ${host.name} claim again`}
      face={isDrain ? "Drain" : "Resume"} isSmall
      isAllowed={can("operator")} needs="operator in all namespaces" isDanger={isDrain}
      question={isDrain ? "It finishes what it has and claims nothing more." : "It claims tasks and jobs again."}
      done={isDrain ? `${host.name} is draining.` : `${host.name} claims again.`} onDone={onDone}
      change={{
        path: pathOf("hosts", host.id, "drain"), body: { drain: isDrain },
        cli: ["hosts", isDrain ? "drain" : "resume", host.name],
      }} />
  );
}
