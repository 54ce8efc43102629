import { execFileSync } from "node:child_process";
import { expect, test } from "@jest/globals";

const file = new URL("../../../lib/overload/young-space.ts", import.meta.url).href;

/**
 * Counts collections of the young space while 60 MB are made that live on, as by a start, after a first line. A space
 * that grows with them needs half a dozen; one that stays small needs one for each of its fillings.
 */
const collections = (first: string): number => {
  const program = `
    import { constants, PerformanceObserver } from "node:perf_hooks";
    import { keepYoungSpaceSmall, letYoungSpaceGrow } from ${JSON.stringify(file)};
    const observer = new PerformanceObserver(() => {});
    observer.observe({ entryTypes: ["gc"] });
    ${first}
    const kept = [];
    for (let i = 0; i < 1_000_000; i++) {
      kept.push({ i, next: { i } });
    }
    await new Promise((resolve) => setImmediate(resolve));
    const young = observer.takeRecords().filter(({ detail }) => detail.kind === constants.NODE_PERFORMANCE_GC_MINOR);
    console.log(young.length, kept.length > 0);`;
  return Number.parseInt(
    execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" }),
    10,
  );
};

/** The size of the young space, in MiB, after pieces were made that are in use for a moment: 20 MB at a time, 800 MB in all. */
const sizeAfter = (pass: string): number => {
  const program = `
    import { getHeapSpaceStatistics } from "node:v8";
    import { inBoundYoungSpace, keepYoungSpaceSmall } from ${JSON.stringify(file)};
    async function* make() {
      for (let at = 0; at < 4000; at++) {
        yield Array.from({ length: 2000 }, (_, i) => ({ i, text: "piece " + i }));
      }
    }
    const last = [];
    for await (const piece of ${pass}) {
      last.push(piece);
      if (last.length > 100) {
        last.shift();
      }
    }
    const size = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space").space_size;
    console.log(size / 2 ** 20);`;
  return Number.parseFloat(
    execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" }),
  );
};

test("work that keeps nothing enlarges the young space so far and no further, and others may enlarge it afterwards", () => {
  expect(sizeAfter("make()")).toBeGreaterThanOrEqual(32);
  expect(sizeAfter("inBoundYoungSpace(make())")).toBeLessThanOrEqual(24);
  const first = "(async function* () { for await (const _ of inBoundYoungSpace(make())) { } yield* make(); })()";
  expect(sizeAfter(first)).toBeGreaterThanOrEqual(32);
});

test("what lives on does not enlarge the young space while it is kept small, and does once it may grow", () => {
  const usual = collections("");
  expect(collections("keepYoungSpaceSmall();")).toBeGreaterThan(4 * usual);
  expect(collections("keepYoungSpaceSmall(); letYoungSpaceGrow();")).toBeLessThan(2 * usual);
});
