import { render } from "preact";
import { App } from "./app/App";
import { findPage, loadPage } from "./app/pages";
import { followLinks } from "./core/route";
import { listenToKeys } from "./core/keys";
import { askAhead } from "./core/load";
import { loadMe } from "./core/session";

followLinks();
listenToKeys();
// While we ask who sits here, the page's code comes, and what it will show; who shows it tells of failures.
void loadMe();
const first = findPage(location.pathname.replace(/\/+$/, ""))?.row;
if (first) loadPage(first).catch(() => {});
if (first?.ahead && !location.search) askAhead(first.ahead);
const root = document.getElementById("app");
if (root) render(<App />, root);
