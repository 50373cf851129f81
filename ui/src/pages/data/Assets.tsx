// Datasets that were updated or are waited for.
import { useLoad } from "../../core/load";
import { pathOf, place } from "../../core/route";
import { Ago } from "../../parts/basics";
import { SearchField } from "../../parts/form";
import { Page, Show } from "../../parts/page";
import { Pager, Table } from "../../parts/table";
import { EmitAsset } from "./emit";
import type { Asset, Assets } from "./types";

const LIMIT = 50;

export function AssetsPage() {
  const { query } = place.value;
  const contains = query.get("q") ?? "";
  const asked = new URLSearchParams({ with_users: "true", with_total: "true", limit: String(LIMIT) });
  if (contains) asked.set("contains", contains);
  if (query.get("offset")) asked.set("offset", query.get("offset")!);
  const loaded = useLoad<Assets>(`/assets?${asked}`, { every: 5000, keep: true });
  return (
    <Page title="Assets"
      actions={<><a class="button" href="/lineage">Lineage</a><EmitAsset onDone={loaded.reload} /></>}>
      <div class="filters"><SearchField name="q" label="Part of a URI" /></div>
      <Show of={loaded}>{(data) => (
        <>
          <AssetTable assets={data.assets} />
          <Pager total={data.total_entries} limit={LIMIT} isMore={data.total_is_more ?? false} />
        </>
      )}</Show>
    </Page>
  );
}

function AssetTable({ assets }: { assets: Asset[] }) {
  return (
    <Table isFolding label="Assets" rows={assets} keyOf={(asset) => asset.uri}
      hrefOf={(asset) => pathOf("asset", asset.uri)}
      empty={<>No datasets. A task with <code>outputs</code> makes one,
        a schedule with <code>datasets</code> waits for one.</>}
      columns={[
        { name: "Dataset", cell: (asset) => <a class="uri" href={pathOf("asset", asset.uri)}>{asset.uri}</a> },
        { name: "Updated",
          cell: (asset) => (asset.last_update ? <Ago at={asset.last_update} /> : <span class="dim">never</span>) },
        { name: "Updates", isNumber: true, isExtra: true, cell: (asset) => asset.updates },
        { name: "Made by", cell: (asset) => <Makers asset={asset} /> },
        { name: "Waited for by", cell: (asset) => <Waiters asset={asset} /> },
        { name: "", isExtra: true,
          cell: (asset) => <a href={`/lineage?asset=${encodeURIComponent(asset.uri)}`}>Lineage</a> },
      ]} />
  );
}

function Makers({ asset }: { asset: Asset }) {
  const makers = new Map(asset.events.map((event) => [
    event.source_dag_id ? `${event.source_dag_id} / ${event.source_task_id}` : event.actor ?? "somebody", event]));
  if (makers.size === 0) return <span class="dim">–</span>;
  return <>{[...makers].map(([name, event]) => (
    <div key={name}>{event.source_dag_id ? <a href={pathOf("dags", event.source_dag_id)}>{name}</a> : name}</div>))}</>;
}

function Waiters({ asset }: { asset: Asset }) {
  if (asset.waiting_dags.length === 0) return <span class="dim">–</span>;
  return <>{asset.waiting_dags.map((dag) => (
    <div key={dag.dag_id}><a href={pathOf("dags", dag.dag_id)}>{dag.dag_id}</a>{" "}
      {dag.waiting > 0 && <span class="tag is-on">{dag.waiting} {dag.waiting === 1 ? "update waits"
        : "updates wait"}</span>}
      {dag.paused && <span class="tag">paused</span>}</div>))}</>;
}
