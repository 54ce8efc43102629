import { readdirSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";

/** Where sources lie. */
const roots = ["console/app", "console/pages", "console/parts", "facades", "lib", "simulator", "src"];

/** The most entries that a reader takes in at one look. */
const mostEntries = 14;

/** A folder with the number of its entries. */
export interface Crowded {
  readonly path: string;
  readonly entries: number;
}

/** Finds the folders at or below a path with more entries than one look takes in. `root` ends with a slash. */
export function findCrowded(root: string, path: string): Crowded[] {
  const there = readdirSync(`${root}${path}`, { withFileTypes: true });
  const below = there
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => findCrowded(root, `${path}/${name}`));
  return there.length > mostEntries ? [{ path, entries: there.length }, ...below] : below;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const root = fileURLToPath(new URL("../../", import.meta.url));
  for (const { path, entries } of roots.flatMap((folder) => findCrowded(root, folder))) {
    console.error(`${path}: ${entries} entries, at most ${mostEntries}: group what belongs to one concept in a folder`);
    process.exitCode = 1;
  }
}
