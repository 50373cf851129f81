import { Page } from "../../parts/page";

export function HomePage() {
  return <Page title="HomePage">not yet</Page>;
}
