import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { closeBrowser, Daemon, openPage } from "./harness.mjs";

let daemon;
before(async () => {
  daemon = await Daemon.start({ "hello.yaml": "tasks:\n  hello: { run: echo hello }\n" });
});
after(async () => {
  await closeBrowser();
  await daemon?.remove();
});

test("somebody unknown signs in and sees the frame", async () => {
  const page = await openPage(daemon, { role: "viewer" });
  assert.equal(await page.getByRole("navigation", { name: "Pages" }).count(), 1);
  await page.getByText("live", { exact: true }).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("d");
  await page.waitForURL("**/dags");
  await page.keyboard.press("/");
  await page.getByRole("combobox", { name: "Search for everything" }).fill("hello");
  await page.getByRole("dialog").getByRole("option", { name: /hello/ }).first().click();
  await page.waitForURL("**/dags/hello");
  assert.deepEqual(page.mistakes, []);
});
