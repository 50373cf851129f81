// What the tests of pages with forms do again and again.
import assert from "node:assert/strict";
import { openPage, SIZES, THEMES } from "./harness.mjs";

export const at = (daemon, path) => new URL(path, daemon.pages).href;

/** Opens a page of the daemon, and waits until it shows what it has loaded. */
export async function visit(daemon, page, path) {
  await page.goto(at(daemon, path));
  await settled(page);
}

export async function settled(page) {
  await page.locator("main h1").first().waitFor();
  await page.waitForFunction(() => !document.querySelector(".loading, main[aria-busy]"));
}

/** Each path in both themes and both sizes: a heading, nothing in the console, nothing wider than the window. */
export async function looksRight(daemon, paths) {
  for (const theme of THEMES) {
    for (const [name, size] of Object.entries(SIZES)) {
      const page = await openPage(daemon, { theme, size });
      for (const path of paths) {
        await visit(daemon, page, path);
        assert.deepEqual(page.mistakes, [], `${path}, ${theme}, ${name}`);
        assert.equal(await page.locator(".problem").count(), 0, `${path} says a problem`);
        const [inner, outer] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
        assert.ok(inner <= outer, `${path} is ${inner} wide in a window of ${outer}`);
      }
      await page.context().close();
    }
  }
}

/** The control of the open dialog whose label begins so. */
export function field(page, label) {
  const begin = new RegExp("^" + label.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return page.getByRole("dialog").locator("label.field", { has: page.locator(".field-label", { hasText: begin }) })
    .locator("input, select, textarea").first();
}

/** Fills the fields of the open dialog by their labels, and sends it. */
export async function fillAndSend(page, fields) {
  const dialog = page.getByRole("dialog");
  for (const [label, value] of Object.entries(fields)) {
    const control = field(page, label);
    if ((await control.evaluate((element) => element.tagName)) === "SELECT") await control.selectOption(value);
    else await control.fill(value);
  }
  await dialog.locator("button[type=submit]").click();
  await dialog.waitFor({ state: "detached" });
}

/** The button, the form behind it, and what is told at the end. */
export async function act(page, button, fields, told) {
  await page.getByRole("button", { name: button, exact: true }).first().click();
  await fillAndSend(page, fields);
  await page.getByRole("status").getByText(told).first().waitFor();
}

export const row = (page, text) => page.getByRole("row").filter({ hasText: text });

/** The command that the open dialog says is the same. */
export async function commandOf(page) {
  const details = page.getByRole("dialog").locator("details.same");
  if (!(await details.getAttribute("open").then((open) => open !== null))) await details.locator("summary").click();
  return details.locator("code").first().innerText();
}

export async function curlOf(page) {
  return page.getByRole("dialog").locator("details.same code").nth(1).innerText();
}
