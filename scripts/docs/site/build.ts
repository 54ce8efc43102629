// Builds the documentation as a site with search, in dist/docs, where `tollgate docs` finds it: `npm run docs`. A link that leads
// nowhere fails it. VitePress stays out of the main dependencies: it is 105 MB, and needed for this alone. Needs a registry the first
// time.

import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stage } from "./stage.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const here = fileURLToPath(new URL("./", import.meta.url));
const source = join(root, "build", "docs-source");
const output = join(root, "dist", "docs");

if (!isInstalled()) {
  const args = ["install", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  execFileSync("npm", args, { cwd: here, stdio: ["ignore", "ignore", "inherit"] });
}
stage(root, source);
writeFileSync(join(source, "tsconfig.json"), "{}"); // the repository's is newer than the generator
mkdirSync(join(source, ".vitepress"));
for (const name of ["config.js", "anchor.js", "notices.js"]) {
  cpSync(join(here, name), join(source, ".vitepress", name));
}
symlinkSync(join(here, "node_modules"), join(source, "node_modules"));
rmSync(output, { recursive: true, force: true });
const vitepress = join(here, "node_modules", "vitepress", "bin", "vitepress.js");
execFileSync(process.execPath, [vitepress, "build", source, "--outDir", output], { cwd: source, stdio: "inherit" });
console.log(output);

/** Whether the version that is wanted is there. */
function isInstalled(): boolean {
  const wanted = JSON.parse(readFileSync(join(here, "package.json"), "utf8")).dependencies.vitepress;
  const found = join(here, "node_modules", "vitepress", "package.json");
  return existsSync(found) && JSON.parse(readFileSync(found, "utf8")).version === wanted;
}
