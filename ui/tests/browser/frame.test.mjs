import assert from "node:assert/strict";
import { before, test } from "node:test";
import { cleanUp, Daemon, fillSignIn, openPage, until } from "./harness.mjs";

let daemon;
before(async () => {
  daemon = await Daemon.start({ "hello.yaml": "tasks:\n  hello: { run: echo hello }\n" });
});
cleanUp();

test("somebody unknown signs in and sees the frame", async () => {
  const page = await openPage(daemon, { role: "viewer" });
  await page.context().clearCookies();
  await page.goto("/");
  await fillSignIn(page, "the-viewer");
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
  page.mistakes.length = 0; // the browser counts the 401 of somebody not yet known as an error
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

const focused = (page) => page.evaluate(() => {
  const element = document.activeElement;
  return { tag: element.tagName, text: element.textContent, hasRing: element.matches(":focus-visible") };
});
const isOnHeading = (page, text) => until(`the heading ${text} is in focus`, async () => {
  const now = await focused(page);
  return now.tag === "H1" && now.text === text;
});

test("another page begins at its heading; what is typed into is left alone", async () => {
  const page = await openPage(daemon);
  await page.goto("/");
  const menu = page.getByRole("navigation", { name: "Pages" });
  await menu.getByRole("link", { name: "Runs", exact: true }).click();
  await isOnHeading(page, "Runs");
  assert.equal((await focused(page)).hasRing, false, "whoever uses a mouse sees nothing of it");
  const field = page.getByRole("searchbox", { name: "Number or run id" });
  await field.pressSequentially("manual", { delay: 160 }); // the URL follows in between
  await page.waitForURL(/q=manual$/);
  assert.equal(await field.evaluate((element) => element === document.activeElement), true);
  await page.goBack();
  await isOnHeading(page, "Home");
  await page.keyboard.press("/");
  await page.getByRole("combobox", { name: "Search for everything" }).fill("hello");
  await page.getByRole("dialog").getByRole("option", { name: /hello/ }).first().click();
  await isOnHeading(page, "hello");
  await page.locator("a.skip").focus();
  await page.keyboard.press("Enter");
  assert.equal((await focused(page)).tag, "MAIN");
});

test("a letter typed while the page follows the ones before is kept; a link says what the field has", async () => {
  const page = await openPage(daemon);
  await page.goto("/runs");
  const field = page.getByRole("searchbox", { name: "Number or run id" });
  await field.focus();
  // One the moment the URL has the first letters, before anything is drawn, and one soon after it is.
  await page.evaluate(() => {
    const replace = history.replaceState;
    const type = (letter) => document.execCommand("insertText", false, letter);
    history.replaceState = (...words) => {
      history.replaceState = replace;
      history.replaceState(...words);
      type("u");
      setTimeout(() => type("a"), 100);
    };
  });
  await field.pressSequentially("man");
  await page.waitForURL(/q=manua$/);
  assert.equal(await field.inputValue(), "manua");
  await page.evaluate(() => {
    document.execCommand("insertText", false, "l");
    history.pushState(null, "", "/runs?q=other");
    dispatchEvent(new PopStateEvent("popstate")); // as when one goes back, before the letter is in the URL
  });
  await until("the field has the other text", async () => (await field.inputValue()) === "other");
  await field.pressSequentially("s");
  await page.waitForURL(/q=others$/);
});

test("the button that opened a dialog is in focus when it is closed", async () => {
  const page = await openPage(daemon);
  await page.goto("/dags/hello/settings");
  const button = page.getByRole("button", { name: "Delete DAG" });
  for (const close of [() => page.keyboard.press("Escape"),
    () => page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click()]) {
    await button.click();
    await page.getByRole("dialog").waitFor();
    await close();
    await until("the button is in focus", () => button.evaluate((element) => element === document.activeElement));
  }
});

test("what got no answer is sent again with the same key", async () => {
  const page = await openPage(daemon);
  const keys = [];
  // Done, but nobody hears of it; then as usual.
  await page.route("**/api/v1/x/dags/hello/trigger", async (route) => {
    keys.push(route.request().headers()["idempotency-key"]);
    if (keys.length > 1) return route.continue();
    await route.fetch();
    return route.abort("connectionreset");
  });
  await page.goto("/dags/hello/trigger");
  await page.getByRole("button", { name: "Trigger", exact: true }).click();
  await page.getByText("The run was not made").waitFor();
  await page.getByRole("button", { name: "Trigger", exact: true }).click();
  await page.waitForURL(/\/runs\/\d+$/);
  assert.equal(keys[0], keys[1]);
  assert.equal((await daemon.json("runs", "list", "--dag", "hello")).dag_runs.length, 1);
});
