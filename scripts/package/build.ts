// Builds what a packaged program consists of, the JavaScript in dist/ and the console in console/dist: `npm run build`. npm runs it
// by itself at the end of `npm ci`, and before `npm pack`. A clone runs dist, too, until its sources change.

import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isBuilt, recordSources } from "../../bin/built.js";
import { buildConsole } from "../console/build.ts";
import { bundle } from "./bundle.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const dist = join(root, "dist");
const { engines } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { engines: { node: string } };

await buildConsole();
// Programs may run from a dist that is fresh: it is not taken from under them.
if (!isBuilt(root)) {
  await rm(dist, { recursive: true, force: true });
  const read = await bundle(dist, { node: engines.node.replace(">=", ""), inParts: true, extension: ".js" });
  recordSources(root, [
    ...read,
    "package.json",
    "package-lock.json",
    "scripts/package/bundle.ts",
    "scripts/package/class-names.ts",
  ]);
}
