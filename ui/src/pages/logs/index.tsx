import { Page } from "../../parts/page";

export function TaskLogPage() {
  return <Page title="TaskLogPage">not yet</Page>;
}
export function JobLogPage() {
  return <Page title="JobLogPage">not yet</Page>;
}
