// Tells whether what `npm run build` made in dist is still made of the sources that are here.
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Below the root; npm leaves it out of the package. */
const record = "dist/.sources.json";

/** Remembers the state of the files that dist was made of, by their paths below the root. The last step of a build. */
export function recordSources(root, paths) {
  const states = Object.fromEntries(paths.map((path) => [path, readState(root, path)]));
  writeFileSync(join(root, record), JSON.stringify(states));
}

/** Whether dist is whole and none of those files has changed since. */
export function isBuilt(root) {
  try {
    const states = Object.entries(JSON.parse(readFileSync(join(root, record), "utf8")));
    return states.length > 0 && states.every(([path, state]) => state === readState(root, path));
  } catch {
    return false;
  }
}

/** Its size and when it was written; undefined: it is gone. */
function readState(root, path) {
  const found = statSync(`${root}/${path}`, { throwIfNoEntry: false });
  return found && `${found.size} ${found.mtimeMs}`;
}
