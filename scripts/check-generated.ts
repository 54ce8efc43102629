import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** Generates the contracts' code anew and compares it with gen/. Sets the exit code when they differ. */
export async function checkGenerated(root: string): Promise<void> {
  const fresh = mkdtempSync(join(tmpdir(), "tollgate-gen-"));
  try {
    const stale = await promisify(execFile)("buf", ["generate", "-o", fresh], { cwd: root }).then(
      () => differences(join(fresh, "gen"), join(root, "gen")),
      (error: Error) => [error.message],
    );
    if (stale.length === 0) {
      return;
    }
    console.error(`gen/ is not what proto/ generates; run npm run generate:\n  ${stale.join("\n  ")}`);
    process.exitCode = 1;
  } finally {
    rmSync(fresh, { recursive: true });
  }
}

function differences(fresh: string, committed: string): string[] {
  const expected = filesBelow(fresh);
  const found = filesBelow(committed);
  const all = new Set([...expected.keys(), ...found.keys()]);
  return [...all].filter((name) => expected.get(name) !== found.get(name)).sort();
}

function filesBelow(folder: string): Map<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    names.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [path.slice(folder.length), readFileSync(path, "utf8")];
    }),
  );
}
