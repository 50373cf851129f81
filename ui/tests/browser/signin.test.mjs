import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { at } from "./forms.mjs";
import { closeBrowser, Daemon, openPage, SIZES, THEMES } from "./harness.mjs";

let daemon;
before(async () => {
  daemon = await Daemon.start({});
});
after(async () => {
  await closeBrowser();
  await daemon?.remove();
});

async function tryToEnter(page, name, password) {
  await page.getByRole("textbox", { name: "Name" }).fill(name);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

test("the page to sign in fits both themes and sizes, and helps who has no password", async () => {
  for (const theme of THEMES) {
    for (const size of Object.values(SIZES)) {
      const page = await openPage(daemon, { role: null, theme, size });
      await page.goto(at(daemon, "/sign-in?link=used"));
      await page.getByText("That link lets nobody in any more").waitFor();
      await page.getByText("I have no name and password").click();
      await page.getByText("eider users add NAME --role admin").waitFor();
      const [inner, outer] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(inner <= outer);
      await page.context().close();
    }
  }
});

test("a wrong password is said, many of them make one wait, and the right one comes where one wanted to go",
  async () => {
  const page = await openPage(daemon, { role: "viewer", user: "anna" });
  await page.goto(at(daemon, "/jobs"));
  await page.getByRole("heading", { name: "Jobs" }).waitFor();
  await page.getByLabel("Preferences and account").click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("button", { name: "Sign in" }).waitFor();
  await tryToEnter(page, "somebody", "not the password");
  await page.getByText("The name or the password is wrong.").waitFor();
  for (let i = 0; i < 12 && (await page.getByText("Too many wrong passwords").count()) === 0; i++) {
    await tryToEnter(page, "somebody", `wrong ${i}`);
    await page.getByRole("button", { name: "Sign in" }).waitFor();
  }
  await page.getByText(/The next one is looked at/).waitFor();
  await tryToEnter(page, "anna", "a long enough password 1");
  await page.getByRole("heading", { name: "Jobs" }).waitFor();
  assert.equal(new URL(page.url()).pathname, "/jobs");
});
