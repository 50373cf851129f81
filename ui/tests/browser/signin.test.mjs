import assert from "node:assert/strict";
import { before, test } from "node:test";
import { fits } from "./forms.mjs";
import { cleanUp, Daemon, fillSignIn, openPage, SIZES, THEMES } from "./harness.mjs";

let daemon;
before(async () => {
  daemon = await Daemon.start({});
});
cleanUp();

test("the page to sign in fits both themes and sizes, and helps who has no password", async () => {
  for (const theme of THEMES) {
    for (const size of Object.values(SIZES)) {
      const page = await openPage(daemon, { role: null, theme, size });
      await page.goto("/sign-in?link=used");
      await page.getByText("That link lets nobody in any more").waitFor();
      await page.getByText("I have no name and password").click();
      await page.getByText("eider users add NAME --role admin").waitFor();
      await fits(page);
      await page.context().close();
    }
  }
});

test("a wrong password is said, many of them make one wait, and the right one comes where one wanted to go",
  async () => {
  const page = await openPage(daemon, { role: "viewer", user: "anna" });
  await page.goto("/jobs");
  await page.getByRole("heading", { name: "Jobs" }).waitFor();
  await page.getByLabel("Preferences and account").click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("button", { name: "Sign in" }).waitFor();
  await fillSignIn(page, "somebody", "not the password");
  await page.getByText("The name or the password is wrong.").waitFor();
  for (let i = 0; i < 12 && (await page.getByText("Too many wrong passwords").count()) === 0; i++) {
    await fillSignIn(page, "somebody", `wrong ${i}`);
    await page.getByRole("button", { name: "Sign in" }).waitFor();
  }
  await page.getByText(/The next one is looked at/).waitFor();
  await fillSignIn(page, "anna");
  await page.getByRole("heading", { name: "Jobs" }).waitFor();
  assert.equal(new URL(page.url()).pathname, "/jobs");
});
