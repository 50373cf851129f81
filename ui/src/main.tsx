import { render } from "preact";
import { App } from "./app/App";
import { findPage } from "./app/pages";
import { followLinks } from "./core/route";
import { listenToKeys } from "./core/keys";
import { loadMe } from "./core/session";

followLinks();
listenToKeys();
void loadMe();
// Its code comes while we ask who sits here; who shows it tells of a failure.
findPage(location.pathname.replace(/\/+$/, ""))?.row.load().catch(() => {});
const root = document.getElementById("app");
if (root) render(<App />, root);
