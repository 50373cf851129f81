import assert from "node:assert/strict";
import http from "node:http";
import { after, before, test } from "node:test";
import { act, commandOf, curlOf, field, fillAndSend, looksRight, row, visit } from "./forms.mjs";
import { cleanUp, Daemon, fillSignIn, openPage, until } from "./harness.mjs";

const HOSTILE = "<img src=x onerror=window.owned=1>";
const PASSWORD = "never-to-be-seen-1";
let daemon;
let receiver;
let address;

before(async () => {
  receiver = http.createServer((request, response) => response.end("thanks"));
  await new Promise((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  address = `http://127.0.0.1:${receiver.address().port}/`;
  daemon = await Daemon.start({
    "fails.yaml": `on_failure: [ { webhook: "http://127.0.0.1:9/none" } ]\ntasks:\n  boom: { run: exit 3 }\n`,
  }, { env: { EIDER_VAR_REGION: "eu" } });
  await daemon.knows("fails");
  await daemon.cli("dags", "trigger", "fails");
  await daemon.cli("vars", "set", "region", "us");
  await daemon.cli("vars", "set", "evil", HOSTILE, "--doc", HOSTILE);
  await daemon.cli("namespaces", "add", "sales");
  await until("a message", async () => (await daemon.json("notify", "list")).notices.length > 0);
});
after(() => receiver?.close());
cleanUp();

/** Nothing of a secret in what the browser holds. */
async function isNowhere(page, secret) {
  const held = await page.evaluate(() => document.documentElement.outerHTML
    + [...document.querySelectorAll("input, textarea")].map((control) => control.value).join("\n"));
  assert.ok(!held.includes(secret), "a secret is in the page");
}

test("the pages of managing load in both themes and sizes", async () => {
  await looksRight(daemon,
    ["/variables", "/connections", "/connections?tab=secrets", "/messages", "/audit", "/audit?all=true", "/users",
    "/tokens", "/server"]);
});

test("variables are set, changed and deleted; those of elsewhere are only shown", async () => {
  const page = await openPage(daemon, { role: "editor" });
  await visit(page, "/variables");
  await act(page, "New variable", { Name: "bucket", Value: "s3://lake", "What it is for": "files" }, "bucket is set");
  assert.equal((await daemon.json("vars", "show", "bucket")).value, "s3://lake");
  await row(page, "bucket").getByRole("button", { name: "Edit" }).click();
  await field(page, "Value").fill("it's new");
  assert.equal(await commandOf(page), "eider vars set bucket 'it'\\''s new' --doc files");
  await fillAndSend(page, {});
  await row(page, "it's new").waitFor();
  assert.equal((await daemon.json("vars", "show", "bucket")).value, "it's new");
  await act(page, "New variable", { Name: "limit", Namespace: "sales", Value: "7" }, "limit is set");
  assert.equal((await daemon.json("vars", "show", "limit", "--namespace", "sales")).value, "7");
  const fromOutside = row(page, "EIDER_VAR_REGION");
  assert.equal(await fromOutside.getByRole("button", { name: "Edit" }).count(), 0);
  await row(page, "does not count").waitFor();
  await page.getByLabel("Source").selectOption("environment");
  await row(page, "bucket").waitFor({ state: "detached" });
  await page.getByLabel("Source").selectOption("");
  await row(page, "bucket").getByRole("button", { name: "Delete" }).click();
  await fillAndSend(page, {});
  await row(page, "bucket").waitFor({ state: "detached" });
  assert.ok(!(await daemon.json("vars", "list")).variables.some((variable) => variable.name === "bucket"));
  assert.ok((await row(page, "evil").innerText()).includes(HOSTILE));
  assert.equal(await page.evaluate(() => window.owned), undefined);
  assert.deepEqual(page.mistakes, []);
});

test("a name that cannot be one is said so before it is sent", async () => {
  const page = await openPage(daemon, { role: "editor" });
  await visit(page, "/variables");
  await page.getByRole("button", { name: "New variable" }).click();
  await field(page, "Name").fill("no blanks please");
  await page.getByText("Letters, digits").waitFor();
  await page.getByRole("dialog").locator("button[type=submit]").click();
  assert.equal(await page.getByRole("dialog").count(), 1);
});

test("a connection is kept, tested and changed without its password being seen again", async () => {
  const page = await openPage(daemon, { role: "editor" });
  await visit(page, "/connections");
  await page.getByRole("button", { name: "New connection" }).click();
  for (const [label, value] of Object.entries({
    Name: "web", Type: "http", Host: "127.0.0.1", Port: String(receiver.address().port), Login: "etl",
    Password: PASSWORD,
    "More, as JSON": `{"api_key": "${PASSWORD}"}`,
  })) await field(page, label).fill(value);
  assert.equal(await commandOf(page), "eider conns set web");
  assert.ok(!(await curlOf(page)).includes(PASSWORD), "curl shows no password");
  await fillAndSend(page, {});
  await row(page, "web").waitFor();
  await isNowhere(page, PASSWORD);
  const kept = await daemon.json("conns", "show", "web");
  assert.deepEqual([kept.value.host, kept.value.login, kept.value.password], ["127.0.0.1", "etl", "***"]);
  await page.getByRole("button", { name: "Test web" }).click();
  await row(page, "web").getByText("✓").waitFor();
  await row(page, "web").getByRole("button", { name: "Edit" }).click();
  await isNowhere(page, PASSWORD);
  await fillAndSend(page, { Login: "other" });
  await row(page, "other:***@").waitFor();
  assert.equal((await daemon.json("conns", "show", "web")).value.password, "***", "the password stays");
  await row(page, "web").getByRole("button", { name: "Edit" }).click();
  await fillAndSend(page, { Port: "1" });
  await row(page, "127.0.0.1:1").waitFor();
  await page.getByRole("button", { name: "Test web" }).click();
  await row(page, "web").getByText("✕").waitFor();
  await row(page, "web").getByRole("button", { name: "Delete" }).click();
  await fillAndSend(page, {});
  await row(page, "web").waitFor({ state: "detached" });
  assert.equal((await daemon.json("conns", "list")).connections.length, 0);
});

test("a secret is written, never read", async () => {
  const page = await openPage(daemon, { role: "editor" });
  await visit(page, "/connections?tab=secrets");
  await page.getByRole("button", { name: "New secret" }).click();
  await field(page, "Name").fill("api_token");
  await field(page, "Value").fill(PASSWORD);
  assert.equal(await commandOf(page), "eider secrets set api_token");
  assert.ok(!(await curlOf(page)).includes(PASSWORD));
  await fillAndSend(page, {});
  await row(page, "api_token").waitFor();
  await isNowhere(page, PASSWORD);
  assert.equal((await daemon.json("secrets", "list")).secrets[0].name, "api_token");
  await row(page, "api_token").getByRole("button", { name: "Change" }).click();
  assert.equal(await field(page, "Value").inputValue(), "");
  await page.keyboard.press("Escape");
  await row(page, "api_token").getByRole("button", { name: "Delete" }).click();
  await fillAndSend(page, {});
  await page.getByText("No secrets").waitFor();
  assert.equal((await daemon.json("secrets", "list")).secrets.length, 0);
});

test("messages are looked at, sent again and tested", async () => {
  const page = await openPage(daemon, { role: "admin" });
  await visit(page, "/messages");
  await row(page, "fails 1").getByText("webhook").waitFor();
  await act(page, "Send now", { Reason: "it is up again" }, "on its way");
  await page.getByRole("button", { name: "Test message" }).click();
  await field(page, "To").fill(`webhook:${address}`);
  assert.equal(await commandOf(page), `eider notify test webhook:${address}`);
  await page.getByRole("dialog").locator("button[type=submit]").click();
  await page.getByRole("table", { name: "Answers" }).locator("[data-state=sent]").waitFor();
  assert.deepEqual(page.mistakes, []);
});

test("the audit says who did what and why, and leads there", async () => {
  const page = await openPage(daemon, { role: "viewer" });
  await daemon.cli("queues", "set", "audited", "--priority", "3", "--reason", HOSTILE);
  await visit(page, "/audit");
  const entry = row(page, "queue audited").first();
  assert.ok((await entry.innerText()).includes(HOSTILE));
  assert.equal(await page.locator("main img").count(), 0);
  await page.getByRole("link", { name: "run 1 of fails" }).first().waitFor();
  await page.getByLabel("DAG").fill("fails");
  await page.getByLabel("DAG").press("Enter");
  await page.waitForURL(/dag=fails/);
  await entry.waitFor({ state: "detached" });
  await page.getByRole("link", { name: "run 1 of fails" }).first().click();
  await page.waitForURL("**/runs/1");
});

test("users come, change and go; roles count at once", async () => {
  const page = await openPage(daemon, { role: "admin" });
  await visit(page, "/users");
  await page.getByRole("button", { name: "New user" }).click();
  await field(page, "Name").fill("ben");
  await field(page, "Password").fill("short");
  await page.getByText("At least 8 characters").waitFor();
  await field(page, "Password").fill(PASSWORD);
  await page.getByLabel("Namespace of role 1").fill("sales");
  await page.getByLabel("Role 1", { exact: true }).selectOption("operator");
  assert.equal(await commandOf(page), "eider users add ben --role sales=operator");
  assert.ok(!(await curlOf(page)).includes(PASSWORD));
  await fillAndSend(page, {});
  await row(page, "ben").getByText("operator in sales").waitFor();
  await isNowhere(page, PASSWORD);
  const ben = async () => (await daemon.json("users", "list")).users.find((user) => user.name === "ben");
  assert.deepEqual((await ben()).grants, [{ namespace: "sales", role: "operator" }]);
  await row(page, "ben").getByRole("button", { name: "Roles" }).click();
  await page.getByRole("button", { name: "Add a role" }).click();
  await fillAndSend(page, {});
  await row(page, "ben").getByText("viewer everywhere").waitFor();
  await row(page, "ben").getByRole("button", { name: "Disable" }).click();
  await fillAndSend(page, {});
  await row(page, "ben").getByRole("button", { name: "Enable" }).waitFor();
  assert.equal((await ben()).disabled, true);
  await row(page, "ben").getByRole("button", { name: "Delete" }).click();
  await fillAndSend(page, {});
  await row(page, "ben").waitFor({ state: "detached" });
  assert.equal(await ben(), undefined);
  assert.deepEqual(page.mistakes, []);
});

test("namespaces are made and removed by admins only", async () => {
  const page = await openPage(daemon, { role: "admin" });
  await visit(page, "/users");
  await act(page, "New namespace", { Name: "shops", "What it is for": "what shops sold" }, "shops is there");
  assert.ok((await daemon.json("namespaces", "list")).namespaces.some((namespace) => namespace.name === "shops"));
  await row(page, "shops").getByRole("button", { name: "Delete" }).click();
  await fillAndSend(page, {});
  await row(page, "shops").waitFor({ state: "detached" });
  const editor = await openPage(daemon, { role: "editor" });
  await visit(editor, "/users");
  await editor.getByText("for the role admin").waitFor();
  assert.ok(await editor.getByRole("button", { name: "New namespace" }).isDisabled());
});

test("a token is shown once, lets in, and is taken back", async () => {
  const page = await openPage(daemon, { role: "operator" });
  await visit(page, "/tokens");
  await page.getByRole("button", { name: "New token" }).click();
  await field(page, "Name").fill("ci");
  await page.getByRole("button", { name: "Add a role" }).click();
  assert.equal(await commandOf(page), "eider tokens add ci --role '*=viewer' --expires 90d");
  await page.getByRole("dialog").locator("button[type=submit]").click();
  const shown = page.getByRole("dialog", { name: "The token, shown this once" });
  const token = await shown.locator("code").first().innerText();
  const me = await fetch(`${daemon.url}/api/v1/x/me`, { headers: { Authorization: `Bearer ${token}` } });
  assert.deepEqual((await me.json()).grants, [{ namespace: "*", role: "viewer" }]);
  await shown.getByRole("button", { name: "I have it" }).click();
  await row(page, "ci").waitFor();
  await isNowhere(page, token);
  await row(page, "ci").getByRole("button", { name: "Revoke" }).click();
  await fillAndSend(page, {});
  await row(page, "ci").waitFor({ state: "detached" });
  const after = await fetch(`${daemon.url}/api/v1/x/me`, { headers: { Authorization: `Bearer ${token}` } });
  assert.equal(after.status, 401);
});

test("a password of one's own is changed, and ends the session", async () => {
  const page = await openPage(daemon, { role: "viewer", user: "changer" });
  await visit(page, "/tokens");
  await page.getByRole("button", { name: "Change your password" }).click();
  await fillAndSend(page, {
    "Password until now": "a long enough password 1", "New password": "another long password 2",
      "The new one again": "another long password 2",
  });
  await page.getByRole("button", { name: "Sign in" }).waitFor();
  await fillSignIn(page, "changer", "another long password 2");
  await page.getByRole("heading", { name: "Tokens" }).waitFor();
});

test("the server tells its health, checks and settings; an admin checks the store", async () => {
  const page = await openPage(daemon, { role: "admin" });
  await visit(page, "/server");
  await page.getByRole("table", { name: "Checks of the machine" }).getByText("state folder").waitFor();
  await page.getByRole("button", { name: "Check for damage" }).click();
  await page.getByRole("table", { name: "Checks of the store" }).getByText("rules").waitFor();
  await page.getByLabel("Part of a name or its help").fill("keep_runs");
  await page.waitForURL(/q=keep_runs/);
  await until("few settings",
    async () => (await page.getByRole("table", { name: "Settings" }).locator("tbody tr").count()) < 5);
  await page.getByRole("button", { name: "Delete old" }).click();
  await page.getByRole("button", { name: "What would go?" }).click();
  await page.getByText("Nothing is old enough.").waitFor();
  assert.deepEqual(page.mistakes, []);
  await page.route("**/api/v1/x/prune", (route) => route.fulfill({
    status: 409, contentType: "application/problem+json",
    body: JSON.stringify({ title: "Conflict", detail: "the store is being moved" }),
  }));
  await page.getByRole("button", { name: "What would go?" }).click();
  await page.getByRole("alert").getByText("the store is being moved").waitFor();
  await page.keyboard.press("Escape");
});

test("a viewer changes nothing, and is told which role it takes", async () => {
  const page = await openPage(daemon, { role: "viewer" });
  for (const [path, button, role] of [["/variables", "New variable", "editor"],
    ["/connections", "New connection", "editor"],
    ["/connections?tab=secrets", "New secret", "editor"], ["/messages", "Test message", "editor"],
      ["/server", "Check for damage", "admin"],
    ["/jobs", "New job", "operator"], ["/pools", "New pool", "editor"], ["/queues", "New queue", "editor"],
      ["/assets", "New update", "operator"]]) {
    await visit(page, path);
    const control = page.getByRole("button", { name: button });
    assert.ok(await control.isDisabled(), path);
    assert.match(await control.getAttribute("title"), new RegExp(`needs the role ${role}`), path);
  }
  assert.equal(await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Users" }).count(), 0);
  assert.deepEqual(page.mistakes, []);
});

test("a role in one namespace counts there only", async () => {
  await daemon.cli("vars", "set", "margin", "1", "--namespace", "sales");
  const page = await openPage(daemon, { user: "seller", grants: ["sales=editor", "default=viewer"] });
  await visit(page, "/variables");
  assert.ok(await row(page, "margin").getByRole("button", { name: "Edit" }).isEnabled());
  assert.ok(await row(page, "evil").getByRole("button", { name: "Edit" }).isDisabled());
  await visit(page, "/queues");
  assert.ok(await page.getByRole("button", { name: "New queue" }).isDisabled());
});
