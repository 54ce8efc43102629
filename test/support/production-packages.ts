import { mkdir, readFile, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Puts into a folder what `npm ci --omit=dev` would install there, by the repository's lock file. */
export async function linkProductionPackages(root: string, folder: string): Promise<void> {
  const lock = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")) as {
    packages: Record<string, { dev?: boolean; devOptional?: boolean }>;
  };
  const names = Object.entries(lock.packages).filter(
    ([path, { dev }]) => /^node_modules\/(@[^/]+\/)?[^/]+$/.test(path) && !dev,
  );
  for (const [path] of names) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await symlink(join(root, path), join(folder, path));
  }
}
