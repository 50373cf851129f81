// Paths of runs, their tasks and their logs: of pages, and of the API.
import { pathOf } from "../../core/route";

interface TaskPlace {
  number: string;
  task_id: string;
  map_index: number;
}

const query = (given: Record<string, string | number | null | undefined>): string => {
  const words = Object.entries(given).filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return words.length ? "?" + words.join("&") : "";
};

const mapOf = (index: number | undefined): number | null => (index === undefined || index < 0 ? null : index);

export const runHref = (number: string, tab?: string): string =>
  tab ? pathOf("runs", number, tab) : pathOf("runs", number);
export const taskHref = (task: TaskPlace): string =>
  pathOf("runs", task.number, "tasks", task.task_id) + query({ map: mapOf(task.map_index) });
export const logHref = (task: TaskPlace, more: { try?: number | null; line?: string | number } = {}): string =>
  pathOf("runs", task.number, "tasks", task.task_id, "log") + query({ map: mapOf(task.map_index), ...more });

/** Of the API: "/runs/12/tasks/load/lines?map_index=3". */
export const taskApi = (task: TaskPlace, what: string, more: Record<string, string | number | null> = {}): string =>
  pathOf("runs", task.number, "tasks", task.task_id, what) + query({ map_index: mapOf(task.map_index), ...more });
