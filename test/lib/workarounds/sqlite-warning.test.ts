import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { withoutSqlite } from "#lib/workarounds/sqlite-warning.ts";

test("the warning of SQLite is hidden, all others are passed on", () => {
  const seen: unknown[][] = [];
  const emitWarning = withoutSqlite((...args) => void seen.push(args));
  emitWarning("SQLite is an experimental feature and might change at any time", "ExperimentalWarning");
  const others = [
    ["Another is an experimental feature and might change at any time", "ExperimentalWarning"],
    ["SQLite is an experimental feature", "Warning"],
    [new Error("SQLite is away")],
  ] as const;
  for (const [warning, ...rest] of others) {
    emitWarning(warning, ...rest);
  }
  expect(seen).toEqual(others);
});

test("a Node.js that warns of it is still among those that the package runs on", () => {
  const { engines } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8"));
  expect(engines.node).toMatch(/^>=22\./);
});
