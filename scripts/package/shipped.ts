import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleConsole } from "../console/build.ts";
import { analyzeProgram, packagesIn } from "./bundle.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

interface Manifest {
  readonly name: string;
  readonly version: string;
}

/**
 * The packages that ship, as name@version: those inside the program and the console, and those that npm installs beside the
 * program. All others are tools of development.
 */
export async function readShipped(): Promise<Set<string>> {
  const [program, console] = await Promise.all([analyzeProgram(), bundleConsole()]);
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    packages: Record<string, { dev?: boolean; devOptional?: boolean }>;
  };
  const installed = Object.entries(lock.packages)
    .filter(([path, { dev, devOptional }]) => path !== "" && !dev && !devOptional)
    .map(([path]) => path);
  const folders = [...packagesIn(program), ...packagesIn(console.metafile), ...installed];
  return new Set(folders.map(readName));
}

function readName(folder: string): string {
  const { name, version } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as Manifest;
  return `${name}@${version}`;
}
