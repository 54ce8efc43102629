import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { refusedBy } from "./attack.ts";
import { attacks } from "./attacks.ts";
import { type Judged, missedBars, replaceTable, type Turn, tableHead, tableRow } from "./table.ts";

const turn = (ms: number, more: Partial<Turn> = {}): Turn => ({
  ...{ times: Array(100).fill(ms), failed: [], grownBytes: 2 ** 20, cpuPercent: 12.3 },
  ...more,
});
const shown = [refusedBy("console", "rate"), refusedBy("console", "refusals")];
const judged = (attacked: Turn, counted = 5): Judged => ({
  ...{ name: "links", what: "many links", quiet: turn(20), attacked, shown, counted: [7, counted] },
});

test.each<[string, Turn, number, string[]]>([
  ["three times as slow", turn(60), 1, []],
  ["slower than that", turn(61), 1, ["p99"]],
  ["a failure", turn(20, { failed: [503] }), 1, ["failed"]],
  ["much memory", turn(20, { grownBytes: 101 * 2 ** 20 }), 1, ["MiB"]],
  ["a bound that nothing shows", turn(20), 0, ["unseen"]],
])("%s is judged", (_, attacked, counted, missed) => {
  expect(missedBars(judged(attacked, counted))).toEqual(missed);
});

test("a row has every column of the head", () => {
  const row = tableRow(judged(turn(30)));
  expect(row).toBe(
    "| links | many links | 30 | 30 | 20 | 0 of 100 | 1 | 12 % | `door_refused_total` console rate: 7; `door_refused_total` console refusals: 5 | held |",
  );
  expect(row.split("|")).toHaveLength(tableHead[0]?.split("|").length ?? 0);
  expect(tableRow(judged(turn(30, { failed: [503, 0, 503] })))).toContain("| 3 of 100 (503, 0) |");
});

test("the page's table can be replaced, and has rows of attacks that there are alone", () => {
  const page = readFileSync("docs/security-tests.md", "utf8");
  const next = replaceTable(page, [...tableHead, tableRow(judged(turn(30)))]);
  expect(next.split("\n## ").slice(1)).toEqual(page.split("\n## ").slice(1));
  expect(next).toContain("\n| links | many links |");
  const [, table = ""] = /^\| attack .*\n\|.*\n((?:\|.*\n)+)/m.exec(page) ?? [];
  const rows = Array.from(table.matchAll(/^\| (\S+)/gm), ([, name]) => name);
  expect(rows.filter((row) => row !== "quiet" && !attacks.some(({ name }) => name === row))).toEqual([]);
});
