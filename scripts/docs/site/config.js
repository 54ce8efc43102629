// VitePress's configuration. The staged pages bring the menu.
import { readFileSync } from "node:fs";
import { toAnchor } from "./anchor.js";

const sidebar = JSON.parse(readFileSync(new URL("../menu.json", import.meta.url), "utf8"));

export default {
  title: "Tollgate",
  description: "A metered proxy for open-source models",
  // Addresses of a start on this machine are examples; every other link has to lead somewhere.
  ignoreDeadLinks: "localhostLinks",
  markdown: { anchor: { slugify: toAnchor } },
  themeConfig: { search: { provider: "local" }, sidebar, outline: [2, 3] },
};
