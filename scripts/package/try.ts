// Packs the program, installs it as a stranger would, and uses it on every Node.js that it is for: `npm run test:package`, or
// with versions, `npm run test:package -- 22.23.3 24`. Needs a registry, and takes a minute or two.

import { execFileSync, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { packTo } from "./pack.ts";
import { pasteHints } from "./paste-hints.ts";
import { tryInstalled } from "./try-installed.ts";

/** Beside Node.js itself. */
const mostMib = 20;
const versions = process.argv.length > 2 ? process.argv.slice(2) : ["22.23.3", "24", "26"];

const folder = await mkdtemp(join(tmpdir(), "tollgate-package-"));
try {
  const tarball = packTo(fileURLToPath(new URL("../../", import.meta.url)), folder);
  const installed = await install("tollgate", tarball);
  const mib = Number(execFileSync("du", ["-sm", join(installed, "node_modules")], { encoding: "utf8" }).split("\t")[0]);
  console.log(`installed: ${mib} MiB`);
  if (mib > mostMib) {
    throw new Error(`more than ${mostMib} MiB`);
  }
  const launcher = join(installed, "node_modules", "tollgate", "bin", "tollgate.js");
  for (const version of versions) {
    const node = join(await install(`node-${version}`, `node@${version}`), "node_modules", ".bin", "node");
    const { readyMs } = await tryInstalled([node, launcher], await makeFolder(`run-${version}`), ({ output }) =>
      pasteHints(output, `${dirname(node)}:${process.env.PATH}`),
    );
    console.log(
      `Node.js ${version}: served, billed, kept its data, proved its books; ready after ${readyMs.join(" and ")} ms`,
    );
  }
  const old = join(await install("node-20", "node@20"), "node_modules", ".bin", "node");
  const { status, stderr } = spawnSync(old, [launcher, "--version"], { encoding: "utf8" });
  if (status !== 1 || !/^tollgate: Node\.js \S+ or newer is needed, and this is v20\S+: see \S+\n$/.test(stderr)) {
    throw new Error(`on Node.js 20 it ended with ${status}: ${stderr}`);
  }
  console.log("Node.js 20: says in one sentence which one is needed");
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function makeFolder(name: string): Promise<string> {
  const path = join(folder, name);
  await mkdir(path);
  return path;
}

/** Installs a package into an empty folder, whose path it returns. */
async function install(name: string, specifier: string): Promise<string> {
  const path = await makeFolder(name);
  const args = ["install", "--prefix", path, "--omit=dev", "--no-audit", "--no-fund", "--loglevel=error", specifier];
  execFileSync("npm", args, { cwd: path, stdio: ["ignore", "ignore", "inherit"] });
  return path;
}
