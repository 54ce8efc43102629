import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { byPart, type CpuProfile, lastLoad, readMainProfile } from "./cpu-profile.ts";

const node = (id: number, functionName: string, url: string, children: number[] = []) => ({
  id,
  callFrame: { functionName, url, lineNumber: 0 },
  children,
});

/** Two loads of 0.3 s with half a second of idleness around them; ids are sampled every 10 ms. */
const profile: CpuProfile = {
  nodes: [
    node(1, "(root)", "", [2, 3, 4, 5]),
    node(2, "(idle)", ""),
    node(3, "serve", "file:///here/src/a/one.ts", [6, 7]),
    node(4, "(garbage collector)", ""),
    node(5, "", "node:internal/timers"),
    node(6, "call", "file:///here/node_modules/@scope/library/index.js"),
    node(7, "call", "file:///here/node_modules/@scope/library/index.js"),
  ],
  samples: [2, 4, 2, 3, 6, 7, 5, 2].flatMap((id, at) => Array(at === 0 || at === 2 || at === 7 ? 50 : 10).fill(id)),
  timeDeltas: Array(50 * 3 + 10 * 5).fill(10_000),
};

test("keeps the last load, without what was before it, after it and idle", () => {
  const root = lastLoad(profile, 400_000);
  expect(root).toMatchObject({ name: "(root)", place: "native", total: 400_000, self: 0 });
  expect(root.children).toMatchObject([
    { name: "serve", place: "src/a/one.ts", total: 300_000, self: 100_000 },
    { name: "(anonymous)", place: "node:timers", total: 100_000, children: [] },
  ]);
});

test("one function that was called from two places is one frame", () => {
  const [serve] = lastLoad(profile, 400_000).children;
  expect(serve?.children).toMatchObject([{ name: "call", place: "node_modules/@scope/library", total: 200_000 }]);
});

test("adds up by part", () => {
  expect(byPart(lastLoad(profile, 400_000))).toEqual([
    ["node_modules/@scope/library", 200_000],
    ["src/a", 100_000],
    ["Node's library", 100_000],
  ]);
});

test("reads the main thread's profile and no other", () => {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-profile-"));
  try {
    expect(() => readMainProfile(directory)).toThrow("0 profiles of main threads, not one");
    writeFileSync(join(directory, "CPU.1.2.0.001.cpuprofile"), JSON.stringify(profile));
    writeFileSync(join(directory, "CPU.1.2.1.002.cpuprofile"), "of another thread");
    expect(readMainProfile(directory).samples).toHaveLength(200);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
