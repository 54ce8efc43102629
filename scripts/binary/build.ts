// Builds the one binary: Node.js with the program inside it, in build/tollgate: `npm run build:binary`. It needs no Node.js where it
// runs, on the system and processor that it was built on.

import { execFileSync } from "node:child_process";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { templatesFolder } from "#src/delivery/mail/template-files.ts";
import { buildConsole } from "../console/build.ts";
import { bundle, threads } from "../package/bundle.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const output = join(root, "build");
const files = ["package.json", "gen/openapi.json"];

await buildConsole();
for (const path of await readdir(join(root, "console", "dist"), { recursive: true })) {
  if (path.includes(".")) {
    files.push(`console/dist/${path}`);
  }
}
for (const name of await readdir(join(root, templatesFolder))) {
  files.push(`${templatesFolder}/${name}`);
}
await rm(output, { recursive: true, force: true });
await mkdir(output, { recursive: true });
await bundle(output, { node: process.versions.node, inParts: false, extension: ".mjs" });
const bundled = (path: string) => join(output, `${path}.mjs`);
const config = join(output, "sea.json");
const assets = Object.fromEntries([
  ...threads.map((path) => [path, bundled(path)]),
  ...files.map((path) => [path, join(root, path)]),
]);
const sea = { main: bundled("src/main"), mainFormat: "module", output: join(output, "tollgate"), assets };
await writeFile(config, JSON.stringify({ ...sea, disableExperimentalSEAWarning: true, execArgvExtension: "none" }));
execFileSync(process.execPath, ["--build-sea", config], { stdio: ["ignore", "ignore", "inherit"] });
console.log(sea.output);
