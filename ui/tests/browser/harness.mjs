// A real daemon and a real browser for the tests of the pages.
//
//   EIDER_PROGRAM   the daemon; else build/eider
//   EIDER_UI        "dev": the pages as dev.mjs bundles them; else those that the daemon serves
//   EIDER_CHROMIUM  the browser; else Debian's
import assert from "node:assert/strict";
import { spawn, execFile } from "node:child_process";
import { mkdtemp, mkdir, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { chromium } from "playwright-core";

export const root = path.join(path.dirname(fileURLToPath(import.meta.url)), "../../..");
export const PROGRAM = process.env.EIDER_PROGRAM ?? path.join(root, "build/eider");
const CHROMIUM = process.env.EIDER_CHROMIUM ?? "/usr/bin/chromium";
const run = promisify(execFile);
/** Whatever becomes of the tests, nothing is left running. */
const children = new Set();
process.on("exit", () => children.forEach((child) => child.kill("SIGKILL")));

export function start(program, words, options) {
  const child = spawn(program, words, options);
  if (options.detached) child.kill = (signal) => process.kill(-child.pid, signal); // with all that it started
  children.add(child);
  child.once("exit", () => children.delete(child));
  return child;
}

/** For what must happen, however busy the machine is. */
export const PATIENCE_MS = 60_000;

/** A daemon claims nothing on a machine that is very busy; here it is to go on. */
export const BUSY = { EIDER_CPU_MOST: "1000000" };

export const SIZES = { desk: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };
export const THEMES = ["light", "dark"];

/** A daemon in a folder of its own, with DAG files {name: text}. */
export class Daemon {
  static async start(files = {}, options = {}) {
    const daemon = new Daemon();
    daemon.folder = await mkdtemp(path.join(os.tmpdir(), "eider-browser-"));
    daemon.home = path.join(daemon.folder, "home");
    daemon.dags = path.join(daemon.folder, "dags");
    daemon.options = options;
    daemon.listen = "127.0.0.1:0";
    await mkdir(daemon.home);
    await mkdir(daemon.dags);
    for (const [name, text] of Object.entries(files)) await daemon.write(name, text);
    await options.prepare?.(daemon); // a store that is filled already, say
    await daemon.up();
    return daemon;
  }

  /** Writes a DAG file; the daemon sees it by itself. */
  async write(name, text) {
    await writeFile(path.join(this.dags, name), text);
  }

  get environment() {
    return {
      PATH: process.env.PATH, HOME: this.folder, TZ: "UTC", EIDER_HOME: this.home, EIDER_LISTEN: this.listen,
      ...BUSY, ...this.options.env,
    };
  }

  async up() {
    this.process = start(PROGRAM, ["up", "--home", this.home, "--dags", this.dags, ...(this.options.args ?? [])],
      { env: this.environment, stdio: ["ignore", "pipe", "pipe"] });
    this.words = "";
    const said = new Promise((resolve, reject) => {
      const hear = (bytes) => {
        this.words += bytes;
        const api = /^ {2}api +(http\S+)/m.exec(this.words);
        if (api) resolve(api[1]);
      };
      this.process.stdout.on("data", hear);
      this.process.stderr.on("data", hear);
      this.process.on("exit", (code) => reject(new Error(`the daemon ended with ${code}:\n${this.words}`)));
    });
    this.url = await said;
    this.listen = new URL(this.url).host; // the same address when it comes back
    if (process.env.EIDER_UI !== "dev") this.pages = this.url;
    else if (!this.dev) await this.startDev();
    return this;
  }

  /** Pages that are worked on, before this daemon. */
  async startDev() {
    const script = path.join(root, "ui/dev.mjs");
    this.dev = start(process.execPath, [script, this.url], { stdio: ["ignore", "pipe", "inherit"] });
    this.pages = await new Promise((resolve) => this.dev.stdout.once("data", (bytes) => resolve(String(bytes).trim())));
  }

  async cli(...words) {
    const { stdout } = await run(PROGRAM, words, { env: this.environment, maxBuffer: 1 << 26 });
    return stdout;
  }

  async json(...words) {
    return JSON.parse(await this.cli(...words, "-o", "json"));
  }

  async token(role = "admin") {
    const { token } = await this.json("tokens", "add", `t${Math.random()}`.replace(".", ""), "--role", role);
    return token;
  }

  async api(method, at, body) {
    this.bearer ??= await this.token();
    const answer = await fetch(this.url + at, {
      method, headers: { Authorization: `Bearer ${this.bearer}`, "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    assert.ok(answer.ok, `${method} ${at}: ${answer.status} ${await answer.clone().text()}`);
    const text = await answer.text();
    return text ? JSON.parse(text) : null;
  }

  /** Ends by itself, or with `signal` "SIGKILL" at once. */
  async stop(signal = "SIGTERM") {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    this.process.removeAllListeners("exit");
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    this.process.kill(signal);
    await ended;
  }

  async remove() {
    await this.stop();
    this.dev?.kill();
    await rm(this.folder, { recursive: true, force: true });
  }
}

let browser;

/** A page of a browser of its own; errors of its console, and requests elsewhere, are in `page.mistakes`. */
export async function newPage(pages, { size = SIZES.desk, theme = "light" } = {}) {
  browser ??= await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
  const context = await browser.newContext({ viewport: size, colorScheme: theme, timezoneId: "UTC", locale: "en-GB" });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  page.mistakes = [];
  page.on("pageerror", (error) => page.mistakes.push(String(error)));
  page.on("console", (message) => message.type() === "error" && page.mistakes.push(message.text()));
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol.startsWith("http") && origin !== new URL(pages).origin)
      page.mistakes.push(`a request to another host: ${request.url()}`);
  });
  return page;
}

/** The same, signed in with a role. */
export async function openPage(daemon, { role = "admin", user, ...look } = {}) {
  const page = await newPage(daemon.pages, look);
  if (role) await signIn(daemon, page, role, user);
  return page;
}

const PASSWORD = "a long enough password 1";

/** Makes a user of the role, and signs in by its name and password. */
export async function signIn(daemon, page, role, user = `the-${role}`) {
  daemon.users ??= new Set();
  if (!daemon.users.has(user)) {
    daemon.users.add(user);
    await daemon.api("POST", "/api/v1/x/users", {
      name: user, password: PASSWORD, grants: [`*=${role}`],
    });
  }
  await page.goto(daemon.pages);
  await fillSignIn(page, user);
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
  page.mistakes.length = 0; // the browser counts the 401 of somebody not yet known as an error
}

export async function fillSignIn(page, user) {
  await page.getByRole("textbox", { name: "Name" }).fill(user);
  await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
}

export async function closeBrowser() {
  await browser?.close();
  browser = undefined;
}

/** Waits for a condition, and says what it waited for. */
export async function until(what, condition) {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
