// The log viewer: follows, stops, searches, and keeps little.
import assert from "node:assert/strict";
import { appendFile } from "node:fs/promises";
import path from "node:path";
import { after, before, test } from "node:test";
import { cleanUp, Daemon, openPage, SIZES, THEMES, until } from "./harness.mjs";

const LONG = 60_000;
const TALK = `tasks:
  # Prints what the test writes into a file.
  follow: { run: 'touch said; exec tail -n +1 -f said --pid=$PPID', workdir: FOLDER }
`;
const PRINTED = `tasks:
  long: { run: 'seq -f "line number %.0f with words" 1 ${LONG}; echo the needle; echo the end' }
  colours:
    run: |
      printf '\\033[31mred\\033[0m \\033[1;38;5;208morange\\033[0m \\033[48;2;0;0;90mon blue\\033[0m\\n'
      printf '\\033]8;;javascript:alert(1)\\033\\\\click\\033]8;;\\033\\\\ '
      printf '<img src=x onerror=alert(2)> bell\\007 \\033[2Jgone\\n'
      printf '%0600d\\n' 7
      printf 'no end'
  again: { run: 'echo try {{ try_number }}; exit 1', retries: 1, retry_delay: 10ms }
`;

let daemon;
let run;
let talk;
before(async () => {
  daemon = await Daemon.start();
  await daemon.write("talk.yaml", TALK.replace("FOLDER", daemon.folder));
  await daemon.write("printed.yaml", PRINTED);
  await daemon.knows("talk", "printed");
  run = await daemon.trigger("printed");
  talk = await daemon.trigger("talk");
  await daemon.isOver(run);
});
after(() => daemon?.cli("stop", talk).catch(() => {}));
cleanUp();

const say = (text) => appendFile(path.join(daemon.folder, "said"), text);
const line = (page, number) => page.locator(`#L${number}`);

test("a log is followed while it grows, until one scrolls", async () => {
  const page = await openPage(daemon);
  await until("the task talks", async () =>
    (await daemon.get(`/runs/${talk}/tasks`)).task_instances[0].state === "running");
  await say(Array.from({ length: 300 }, (_, i) => `spoken ${i + 1}\n`).join(""));
  await page.goto(`/runs/${talk}/tasks/follow/log`);
  await page.getByText("spoken 300", { exact: true }).waitFor();
  await say("spoken 301\nhalf a li");
  await page.getByText("spoken 301", { exact: true }).waitFor();
  await page.getByText("half a li", { exact: true }).waitFor();
  await say("ne\n");
  await page.getByText("half a line", { exact: true }).waitFor();
  assert.equal(await page.getByRole("button", { name: /go to end/i }).count(), 0);
  await page.getByRole("log", { name: "Log" }).hover();
  await page.mouse.wheel(0, -1000);
  await page.getByRole("button", { name: /Go to end/ }).waitFor();
  const first = await page.getByRole("log", { name: "Log" }).getAttribute("data-first");
  await say(Array.from({ length: 40 }, (_, i) => `later ${i + 1}\n`).join(""));
  await page.getByRole("button", { name: "40 new lines, go to end" }).waitFor();
  assert.equal(await page.getByRole("log", { name: "Log" }).getAttribute("data-first"), first, "what one reads stays");
  await page.getByRole("button", { name: /go to end/ }).click();
  await page.getByText("later 40", { exact: true }).waitFor();
  await say("and on\n");
  await page.getByText("and on", { exact: true }).waitFor();
  assert.deepEqual(page.mistakes, []);
});

for (const [name, size] of Object.entries(SIZES))
  for (const theme of THEMES)
    test(`a long log shows its end, any line and what is searched (${name}, ${theme})`, async () => {
      const page = await openPage(daemon, { size, theme });
      await page.goto(`/runs/${run}/tasks/long/log`);
      await page.getByText("the end", { exact: true }).waitFor();
      const box = page.getByRole("log", { name: "Log" });
      await box.hover();
      await page.mouse.wheel(0, -100000);
      await until("it has moved", async () => Number(await box.getAttribute("data-first")) < LONG - 2000);
      await page.goto(`/runs/${run}/tasks/long/log?line=31415`);
      await line(page, 31415).getByText("line number 31415 with words").waitFor();
      assert.match(await line(page, 31415).getAttribute("class"), /is-chosen/);
      await page.getByRole("searchbox", { name: "Search the whole log" }).fill("NUMBER 5999");
      await page.waitForURL("**line=5999**");
      await page.getByText("1 of 11", { exact: true }).waitFor();
      await page.getByRole("button", { name: "Next hit" }).click();
      await page.waitForURL("**line=59990**");
      await page.getByText("2 of 11", { exact: true }).waitFor();
      await page.getByRole("button", { name: "Previous hit" }).click();
      await page.getByRole("button", { name: "Previous hit" }).click();
      await page.waitForURL("**line=59999**");
      assert.equal(await line(page, 59999).locator("mark").textContent(), "number 5999");
      await page.getByRole("button", { name: "Large and small letters differ" }).click();
      await page.getByText("no hit").waitFor();
      await page.getByRole("searchbox", { name: "Search the whole log" }).fill("^the (needle|end)$");
      await page.getByRole("button", { name: "Regular expression" }).click();
      await page.waitForURL(`**line=${LONG + 1}**`);
      await page.getByText("1 of 2", { exact: true }).waitFor();
      await page.getByRole("searchbox", { name: "Search the whole log" }).fill("");
      await page.waitForURL((url) => !url.searchParams.has("q") && !url.searchParams.has("line"));
      await page.locator(".log-hits, .is-chosen").first().waitFor({ state: "detached" });
      const rows = await page.locator(".log-line").count();
      assert.ok(rows < 200, `${rows} lines are in the page`);
      assert.deepEqual(page.mistakes, []);
    });

