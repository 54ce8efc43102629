import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "@jest/globals";
import { exceptions, findCrowded } from "../../../scripts/lint/folders.ts";

const root = mkdtempSync(join(tmpdir(), "folders-"));
afterAll(() => rmSync(root, { recursive: true }));

/** Makes a folder with so many files. */
function fill(path: string, files: number): void {
  mkdirSync(join(root, path), { recursive: true });
  for (let file = 0; file < files; file++) {
    writeFileSync(join(root, path, `${file}.ts`), "");
  }
}

test("a folder with fourteen entries is not crowded, one with fifteen is, at any depth", () => {
  fill("src", 13);
  fill("src/full", 14);
  expect(findCrowded(`${root}/`, "src")).toEqual([]);
  fill("src/full/deep", 15);
  expect(findCrowded(`${root}/`, "src")).toEqual([
    { path: "src/full", entries: 15 },
    { path: "src/full/deep", entries: 15 },
  ]);
});

test("folders with a reason may hold more, and each of them needs to", () => {
  const repository = fileURLToPath(new URL("../../../", import.meta.url));
  for (const path of Object.keys(exceptions)) {
    fill(path, 15);
    expect(findCrowded(`${root}/`, path)).toEqual([]);
    // By another name, to which the reason does not apply.
    expect(findCrowded(repository, `${path}/.`)).not.toEqual([]);
  }
});
