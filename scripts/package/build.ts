// Writes dist/, the JavaScript of the npm package. `npm pack` runs it first.

import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "./bundle.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const dist = join(root, "dist");
const { engines } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { engines: { node: string } };

await rm(dist, { recursive: true, force: true });
await bundle(dist, { node: engines.node.replace(">=", ""), inParts: true, extension: ".js" });
