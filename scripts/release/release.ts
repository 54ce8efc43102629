// Makes what a release is: the npm package, the one binary of this system, the bill of materials, and their checksums, in
// build/release: `npm run release`.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { packTo } from "../package/pack.ts";
import { writeBillOfMaterials } from "./bill-of-materials.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = join(root, "build", "release");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };

execFileSync(process.execPath, [join(root, "scripts", "binary", "build.ts")], { stdio: "inherit" });
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
cpSync(join(root, "build", "tollgate"), join(folder, `tollgate-${version}-${process.platform}-${process.arch}`));
packTo(root, folder);
writeFileSync(join(folder, `tollgate-${version}.cdx.json`), await writeBillOfMaterials());
const sums = readdirSync(folder)
  .toSorted()
  .map(
    (name) =>
      `${createHash("sha256")
        .update(readFileSync(join(folder, name)))
        .digest("hex")}  ${name}\n`,
  );
writeFileSync(join(folder, "SHA256SUMS"), sums.join(""));
console.log(sums.join("").trimEnd());
