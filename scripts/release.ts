// Makes what a release is: the npm package, the one binary of this system, the bill of materials, and their checksums, in
// build/release: `npm run release`.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { packTo } from "./package/pack.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const folder = join(root, "build", "release");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };

execFileSync(process.execPath, [join(root, "scripts", "binary", "build.ts")], { stdio: "inherit" });
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
cpSync(join(root, "build", "tollgate"), join(folder, `tollgate-${version}-${process.platform}-${process.arch}`));
packTo(root, folder);
const sbom = ["sbom", "--package-lock-only", "--omit=dev", "--sbom-format", "cyclonedx", "--sbom-type", "application"];
writeFileSync(
  join(folder, `tollgate-${version}.cdx.json`),
  execFileSync("npm", sbom, { cwd: root, maxBuffer: 2 ** 26 }),
);
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
