import "./app/workarounds/browser-language.ts";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/controls.css";
import "./styles/content.css";
import "./styles/table.css";
import "./styles/plot.css";
import { render } from "preact";
import { App } from "./app/app.tsx";
import { startRouter } from "./app/router.ts";
import { loadSession } from "./app/session.ts";
import { followSession } from "./app/tabs/follow-session.ts";

startRouter();
followSession();
const root = document.getElementById("root");
if (root !== null) {
  render(<App />, root);
}
await loadSession();
