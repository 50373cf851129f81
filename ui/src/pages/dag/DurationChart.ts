// The chart of durations; loaded when it is first shown, for the library in it is large.
import uPlot from "uplot";
import { lookOf } from "../../core/states";
import { clockAt, durationText } from "../../core/time";
import type { Timed } from "./quantiles";

export interface ChartGiven {
  rows: Timed[];
  data: (number | null)[][];
  zone: string;
  isLog: boolean;
  onPoint: (row: Timed | null) => void;
  onOpen: (row: Timed) => void;
}

const colour = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** A shape for each state: a dot, a cross, a square. */
function drawPoint(ctx: CanvasRenderingContext2D, state: string, x: number, y: number, size: number): void {
  const paint = colour(`--s-${lookOf(state).colour}`);
  ctx.beginPath();
  ctx.fillStyle = ctx.strokeStyle = paint;
  ctx.lineWidth = size / 2;
  ctx.setLineDash([]);
  if (state === "failed") {
    ctx.moveTo(x - size, y - size);
    ctx.lineTo(x + size, y + size);
    ctx.moveTo(x + size, y - size);
    ctx.lineTo(x - size, y + size);
    ctx.stroke();
  } else if (state === "success") {
    ctx.arc(x, y, size, 0, 2 * Math.PI);
    ctx.fill();
  } else ctx.fillRect(x - size, y - size, 2 * size, 2 * size);
}

function drawPoints(chart: uPlot, rows: Timed[]): void {
  const { ctx } = chart;
  const size = 3.5 * devicePixelRatio;
  const { left, top, width, height } = chart.bbox;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, width, height);
  ctx.clip();
  rows.forEach((row, i) => {
    const at = chart.data[0]![i]!;
    if (row.duration !== null)
      drawPoint(ctx, row.state, chart.valToPos(at, "x", true), chart.valToPos(row.duration, "y", true), size);
  });
  ctx.restore();
}

const DAY_S = 86_400;

/** What stands at the ticks of time: the day where it changes, else as much of the clock as is needed. */
function tickTexts(ticks: number[], step: number, zone: string): string[] {
  let before = "";
  return ticks.map((tick) => {
    const { date, time } = clockAt(tick * 1000, zone);
    const isNew = date !== before;
    before = date;
    const parts = step >= DAY_S ? "" : step >= 60 ? time.slice(0, 5)
      : step >= 1 ? time : time.slice(3) + (tick % 1).toFixed(step >= 0.1 ? 1 : 3).slice(1);
    return parts === "" ? date.slice(step >= 300 * DAY_S ? 0 : 5) : isNew ? `${parts}\n${date}` : parts;
  });
}

const HEIGHT = 320;
const nothing = (): null => null;

function seriesOf(): uPlot.Series[] {
  const line = (label: string, stroke: string, more: Partial<uPlot.Series> = {}): uPlot.Series =>
    ({ label, stroke, width: 1.5, points: { show: false }, spanGaps: true, ...more });
  return [{}, { label: "duration", paths: nothing, points: { show: false } },
    line("median of 20", colour("--accent"), { width: 2 }),
    line("p95 of 20", colour("--warn"), { dash: [6, 4] }),
    line("queue wait", colour("--dim"), { dash: [2, 3] })];
}

export function makeChart(element: HTMLElement, given: ChartGiven): { end: () => void } {
  const axis = { stroke: colour("--dim"), grid: { stroke: colour("--line"), width: 1 },
    ticks: { stroke: colour("--line"), width: 1 } };
  let pointed: Timed | null = null;
  const chart = new uPlot({
    width: element.clientWidth, height: HEIGHT, legend: { show: false },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), given.zone),
    scales: { y: given.isLog ? { distr: 3 } : { range: (_chart, _low, high) => [0, (high || 1) * 1.08] } },
    series: seriesOf(),
    axes: [
      { ...axis, values: (_chart, ticks, _axis, _space, step) => tickTexts(ticks, step, given.zone) },
      { ...axis, size: 68, values: (_chart, ticks) => ticks.map((tick) => (tick === null ? "" : durationText(tick))) },
    ],
    cursor: { points: { show: false }, drag: { x: true, y: false } },
    hooks: {
      draw: [(made) => drawPoints(made, given.rows)],
      setCursor: [(made) => {
        const i = made.cursor.idx;
        pointed = i === null || i === undefined ? null : given.rows[i] ?? null;
        given.onPoint(pointed);
      }],
    },
  }, given.data as uPlot.AlignedData, element);
  chart.over.addEventListener("click", () => {
    if (pointed && chart.select.width < 2) given.onOpen(pointed);
  });
  const watcher = new ResizeObserver(() => {
    const width = element.clientWidth;
    if (width > 0 && width !== chart.width) chart.setSize({ width, height: HEIGHT });
  });
  watcher.observe(element);
  return {
    end: () => {
      watcher.disconnect();
      chart.destroy();
    },
  };
}
