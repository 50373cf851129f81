// What others write - names, notes, values, logs - is shown as text, whatever stands in it.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { visit } from "./forms.mjs";
import { cleanUp, Daemon, openPage } from "./harness.mjs";

const EVIL = `<img src=x onerror="window.evil=1"><script>window.evil=2</script><svg onload="window.evil=3"></svg>`;
const LINK = `javascript:window.evil=4`;
const quoted = JSON.stringify(EVIL);

const DAG = `title: ${quoted}
description: ${quoted}
doc: ${JSON.stringify(`# ${EVIL}\n[click](${LINK})`)}
owner: ${quoted}
tags: [${quoted}]
params:
  text: { type: string, default: ${quoted}, description: ${quoted} }
tasks:
  speak:
    doc: ${quoted}
    foreach: [${quoted}]
    label: "{{ item }}"
    env: { HOSTILE: ${quoted} }
    outputs: ["x://a/<img/onerror=window.evil=5>"]
    run: |
      printf '%s\\n' "$HOSTILE"
      printf '\\033]8;;${LINK}\\033\\\\click\\033]8;;\\033\\\\ \\033[31m%s\\033[0m\\n' "$HOSTILE"
      printf '%s' "$HOSTILE" > "$EIDER_OUTPUTS/value"
  fail:
    needs: [speak]
    run: printf '%s\\n' '<b onclick=window.evil=6>no</b>' >&2; exit 4
`;
const WRONG = `title: x\ntasks:\n  "<img src=x onerror=window.evil=7>": { run: 5 }\n`;

let daemon;
before(async () => {
  daemon = await Daemon.start({ "hostile.yaml": DAG, "<img src=x onerror=window.evil=8>.yaml": WRONG });
  await daemon.knows("hostile");
  daemon.run = await daemon.trigger("hostile", "--note", EVIL);
  await daemon.isOver(daemon.run);
  await daemon.cli("tasks", "note", daemon.run, "fail", EVIL);
  await daemon.cli("vars", "set", "evil", EVIL);
  const connection = { type: "http", host: "h", login: EVIL, extra: { a: EVIL } };
  await daemon.cli("conns", "set", "evil", JSON.stringify(connection));
  await daemon.cli("enqueue", "default", "noop", JSON.stringify({ evil: EVIL }));
  await daemon.cli("enqueue", "default", "--retries", "0", "--", `printf '%s' '${EVIL}' >&2; exit 2`);
  await daemon.cli("pools", "set", "p", "--slots", "1", "--description", EVIL, "--reason", EVIL);
  daemon.job = (await daemon.json("jobs", "list")).jobs[0].id;
});
cleanUp();

const paths = () => [
  "/", "/dags", "/errors", "/dags/hostile", "/dags/hostile/graph", "/dags/hostile/runs", "/dags/hostile/versions",
  "/dags/hostile/source", "/dags/hostile/settings", "/dags/hostile/trigger", "/dags/hostile/backfill",
  "/dags/hostile/durations", "/runs", `/runs/${daemon.run}`, `/runs/${daemon.run}/graph`, `/runs/${daemon.run}/gantt`,
  `/runs/${daemon.run}/values`, `/runs/${daemon.run}/events`, `/runs/${daemon.run}/tasks/speak?map=0`,
  `/runs/${daemon.run}/tasks/fail`, `/runs/${daemon.run}/tasks/speak/log?map=0`, `/runs/${daemon.run}/tasks/fail/log`,
  "/jobs", `/jobs/${daemon.job}`, "/dead", "/pools", "/assets", "/lineage", "/variables", "/connections", "/audit",
  "/dags?q=" + encodeURIComponent(EVIL), "/" + encodeURIComponent(EVIL), "/dags/" + encodeURIComponent(EVIL),
  "/runs/" + encodeURIComponent(EVIL), "/jobs/" + encodeURIComponent(EVIL) + "#" + EVIL,
];

test("texts of others stay texts on every page", async (t) => {
  const page = await openPage(daemon);
  page.on("dialog", (dialog) => {
    page.mistakes.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  for (const path of paths())
    await t.test(path.slice(0, 60), async () => {
      await visit(page, path);
      const found = await page.evaluate(() => ({
        evil: window.evil,
        made: document.querySelectorAll("main img, main script, main [onerror], main [onload], main [onclick]").length,
        links: [...document.querySelectorAll("a")].map((link) => new URL(link.getAttribute("href"), location).protocol)
          .filter((protocol) => !/^https?:$/.test(protocol)),
      }));
      assert.deepEqual(found, { evil: undefined, made: 0, links: [] });
      assert.deepEqual(page.mistakes.splice(0).filter((text) => !/status of 40[04]/.test(text)), []);
    });
});

test("a hostile log line is there to be read", async () => {
  const page = await openPage(daemon);
  await page.goto(`/runs/${daemon.run}/tasks/fail/log`);
  await page.getByText("<b onclick=window.evil=6>no</b>").first().waitFor();
});
