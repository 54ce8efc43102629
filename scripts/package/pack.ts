import { execFileSync } from "node:child_process";
import { join } from "node:path";

/** Packs the repository as `npm publish` would. Returns the path of the file. */
export function packTo(root: string, folder: string): string {
  const args = ["pack", "--silent", "--pack-destination", folder];
  const name = execFileSync("npm", args, { cwd: root, encoding: "utf8" }).trim().split("\n").at(-1) ?? "";
  return join(folder, name);
}
