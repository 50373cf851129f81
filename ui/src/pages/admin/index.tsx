import { Page } from "../../parts/page";

export function VariablesPage() {
  return <Page title="VariablesPage">not yet</Page>;
}
export function ConnectionsPage() {
  return <Page title="ConnectionsPage">not yet</Page>;
}
export function MessagesPage() {
  return <Page title="MessagesPage">not yet</Page>;
}
export function AuditPage() {
  return <Page title="AuditPage">not yet</Page>;
}
export function UsersPage() {
  return <Page title="UsersPage">not yet</Page>;
}
export function TokensPage() {
  return <Page title="TokensPage">not yet</Page>;
}
export function ServerPage() {
  return <Page title="ServerPage">not yet</Page>;
}
