// One dataset: who waits for it and for what else, and how it was updated.
import { useLoad } from "../../core/load";
import { pathOf, type Params } from "../../core/route";
import { Ago, Instant, Tag } from "../../parts/basics";
import { limitOf, ShowMore } from "../../parts/paging";
import { Facts, Page, Section, Show } from "../../parts/page";
import { Table } from "../../parts/table";
import { taskHref } from "../runs/links";
import { EmitAsset } from "./emit";
import type { Asset, AssetEvent } from "./types";

export function AssetPage({ params }: { params: Params }) {
  const uri = params["uri"] ?? "";
  const limit = limitOf(20);
  const loaded = useLoad<Asset>(`${pathOf("assets", uri)}?limit=${limit}`, { every: 5000, keep: true });
  return (
    <Page title={<span class="uri">{uri}</span>} name={uri} crumbs={[{ text: "Assets", href: "/assets" }]}
      actions={<><a class="button" href={`/lineage?asset=${encodeURIComponent(uri)}`}>Lineage</a><EmitAsset uri={uri}
        onDone={loaded.reload} /></>}>
      <Show of={loaded}>{(asset) => (
        <>
          <Section title="Facts"><Facts items={[
            ["Last update", asset.last_update ? <><Instant at={asset.last_update} /> (<Ago at={asset.last_update} />)</>
              : "never"],
            ["Updates", String(asset.updates)],
            ["DAGs that wait for it", String(asset.waiters)],
          ]} /></Section>
          <Waiting asset={asset} />
          <History events={asset.events} />
          <ShowMore shown={asset.events.length} limit={limit} />
        </>
      )}</Show>
    </Page>
  );
}

function Waiting({ asset }: { asset: Asset }) {
  return (
    <Section title="Who waits for it">
      <Table isFolding label="DAGs that wait" rows={asset.waiting_dags} keyOf={(dag) => dag.dag_id}
        empty="No DAG waits for this dataset."
        columns={[
          { name: "DAG",
            cell: (dag) => <><a href={pathOf("dags", dag.dag_id)}>{dag.dag_id}</a> {dag.paused
              && <Tag>paused</Tag>}</> },
          { name: "Updates that wait", isNumber: true, cell: (dag) => dag.waiting },
          { name: "Still needs",
            cell: (dag) => (dag.missing ? <Missing uris={dag.missing} own={asset.uri} />
              : <span class="good">nothing</span>) },
        ]} />
    </Section>
  );
}

function Missing({ uris, own }: { uris: string; own: string }) {
  return <>{uris.split(/,\s*/).map((uri) => (
    <div key={uri}>{uri === own ? "this one" : /^[a-z0-9+.-]+:\/\/\S+$/i.test(uri)
      ? <a class="uri" href={pathOf("asset", uri)}>{uri}</a> : uri}</div>))}</>;
}

function History({ events }: { events: AssetEvent[] }) {
  return (
    <Section title="Updates">
      <Table isFolding label="Updates" rows={events} keyOf={(event) => event.id} empty="It was never updated."
        columns={[
          { name: "When",
            cell: (event) =>
              <><Instant at={event.timestamp} /> <span class="dim">(<Ago at={event.timestamp} />)</span></> },
          { name: "By", cell: (event) => <Source event={event} /> },
          { name: "With", cell: (event) => (Object.keys(event.extra ?? {}).length > 0
            ? <code class="extra-text">{JSON.stringify(event.extra)}</code> : <span class="dim">–</span>) },
        ]} />
    </Section>
  );
}

function Source({ event }: { event: AssetEvent }) {
  if (!event.source_dag_id) return <>{event.actor ?? "somebody"}, by hand</>;
  const index = event.source_map_index >= 0 ? ` [${event.source_map_index}]` : "";
  const name = `${event.source_dag_id} / ${event.source_task_id}${index}`;
  if (!event.source_run) return <>{name}</>;
  const task = { number: event.source_run, task_id: event.source_task_id ?? "", map_index: event.source_map_index };
  return <a href={taskHref(task)}>{name}</a>;
}
