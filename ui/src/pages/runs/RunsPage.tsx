import { useScope } from "../../core/stream";
import { Page } from "../../parts/page";
import { RunList } from "./RunList";

export function RunsPage() {
  useScope({ kinds: "run" });
  return <Page title="Runs"><RunList /></Page>;
}
