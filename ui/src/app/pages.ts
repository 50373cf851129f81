// Every page, by its path. Each folder of pages is loaded when one of its pages is first visited.
import type { ComponentType } from "preact";
import { matchPath, type Params } from "../core/route";

export type PageComponent = ComponentType<{ params: Params }>;

export interface PageRow {
  pattern: string;
  load: () => Promise<PageComponent>;
  /** What it asks for first, where that depends on nothing in the URL. */
  ahead?: string;
}

const home = () => import("../pages/home/index");
const dags = () => import("../pages/dags/index");
const dag = () => import("../pages/dag/index");
const runs = () => import("../pages/runs/index");
const logs = () => import("../pages/logs/index");
const start = () => import("../pages/start/index");
const work = () => import("../pages/work/index");
const data = () => import("../pages/data/index");
const admin = () => import("../pages/admin/index");

/* prettier-ignore */
export const PAGES: PageRow[] = [
  { pattern: "",                              load: () => home().then((m) => m.HomePage) },
  { pattern: "/dags",                         load: () => dags().then((m) => m.DagsPage), ahead: "/dag-rows?limit=40" },
  { pattern: "/errors",                       load: () => dags().then((m) => m.ImportErrorsPage) },
  { pattern: "/dags/:dag",                    load: () => dag().then((m) => m.GridPage) },
  { pattern: "/dags/:dag/graph",              load: () => dag().then((m) => m.GraphPage) },
  { pattern: "/dags/:dag/runs",               load: () => dag().then((m) => m.DagRunsPage) },
  { pattern: "/dags/:dag/calendar",           load: () => dag().then((m) => m.CalendarPage) },
  { pattern: "/dags/:dag/durations",          load: () => dag().then((m) => m.DurationsPage) },
  { pattern: "/dags/:dag/versions",           load: () => dag().then((m) => m.VersionsPage) },
  { pattern: "/dags/:dag/source",             load: () => dag().then((m) => m.SourcePage) },
  { pattern: "/dags/:dag/backfills",          load: () => dag().then((m) => m.DagBackfillsPage) },
  { pattern: "/dags/:dag/settings",           load: () => dag().then((m) => m.DagSettingsPage) },
  { pattern: "/dags/:dag/trigger",            load: () => start().then((m) => m.TriggerPage) },
  { pattern: "/dags/:dag/backfill",           load: () => start().then((m) => m.BackfillFormPage) },
  { pattern: "/runs",                         load: () => runs().then((m) => m.RunsPage) },
  { pattern: "/runs/:run",                    load: () => runs().then((m) => m.RunPage) },
  { pattern: "/runs/:run/graph",              load: () => runs().then((m) => m.RunGraphPage) },
  { pattern: "/runs/:run/gantt",              load: () => runs().then((m) => m.RunGanttPage) },
  { pattern: "/runs/:run/values",             load: () => runs().then((m) => m.RunValuesPage) },
  { pattern: "/runs/:run/events",             load: () => runs().then((m) => m.RunEventsPage) },
  { pattern: "/runs/:run/tasks/:task",        load: () => runs().then((m) => m.TaskPage) },
  { pattern: "/runs/:run/tasks/:task/log",    load: () => logs().then((m) => m.TaskLogPage) },
  { pattern: "/jobs/:job/log",                load: () => logs().then((m) => m.JobLogPage) },
  { pattern: "/backfills",                    load: () => start().then((m) => m.BackfillsPage) },
  { pattern: "/backfills/:backfill",          load: () => start().then((m) => m.BackfillPage) },
  { pattern: "/jobs",                         load: () => work().then((m) => m.JobsPage) },
  { pattern: "/jobs/:job",                    load: () => work().then((m) => m.JobPage) },
  { pattern: "/dead",                         load: () => work().then((m) => m.DeadPage) },
  { pattern: "/queues",                       load: () => work().then((m) => m.QueuesPage) },
  { pattern: "/pools",                        load: () => work().then((m) => m.PoolsPage) },
  { pattern: "/hosts",                        load: () => work().then((m) => m.HostsPage) },
  { pattern: "/assets",                       load: () => data().then((m) => m.AssetsPage) },
  { pattern: "/lineage",                      load: () => data().then((m) => m.LineagePage) },
  { pattern: "/asset/:uri",                   load: () => data().then((m) => m.AssetPage) },
  { pattern: "/sla",                          load: () => data().then((m) => m.SlaPage) },
  { pattern: "/variables",                    load: () => admin().then((m) => m.VariablesPage) },
  { pattern: "/connections",                  load: () => admin().then((m) => m.ConnectionsPage) },
  { pattern: "/messages",                     load: () => admin().then((m) => m.MessagesPage) },
  { pattern: "/audit",                        load: () => admin().then((m) => m.AuditPage) },
  { pattern: "/users",                        load: () => admin().then((m) => m.UsersPage) },
  { pattern: "/tokens",                       load: () => admin().then((m) => m.TokensPage) },
  { pattern: "/server",                       load: () => admin().then((m) => m.ServerPage) },
];

export interface Found {
  row: PageRow;
  params: Params;
}

export function findPage(path: string): Found | null {
  for (const row of PAGES) {
    const params = matchPath(row.pattern, path);
    if (params) return { row, params };
  }
  return null;
}

const loaded = new Map<PageRow, PageComponent>();

/** undefined: its code is not here yet. */
export const loadedPage = (row: PageRow): PageComponent | undefined => loaded.get(row);

export async function loadPage(row: PageRow): Promise<void> {
  loaded.set(row, await row.load());
}
