import { Page } from "../../parts/page";

export function GridPage() {
  return <Page title="GridPage">not yet</Page>;
}
export function GraphPage() {
  return <Page title="GraphPage">not yet</Page>;
}
export function DagRunsPage() {
  return <Page title="DagRunsPage">not yet</Page>;
}
export function CalendarPage() {
  return <Page title="CalendarPage">not yet</Page>;
}
export function DurationsPage() {
  return <Page title="DurationsPage">not yet</Page>;
}
export function VersionsPage() {
  return <Page title="VersionsPage">not yet</Page>;
}
export function SourcePage() {
  return <Page title="SourcePage">not yet</Page>;
}
export function DagBackfillsPage() {
  return <Page title="DagBackfillsPage">not yet</Page>;
}
export function DagSettingsPage() {
  return <Page title="DagSettingsPage">not yet</Page>;
}
