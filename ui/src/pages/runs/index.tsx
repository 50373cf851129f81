import { Page } from "../../parts/page";

export function RunsPage() {
  return <Page title="RunsPage">not yet</Page>;
}
export function RunPage() {
  return <Page title="RunPage">not yet</Page>;
}
export function RunGraphPage() {
  return <Page title="RunGraphPage">not yet</Page>;
}
export function RunGanttPage() {
  return <Page title="RunGanttPage">not yet</Page>;
}
export function RunValuesPage() {
  return <Page title="RunValuesPage">not yet</Page>;
}
export function RunEventsPage() {
  return <Page title="RunEventsPage">not yet</Page>;
}
export function TaskPage() {
  return <Page title="TaskPage">not yet</Page>;
}
