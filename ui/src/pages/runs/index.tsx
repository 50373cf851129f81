export { RunsPage } from "./RunsPage";
export { RunPage } from "./RunPage";
export { RunGraphPage } from "./RunGraph";
export { RunGanttPage } from "./RunGantt";
export { RunValuesPage } from "./RunValues";
export { RunEventsPage } from "./RunEvents";
export { TaskPage } from "./TaskPage";
