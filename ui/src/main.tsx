import { render } from "preact";
import { App } from "./app/App";
import { followLinks } from "./core/route";
import { listenToKeys } from "./core/keys";
import { loadMe } from "./core/session";

followLinks();
listenToKeys();
void loadMe();
const root = document.getElementById("app");
if (root) render(<App />, root);
