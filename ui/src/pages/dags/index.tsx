import { Page } from "../../parts/page";

export function DagsPage() {
  return <Page title="DagsPage">not yet</Page>;
}
export function ImportErrorsPage() {
  return <Page title="ImportErrorsPage">not yet</Page>;
}
