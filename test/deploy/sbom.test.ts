import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";
import { root } from "./files.ts";

interface Component {
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses?: readonly { license?: { id?: string; name?: string }; expression?: string }[];
  readonly hashes?: readonly { alg: string; content: string }[];
}

test("the bill of materials has every package that ships, with its licence and checksum", async () => {
  const { stdout } = await promisify(execFile)("npm", ["run", "--silent", "sbom"], { cwd: root, maxBuffer: 2 ** 26 });
  const { bomFormat, components } = JSON.parse(stdout) as { bomFormat: string; components: Component[] };
  expect(bomFormat).toBe("CycloneDX");
  const lock = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")) as {
    packages: Record<string, { version: string; dev?: boolean; name?: string }>;
  };
  const shipped = Object.entries(lock.packages)
    .filter(([path, { dev }]) => path !== "" && !dev && existsSync(join(root, path)))
    .map(([path, { name, version }]) => `${name ?? path.slice(path.lastIndexOf("node_modules/") + 13)}@${version}`);
  const listed = new Set(components.map(({ name, version }) => `${name}@${version}`));
  expect(shipped.length).toBeGreaterThan(50);
  expect(shipped.filter((one) => !listed.has(one))).toEqual([]);
  const ours = components.filter(({ name, version }) => shipped.includes(`${name}@${version}`));
  expect(ours.filter(({ licenses = [] }) => licenses.length === 0).map(({ purl }) => purl)).toEqual([]);
  expect(ours.filter(({ hashes = [] }) => hashes.length === 0).map(({ purl }) => purl)).toEqual([]);
}, 60_000);
