import { Page } from "../../parts/page";

export function AssetsPage() {
  return <Page title="AssetsPage">not yet</Page>;
}
export function LineagePage() {
  return <Page title="LineagePage">not yet</Page>;
}
export function AssetPage() {
  return <Page title="AssetPage">not yet</Page>;
}
export function SlaPage() {
  return <Page title="SlaPage">not yet</Page>;
}
