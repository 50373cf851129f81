import { Page } from "../../parts/page";

export function JobsPage() {
  return <Page title="JobsPage">not yet</Page>;
}
export function JobPage() {
  return <Page title="JobPage">not yet</Page>;
}
export function DeadPage() {
  return <Page title="DeadPage">not yet</Page>;
}
export function QueuesPage() {
  return <Page title="QueuesPage">not yet</Page>;
}
export function PoolsPage() {
  return <Page title="PoolsPage">not yet</Page>;
}
export function HostsPage() {
  return <Page title="HostsPage">not yet</Page>;
}
