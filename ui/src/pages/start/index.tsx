import { Page } from "../../parts/page";

export function TriggerPage() {
  return <Page title="TriggerPage">not yet</Page>;
}
export function BackfillFormPage() {
  return <Page title="BackfillFormPage">not yet</Page>;
}
export function BackfillsPage() {
  return <Page title="BackfillsPage">not yet</Page>;
}
export function BackfillPage() {
  return <Page title="BackfillPage">not yet</Page>;
}
