import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Column } from "./table.ts";

// One file a column, so that engines can be run one at a time and the table has all of them.
const file = (name: string) => fileURLToPath(new URL(`results/${name}.json`, import.meta.url));

export function writeColumn(name: string, column: Column): void {
  writeFileSync(file(name), `${JSON.stringify(column, null, 2)}\n`);
}

/** The columns that were ever run. */
export function readColumns(names: readonly string[]): Column[] {
  return names.filter((name) => existsSync(file(name))).map((name) => JSON.parse(readFileSync(file(name), "utf8")));
}
