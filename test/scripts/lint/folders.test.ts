import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { findCrowded } from "../../../scripts/lint/folders.ts";

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
