// The server goes and comes back; the page says so, and then shows what is.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { cleanUp, Daemon, fillSignIn, openPage } from "./harness.mjs";

let daemon;
before(async () => {
  daemon = await Daemon.start({ "hello.yaml": "tasks:\n  hello: { run: echo hello }\n" });
});
cleanUp();

test("a lost connection is told, and made again", async () => {
  const page = await openPage(daemon);
  await page.goto("/runs");
  await page.getByText("live", { exact: true }).waitFor();

  await daemon.stop("SIGKILL");
  await page.getByText("The connection to the server is lost").waitFor();

  await daemon.up();
  await page.getByText("The connection to the server is lost").waitFor({ state: "detached" });
  await daemon.cli("dags", "trigger", "hello");
  await page.locator("main tbody").getByText("success").first().waitFor();
  const others = page.mistakes.filter((text) => !/ERR_|Failed to load resource/.test(text));
  assert.deepEqual(others, []);
});

test("a session that ended leads to the sign-in, and back to the page", async () => {
  const page = await openPage(daemon, { role: "operator" });
  await page.goto("/dags/hello/graph");
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
  await page.context().clearCookies();
  const form = page.getByRole("heading", { name: /Sign in/ });
  const runs = page.getByRole("link", { name: "Runs", exact: true }).first();
  await Promise.race([form.waitFor(), runs.click().catch(() => {})]); // it may have noticed by itself
  await form.waitFor();
  assert.match(page.url(), /\/(runs|graph)$/);
  await fillSignIn(page, "the-operator");
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
  assert.match(page.url(), /\/(runs|graph)$/);
});
