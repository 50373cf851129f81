// What the tests of pages with forms do again and again.
import assert from "node:assert/strict";
import { openPage, SIZES, THEMES, wear } from "./harness.mjs";

/** Opens a page of the daemon, and waits until it shows what it has loaded. */
export async function visit(page, path) {
  await page.goto(path);
  await settled(page);
}

export async function settled(page) {
  await page.locator("main h1").first().waitFor();
  await page.waitForFunction(() => !document.querySelector("[data-waiting], .loading, main[aria-busy]"));
}

/** Nothing of the page is wider than its window. */
export async function fits(page) {
  const [inner, outer] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(inner <= outer, `${page.url()} is ${inner} wide in a window of ${outer}`);
}

/**
 * Each path at both sizes and in both themes: a heading, nothing in the console, nothing wider than the window. It is
 * loaded at each size, in the theme in which the last one was left, and then shown in the other.
 */
export async function looksRight(daemon, paths) {
  for (const [name, size] of Object.entries(SIZES)) {
    const page = await openPage(daemon, { size });
    const themes = [...THEMES];
    for (const path of paths) {
      await visit(page, path);
      for (const theme of themes) {
        await wear(page, theme);
        assert.deepEqual(page.mistakes, [], `${path}, ${theme}, ${name}`);
        assert.equal(await page.locator(".problem").count(), 0, `${path} says a problem`);
        await fits(page);
      }
      themes.reverse();
    }
    await page.context().close();
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
