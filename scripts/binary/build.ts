// Builds the one binary: Node.js with the program inside it, in build/tollgate: `npm run build:binary`. It needs no Node.js where it
// runs, on the system and processor that it was built on.

import { execFileSync } from "node:child_process";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { buildConsole } from "../console/build.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const output = join(root, "build");
/** Modules that run as threads; each is a bundle of its own. */
const threads = ["src/metering/store/sqlite/worker", "src/storage/sqlite-reader"];
const files = ["package.json", "gen/openapi.json"];

await buildConsole();
for (const path of await readdir(join(root, "console", "dist"), { recursive: true })) {
  if (path.includes(".")) {
    files.push(`console/dist/${path}`);
  }
}
await rm(output, { recursive: true, force: true });
await mkdir(output, { recursive: true });
await build({
  absWorkingDir: root,
  entryPoints: ["src/main.ts", ...threads.map((path) => `${path}.ts`)],
  outbase: ".",
  outdir: output,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  platform: "node",
  format: "esm",
  target: `node${process.versions.node}`,
  // Drivers that libraries would take if they were there.
  external: ["pg-native"],
  // CommonJS inside the bundle asks for Node.js's own modules.
  banner: {
    js: 'import { createRequire as requireOfBundle } from "node:module"; const require = requireOfBundle("file:///");',
  },
  legalComments: "external",
  // The ORM goes by the names of classes.
  keepNames: true,
  logLevel: "warning",
});
const bundle = (path: string) => join(output, `${path}.mjs`);
const config = join(output, "sea.json");
const assets = Object.fromEntries([
  ...threads.map((path) => [path, bundle(path)]),
  ...files.map((path) => [path, join(root, path)]),
]);
const sea = { main: bundle("src/main"), mainFormat: "module", output: join(output, "tollgate"), assets };
await writeFile(config, JSON.stringify({ ...sea, disableExperimentalSEAWarning: true, execArgvExtension: "none" }));
execFileSync(process.execPath, ["--build-sea", config], { stdio: ["ignore", "ignore", "inherit"] });
console.log(sea.output);
