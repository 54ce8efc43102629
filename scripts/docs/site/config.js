// VitePress's configuration. The staged pages bring the menu.
import { readFileSync } from "node:fs";
import { toAnchor } from "./anchor.js";
import { notices } from "./notices.js";

const sidebar = JSON.parse(readFileSync(new URL("../menu.json", import.meta.url), "utf8"));

/** Lines of code are up to 120 characters long here: smaller letters, and the room that a wide window has. */
const style = `:root { --vp-layout-max-width: 1760px }
.vp-doc div[class*="language-"] code { font-size: 12.5px }
.VPDoc.has-aside .content-container.content-container { max-width: 960px }`;

export default {
  title: "Tollgate",
  description: "A metered proxy for open-source models",
  head: [["style", {}, style]],
  // Addresses of a start on this machine are examples; every other link has to lead somewhere.
  ignoreDeadLinks: "localhostLinks",
  markdown: { anchor: { slugify: toAnchor } },
  vite: { plugins: [notices] },
  themeConfig: { search: { provider: "local" }, sidebar, outline: [2, 3] },
};
