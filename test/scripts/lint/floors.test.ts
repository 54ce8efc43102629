import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "@jest/globals";
import { findHomeless, floors, toWalls } from "../../../scripts/lint/floors.ts";

const buildings = { src: [["top"], ["left", "right"], ["ground"]] };
const walls = toWalls(buildings);

/** Whether an import from one file to another is refused. */
const isRefused = (from: string, to: string) =>
  walls.some((wall) => new RegExp(wall.from.path).test(from) && new RegExp(wall.to.path).test(to));

test.each([
  ["downward", "src/top/a.ts", "src/ground/b.ts", false],
  ["within a room", "src/left/a.ts", "src/left/deep/b.ts", false],
  ["beside it", "src/left/a.ts", "src/right/b.ts", true],
  ["beside it, the other way", "src/right/a.ts", "src/left/b.ts", true],
  ["upward", "src/ground/a.ts", "src/left/b.ts", true],
  ["upward, to a file", "src/ground/a.ts", "src/top.ts", true],
  ["out of the building", "src/ground/a.ts", "lib/b.ts", false],
])("an import %s is judged by floors", (_, from, to, refused) => {
  expect(isRefused(from, to)).toBe(refused);
});

const folder = mkdtempSync(join(tmpdir(), "floors-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("a folder or file without a floor is named", () => {
  for (const name of ["top", "left", "right", "ground", "stray"]) {
    mkdirSync(join(folder, "src", name), { recursive: true });
  }
  writeFileSync(join(folder, "src", "loose.ts"), "");
  expect(findHomeless(`${folder}/`, buildings)).toEqual(["src/loose", "src/stray"]);
});

test("the plan has at most thirteen rooms on eight floors, and each is there", () => {
  expect(floors.src?.flat().length).toBeLessThanOrEqual(13);
  expect(floors.src?.length).toBeLessThanOrEqual(8);
  expect(findHomeless(fileURLToPath(new URL("../../../", import.meta.url)))).toEqual([]);
});
