// The pages of one DAG, a file each.
export { GridPage } from "./GridPage";
export { GraphPage } from "./GraphPage";
export { DagRunsPage } from "./DagRunsPage";
export { CalendarPage } from "./CalendarPage";
export { DurationsPage } from "./DurationsPage";
export { VersionsPage } from "./VersionsPage";
export { SourcePage } from "./SourcePage";
export { DagBackfillsPage } from "./DagBackfillsPage";
export { DagSettingsPage } from "./DagSettingsPage";
