// Somebody is given an address and nothing else: finds what fails, sees why, mends it, sees it green.
import assert from "node:assert/strict";
import { cp, mkdtemp, mkdir, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { BUSY, closeBrowser, newPage, PATIENCE_MS, PROGRAM, root, start } from "./harness.mjs";

const BROKEN = `title: Invoices
owner: billing
tasks:
  collect:
    run: echo "collected 31 invoices"
  send:
    needs: [collect]
    run: |
      echo "connecting to the mail server"
      curl_with_a_typo --version
  archive:
    needs: [send]
    run: echo archived
`;

let folder;
let child;
let link;

/** Starts what make up starts, with one more file that has a mistake in it. */
before(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "eider-walk-"));
  await cp(path.join(root, "examples"), path.join(folder, "dags"), { recursive: true });
  await writeFile(path.join(folder, "dags/invoices.yaml"), BROKEN);
  await mkdir(path.join(folder, "home"));
  child = start(path.join(root, "tools/up"), [PROGRAM, path.join(folder, "home"), path.join(folder, "dags")], {
    env: { ...process.env, ...BUSY, EIDER_LISTEN: "127.0.0.1:0" }, stdio: ["ignore", "pipe", "pipe"], detached: true,
  });
  let words = "";
  link = await new Promise((resolve, reject) => {
    const hear = (bytes) => {
      words += bytes;
      const said = /sign in +(http\S+)/.exec(words);
      if (said) resolve(said[1]);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("exit", () => reject(new Error(`it did not come up:\n${words}`)));
    setTimeout(() => reject(new Error(`no link was printed:\n${words}`)), PATIENCE_MS).unref();
  });
});
after(async () => {
  await closeBrowser();
  child?.removeAllListeners("exit");
  const over = new Promise((resolve) => child?.once("exit", resolve));
  child?.kill("SIGTERM");
  await over;
  await rm(folder, { recursive: true, force: true });
});

test("from the printed link to a green run", async () => {
  const page = await newPage(new URL(link).origin);
  await page.goto(link);

  // The first page is home. The pipeline is looked for by its name and started.
  await page.getByRole("heading", { name: "Home" }).waitFor();
  await page.getByRole("link", { name: "DAGs", exact: true }).first().click();
  await page.getByRole("link", { name: "invoices", exact: true }).click();
  await page.getByRole("link", { name: "Trigger" }).click();
  await page.getByRole("button", { name: /^Trigger/ }).click();
  await page.waitForURL(/\/runs\/\d+/);

  // Next morning: home says what fails and why.
  await page.getByRole("link", { name: "Home", exact: true }).first().click();
  const failing = page.locator("section", { has: page.getByRole("heading", { name: /Failing now/ }) });
  await failing.getByText("curl_with_a_typo").waitFor();
  await failing.getByRole("link", { name: /^Run \d+/ }).click();

  // The run shows the task, its error and its last lines, without another click.
  await page.getByRole("heading", { level: 1, name: /failed/ }).waitFor();
  await page.getByText("connecting to the mail server").first().waitFor();
  await page.getByText(/curl_with_a_typo.*not found/).first().waitFor();

  // The file is mended; the page hears of it and offers a run by the new version.
  await writeFile(path.join(folder, "dags/invoices.yaml"), BROKEN.replace("curl_with_a_typo --version", "echo sent"));
  await page.getByRole("button", { name: /Run again with version 2/ }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("The same by command").click();
  await dialog.getByText(/eider runs rerun \d+ --version current/).waitFor();
  await dialog.getByRole("button", { name: /Run again with version 2/ }).click();

  // Another run, which is watched until it is green.
  await page.getByRole("heading", { level: 1, name: /success/ }).waitFor();
  await page.getByRole("link", { name: "Home", exact: true }).first().click();
  await page.getByRole("heading", { name: "Home" }).waitFor();
  await failing.waitFor({ state: "detached" });
  assert.deepEqual(page.mistakes, []);
});
