import { mkdir, readFile, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";

/**
 * Links into a folder the packages that npm would install with the program, by the repository's lock file, and further
 * packages by name.
 */
export async function linkProductionPackages(root: string, folder: string, others: readonly string[]): Promise<void> {
  const lock = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")) as {
    packages: Record<string, { dev?: boolean; devOptional?: boolean }>;
  };
  const names = Object.entries(lock.packages).filter(
    ([path, { dev }]) =>
      /^node_modules\/(@[^/]+\/)?[^/]+$/.test(path) && (!dev || others.includes(path.slice("node_modules/".length))),
  );
  for (const [path] of names) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await symlink(join(root, path), join(folder, path));
  }
}
