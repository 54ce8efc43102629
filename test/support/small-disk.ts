import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Runs a program as root: as who runs the tests, or by sudo where that asks nothing. */
export function asRoot(...command: string[]): void {
  const isRoot = process.getuid?.() === 0;
  const [program = "", ...args] = isRoot ? command : ["sudo", "-n", ...command];
  const { status, stderr } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) {
    throw new Error(`this test needs a file system of its own, so root or sudo: ${command.join(" ")}: ${stderr}`);
  }
}

/** A real file system of so many MiB, in memory. */
export interface SmallDisk {
  readonly folder: string;
  remove(): void;
}

export function mountSmallDisk(mebibytes: number): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-small-disk-"));
  asRoot("mount", "-t", "tmpfs", "-o", `size=${mebibytes}m`, "tmpfs", folder);
  return {
    folder,
    remove() {
      asRoot("umount", folder);
      rmSync(folder, { recursive: true });
    },
  };
}