test("a log is waited for until its task starts", async () => {
  const flag = path.join(daemon.folder, "go");
  await daemon.write("later.yaml", `tasks:
  first: { run: 'until [ -e ${flag} ]; do sleep 0.1; done' }
  then: { needs: [first], run: 'echo at last' }
`);
  await daemon.knows("later");
  const number = await daemon.trigger("later");
  const page = await openPage(daemon);
  await page.goto(`/runs/${number}/tasks/then/log`);
  await page.getByText("It has not started yet.").waitFor();
  await appendFile(flag, "");
  await page.getByText("at last", { exact: true }).waitFor();
  assert.deepEqual(page.mistakes, []);
});

test("lines are linked to, also several of them", async () => {
  const page = await openPage(daemon);
  await page.goto(`/runs/${run}/tasks/long/log#L100`);
  await line(page, 100).waitFor();
  assert.match(await line(page, 100).getAttribute("class"), /is-chosen/);
  await page.getByRole("link", { name: "Line 102", exact: true }).click();
  await page.waitForURL("**?line=102");
  await page.getByRole("link", { name: "Line 105", exact: true }).click({ modifiers: ["Shift"] });
  await page.waitForURL("**?line=102-105");
  await page.reload();
  await line(page, 104).waitFor();
  assert.equal(await page.locator(".log-line.is-chosen").count(), 4);
  assert.deepEqual(page.mistakes, []);
});

test("colours are shown, and nothing that a program prints does anything", async () => {
  for (const theme of THEMES) {
    const page = await openPage(daemon, { theme });
    page.on("dialog", () => assert.fail("a script of the log ran"));
    await page.goto(`/runs/${run}/tasks/colours/log?wrap=1`);
    const red = page.getByText("red", { exact: true });
    await red.waitFor();
    const [r, g, b] = (await red.evaluate((span) => getComputedStyle(span).color)).match(/\d+/g).map(Number);
    assert.ok(r > g + 50 && r > b + 50, `red is rgb(${r}, ${g}, ${b})`);
    await line(page, 2).getByText("click <img src=x onerror=alert(2)> bell␇ gone").waitFor();
    assert.equal(await line(page, 2).locator("code a, code img").count(), 0);
    await line(page, 4).getByText("no end").waitFor();
    const high = (await line(page, 3).boundingBox()).height;
    assert.ok(high > 60, `a long line is wrapped: ${high}`);
    await page.getByLabel("Wrap").uncheck();
    await until("it is one row", async () => (await line(page, 3).boundingBox()).height < 25);
    assert.deepEqual(page.mistakes, []);
  }
});

test("every try has its log, and it is saved as a file", async () => {
  const page = await openPage(daemon);
  await page.goto(`/runs/${run}/tasks/again/log`);
  await page.getByText("try 2", { exact: true }).last().waitFor();
  await page.getByRole("link", { name: "try 1" }).click();
  await page.locator("#L1").getByText("try 1").waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"),
    page.getByRole("link", { name: "Download" }).click()]);
  assert.match(download.suggestedFilename(), /^eider-printed-.*-again-try1\.log$/);
  assert.deepEqual(page.mistakes, []);
});

test("the log of a job", async () => {
  await daemon.cli("enqueue", "default", "--", "echo of a job");
  const { id } = (await daemon.json("jobs", "list")).jobs[0];
  const page = await openPage(daemon);
  await page.goto(`/jobs/${id}/log`);
  await page.locator("#L1").getByText("of a job").waitFor();
  assert.deepEqual(page.mistakes, []);
});
