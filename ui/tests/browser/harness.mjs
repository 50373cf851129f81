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
import { after, afterEach } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { chromium } from "playwright-core";

export const root = path.join(path.dirname(fileURLToPath(import.meta.url)), "../../..");
export const PROGRAM = process.env.EIDER_PROGRAM ?? path.join(root, "build/eider");
const CHROMIUM = process.env.EIDER_CHROMIUM ?? "/usr/bin/chromium";
const run = promisify(execFile);
const daemons = new Set();
/** Whatever becomes of the tests, nothing is left running. */
const children = new Set();
process.on("exit", () => children.forEach((child) => child.kill("SIGKILL")));

export function start(program, words, options) {
  const child = spawn(program, words, options);
  if (options.detached) child.kill = (signal) => killAll(child.pid, signal);
  children.add(child);
  child.once("exit", () => children.delete(child));
  return child;
}

/** With all that it started; they may be gone. */
function killAll(leader, signal) {
  try {
    process.kill(-leader, signal);
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}

/** For what must happen, however busy the machine is. */
export const PATIENCE_MS = 60_000;

/** A daemon claims nothing on a machine that is very busy; here it is to go on. */
export const BUSY = { EIDER_CPU_MOST: "1000000" };

export const SIZES = { desk: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };
export const THEMES = ["light", "dark"];

/** Shows the page that is loaded in another theme. */
export async function wear(page, theme) {
  await page.emulateMedia({ colorScheme: theme });
  await page.waitForFunction((wanted) => document.documentElement.dataset.theme === wanted, theme);
}

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
    daemons.add(daemon);
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

  /** What the API has at a path below /api/v1/x: much quicker than a command, for what is asked again and again. */
  async get(at) {
    return this.api("GET", "/api/v1/x" + at);
  }

  /** Waits until these DAGs are there; those that are not active yet are known by their files only. */
  async knows(...dags) {
    await until(`the DAGs are there: ${dags.join(", ")}`, async () => {
      const known = (await this.get("/dags")).dags;
      return dags.every((name) => known.some((dag) => dag.dag_id === name && dag.is_active));
    });
  }

  /** Starts a run, and gives its number. */
  async trigger(dag, ...more) {
    return (await this.json("dags", "trigger", dag, ...more)).number;
  }

  async isOver(run) {
    await until(`run ${run} is over`, async () =>
      ["success", "failed", "cancelled"].includes((await this.get(`/runs/${run}`)).state));
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
    daemons.delete(this);
    await this.stop();
    this.dev?.kill();
    await rm(this.folder, { recursive: true, force: true });
  }
}

let browser;
/** Pages that a test is done with: to make one takes longer than to load something into it. */
let spare = [];

async function makePage(pages) {
  browser ??= await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
  const context = await browser.newContext({
    baseURL: pages, timezoneId: "UTC", locale: "en-GB", reducedMotion: "reduce", // what moves is painted all the time
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  page.of = pages;
  page.on("pageerror", (error) => page.mistakes.push(String(error)));
  page.on("console", (message) => message.type() === "error" && page.mistakes.push(message.text()));
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol.startsWith("http") && origin !== new URL(pages).origin)
      page.mistakes.push(`a request to another host: ${request.url()}`);
  });
  return page;
}

/** A page of a browser of its own; errors of its console, and requests elsewhere, are in `page.mistakes`. */
export async function newPage(pages, { size = SIZES.desk, theme = "light" } = {}) {
  const known = spare.find((page) => page.of === pages);
  spare = spare.filter((page) => page !== known);
  const page = known ?? await makePage(pages);
  page.mistakes = [];
  await page.setViewportSize(size);
  await page.emulateMedia({ colorScheme: theme });
  return page;
}

/** Forgets what a test did with its pages: nobody is signed in, nothing is asked any more. */
async function putAside() {
  const pages = (browser?.contexts() ?? []).flatMap((context) => context.pages());
  await Promise.all(pages.filter((page) => !spare.includes(page)).map(async (page) => {
    page.removeAllListeners("dialog");
    await page.unrouteAll({ behavior: "ignoreErrors" });
    const session = await page.context().newCDPSession(page);
    await page.goto("about:blank");
    await session.send("Storage.clearDataForOrigin", { origin: new URL(page.of).origin, storageTypes: "all" });
    await session.detach();
    await page.context().clearCookies();
    spare.push(page);
  }));
}

const PASSWORD = "a long enough password 1";

/** The same, signed in with a role, or as a user who has other grants; nothing is loaded yet. */
export async function openPage(daemon, { role = "admin", user = `the-${role}`, grants = [`*=${role}`], ...look } = {}) {
  const page = await newPage(daemon.pages, look);
  if (role) await enter(daemon, page, user, grants);
  return page;
}

/** A session is made once for each user, without the form: a password takes long to check, as it should. */
async function enter(daemon, page, user, grants) {
  daemon.sessions ??= new Map();
  if (!daemon.sessions.has(user)) {
    await daemon.api("POST", "/api/v1/x/users", { name: user, password: PASSWORD, grants });
    const answer = await page.request.post("/api/v1/x/login", { data: { username: user, password: PASSWORD } });
    assert.ok(answer.ok(), `signing in: ${answer.status()}`);
    daemon.sessions.set(user, await page.context().cookies());
  } else await page.context().addCookies(daemon.sessions.get(user));
}

export async function fillSignIn(page, user, password = PASSWORD) {
  await page.getByRole("textbox", { name: "Name" }).fill(user);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

export async function closeBrowser() {
  await browser?.close();
  browser = undefined;
  spare = [];
}

/** For a file of tests: each begins with pages that know nothing; browser and daemons are gone after all of them. */
export function cleanUp() {
  afterEach((t) => t.fullName === t.name && putAside()); // a test within another uses the page of that one
  after(async () => {
    await closeBrowser();
    await Promise.all([...daemons].map((daemon) => daemon.remove()));
  });
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
