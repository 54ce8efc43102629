import { execFileSync } from "node:child_process";
import { expect, test } from "@jest/globals";

const file = new URL("../../../../lib/overload/workarounds/pretenuring.ts", import.meta.url).href;

/**
 * Prints by how many megabytes the old space grows while objects come and go, after some hundred objects of the same literal
 * have outlived a small collection.
 */
const churn = (first: string) => `
  import { getHeapSpaceStatistics } from "node:v8";
  ${first}
  const old = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === "old_space").space_used_size;
  const make = (value) => ({ value });
  const kept = [];
  for (let round = 0; round < 4; round++) {
    for (let i = 0; i < 200; i++) {
      kept.push(make(i));
    }
    gc({ type: "minor" });
  }
  let grown = 0;
  let last = old();
  for (let i = 0; i < 60_000; i++) {
    globalThis.last = make(Array.from({ length: 20 }, () => ({})));
    if (i % 500 === 0) {
      const now = old();
      grown += Math.max(0, now - last);
      last = now;
    }
  }
  console.log(grown / 1e6);`;

/** At its largest from the beginning: V8 decides for good only then. */
const flags = ["--expose-gc", "--min-semi-space-size=16", "--max-semi-space-size=16"];

const grown = (first: string) =>
  Number(execFileSync(process.execPath, [...flags, "--input-type=module", "-e", churn(first)], { encoding: "utf8" }));

test("without the workaround what has gone grows old once some objects of its literal did", () => {
  expect(grown("")).toBeGreaterThan(10);
});

test("with the workaround it does not", () => {
  expect(grown(`(await import(${JSON.stringify(file)})).keepLiteralsYoung();`)).toBeLessThan(1);
});
