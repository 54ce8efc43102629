// Makes what a release is, in build/release: the npm package, the one binary, the Helm chart, the bill of materials, the notes, and
// the checksums of all: `npm run release`. The binary is that of this system; `npm run release -- --binaries FOLDER` takes those that
// were built elsewhere instead. `npm run release:check` judges the outcome.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { packTo } from "../package/pack.ts";
import { writeBillOfMaterials } from "./bill-of-materials.ts";
import { binaryName, releaseNames } from "./names.ts";
import { readNotes } from "./notes.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = join(root, "build", "release");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
const names = releaseNames(version);
const { values: options } = parseArgs({ options: { binaries: { type: "string" } } });
const notes = readNotes(readFileSync(join(root, "CHANGELOG.md"), "utf8"), version);

if (options.binaries === undefined) {
  execFileSync(process.execPath, [join(root, "scripts", "binary", "build.ts")], { stdio: "inherit" });
}
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
if (options.binaries === undefined) {
  cpSync(join(root, "build", "tollgate"), join(folder, binaryName(version, process.platform, process.arch)));
} else {
  for (const name of readdirSync(options.binaries)) {
    cpSync(join(options.binaries, name), join(folder, name));
    chmodSync(join(folder, name), 0o755);
  }
}
packTo(root, folder);
packChart();
writeFileSync(join(folder, names.billOfMaterials), await writeBillOfMaterials());
writeFileSync(join(folder, names.notes), notes);
const sums = readdirSync(folder).toSorted().map(sumOf).join("");
writeFileSync(join(folder, names.sums), sums);
console.log(sums.trimEnd());

function sumOf(name: string): string {
  const digest = createHash("sha256").update(readFileSync(join(folder, name)));
  return `${digest.digest("hex")}  ${name}\n`;
}

/** A chart is its folder in an archive; the same files make the same one. */
function packChart(): void {
  const same = ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner"];
  const args = [...same, "-czf", join(folder, names.chart), "--directory", join(root, "deploy", "helm"), "tollgate"];
  execFileSync("tar", args, { stdio: ["ignore", "ignore", "inherit"] });
}
