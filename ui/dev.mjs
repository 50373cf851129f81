// For work on the pages: `node dev.mjs http://127.0.0.1:4337 [PORT]` bundles at every request of the
// shell and hands everything else to a running daemon. Prints its own address.
import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const daemon = new URL(process.argv[2] ?? "http://127.0.0.1:4337");
const out = path.join(os.tmpdir(), `eider-ui-${process.pid}`);
const TYPES = { ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:;" +
  " connect-src 'self'; font-src 'self'; manifest-src 'self';" +
  " base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

function pass(request, response) {
  const target = http.request({
    host: daemon.hostname, port: daemon.port, method: request.method, path: request.url,
    headers: { ...request.headers, host: daemon.host },
  }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  target.on("error", () => response.destroy());
  response.on("close", () => target.destroy());
  request.pipe(target);
}

async function serve(request, response) {
  const name = new URL(request.url, "http://dev").pathname;
  if (/^\/(api|hooks|login|healthz|readyz|metrics)(\/|$)/.test(name)) return pass(request, response);
  const file = name === `/static/${path.basename(name)}` ? name : "/index.html";
  if (file === "/index.html")
    execFileSync(process.execPath, [path.join(here, "build.mjs"), out], { stdio: "inherit" });
  const bytes = await readFile(path.join(out, file));
  response.writeHead(200, {
    "Content-Type": TYPES[path.extname(file)] ?? "text/html; charset=utf-8", "Content-Security-Policy": POLICY,
    "Cache-Control": "no-store",
  });
  response.end(bytes);
}

const server = http.createServer((request, response) => {
  serve(request, response).catch((error) => response.writeHead(500).end(String(error)));
});
server.listen(Number(process.argv[3] ?? 0), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${server.address().port}/`);
});
