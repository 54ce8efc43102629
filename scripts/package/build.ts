// Writes dist/, the JavaScript of the npm package: every source of the program with its types stripped. Node.js strips no types
// below node_modules. `npm pack` runs it first.

import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folders = ["facades", "lib", "src"];
/** Runs when the contract changes, and is no part of the program. */
const left = "facades/codegen/";

export async function buildPackage(): Promise<void> {
  const dist = join(root, "dist");
  await rm(dist, { recursive: true, force: true });
  for (const folder of folders) {
    for (const entry of await readdir(join(root, folder), { recursive: true })) {
      const path = join(folder, entry);
      if (path.endsWith(".ts") && !path.startsWith(left)) {
        const target = join(dist, path.replace(/\.ts$/, ".js"));
        await mkdir(dirname(target), { recursive: true });
        await writeFile(target, toJavaScript(await readFile(join(root, path), "utf8")));
      }
    }
  }
}

/** Types become spaces, so that lines and columns of a stack trace are those of the source. */
export function toJavaScript(source: string): string {
  return stripTypeScriptTypes(source)
    .replace(/(["'])(\.{1,2}\/[^"'\n]+)\.ts\1/g, "$1$2.js$1")
    .replace(/[ \t]+$/gm, "");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.removeAllListeners("warning"); // that stripping types is experimental is known
  await buildPackage();
}
