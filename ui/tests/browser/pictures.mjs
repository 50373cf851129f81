// Where things are in the pictures of a DAG, and in which colour they are drawn.
import { until } from "./harness.mjs";

/** The colour of a state in the page's theme, as [red, green, blue]. */
async function colourOf(page, state) {
  return page.evaluate((name) => {
    const value = getComputedStyle(document.documentElement).getPropertyValue(`--s-${name}`).trim();
    return [1, 3, 5].map((at) => parseInt(value.slice(at, at + 2), 16));
  }, state);
}

async function pixel(page, selector, x, y) {
  return page.evaluate(([at, left, top]) => {
    const canvas = document.querySelector(at);
    const ratio = canvas.width / canvas.clientWidth;
    const context = canvas.getContext("2d");
    return [...context.getImageData(Math.round(left * ratio), Math.round(top * ratio), 1, 1).data].slice(0, 3);
  }, [selector, x, y]);
}

const isNear = (one, other) => one.every((value, i) => Math.abs(value - other[i]) <= 3);

async function waitForColour(page, selector, state, spotOf) {
  const wanted = await colourOf(page, state);
  await until(`the colour of ${state}`, async () => {
    const spot = await spotOf();
    return spot && isNear(await pixel(page, selector, spot.x, spot.y), wanted);
  });
}

/** The middle of a cell of the grid, within its box; row -1: the bars, column -1: the names. */
export async function cellAt(page, row, column) {
  return page.getByRole("grid").evaluate((box, [r, c]) => {
    const [labels, head, cell, line] = ["labels", "head", "cell", "line"].map((name) => Number(box.dataset[name]));
    return {
      x: c < 0 ? 40 : labels + (c + 0.5) * cell - box.scrollLeft,
      y: r < 0 ? head - 12 : head + (r + 0.5) * line - box.scrollTop,
    };
  }, [row, column]);
}

/** Waits until a cell is drawn in the colour of a state. */
export async function waitForCell(page, row, column, state) {
  // The corner of the icon, which has no shape in it.
  await waitForColour(page, ".grid-box canvas", state, async () => {
    const { x, y } = await cellAt(page, row, column);
    return { x: x - 6, y: y - 6 };
  });
}

export async function clickCell(page, row, column, options = {}) {
  await page.getByRole("grid").click({ position: await cellAt(page, row, column), ...options });
}

/** The middle of a node of the graph, within its box. */
export async function nodeAt(page, node) {
  const box = page.locator(".graph-box");
  await box.and(page.locator("[data-scale]")).waitFor();
  return box.evaluate((element, { x, y, width, height }) => {
    const scale = Number(element.dataset.scale);
    return {
      x: (x + width / 2 - Number(element.dataset.x)) * scale, y: (y + height / 2 - Number(element.dataset.y)) * scale,
      left: (x - Number(element.dataset.x)) * scale, scale,
    };
  }, node);
}

/** Waits until a node has the icon of a state. */
export async function waitForNode(page, node, state) {
  await waitForColour(page, ".graph-main", state, async () => {
    const { left, y, scale } = await nodeAt(page, node);
    return { x: left + (6 + 2) * scale, y: y - 6 * scale };
  });
}

export async function clickNode(page, node) {
  const { x, y } = await nodeAt(page, node);
  await page.locator(".graph-main").click({ position: { x, y } });
}
